#include "cupti/cubin.h"

#include <cupti_pcsampling.h>
#include <elf.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

namespace dlkprof::cupti {
namespace {

// nvcc -lineinfo and -G leave both (readelf -S).
constexpr std::string_view kLineSection = ".debug_line";

// A T at an offset; none where it does not lie within the bytes.
template <typename T>
std::optional<T> read_at(Cubin bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value{};
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string_view text_at(Cubin bytes, std::uint64_t offset) {
  if (offset >= bytes.size()) return {};
  const char* text = bytes.data() + offset;
  return {text, strnlen(text, bytes.size() - offset)};
}

struct FreeText {
  void operator()(char* text) const noexcept { std::free(text); }
};
using Text = std::unique_ptr<char, FreeText>;  // CUPTI leaves freeing it to us

}  // namespace

bool has_line_information(Cubin cubin) noexcept {
  const auto header = read_at<Elf64_Ehdr>(cubin, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return false;
  const auto section = [&](std::uint64_t number) {
    return read_at<Elf64_Shdr>(cubin, header->e_shoff + number * sizeof(Elf64_Shdr));
  };
  if (header->e_shoff > cubin.size()) return false;
  const auto names = section(header->e_shstrndx);
  if (!names || names->sh_offset > cubin.size()) return false;
  for (std::uint64_t number = 0; number < header->e_shnum; ++number) {
    const auto one = section(number);
    if (!one) return false;
    if (text_at(cubin, names->sh_offset + one->sh_name) == kLineSection) return true;
  }
  return false;
}

std::uint64_t crc_of(const Library& library, Cubin cubin) {
  CUpti_GetCubinCrcParams params{};
  params.size = CUpti_GetCubinCrcParamsSize;
  params.cubin = cubin.data();
  params.cubinSize = cubin.size();
  DLKPROF_CUPTI(library, cuptiGetCubinCrc, &params);
  return params.cubinCrc;
}

std::optional<SourceLine> source_line(const Library& library, Cubin cubin, const std::string& function, std::uint64_t offset) {
  CUpti_GetSassToSourceCorrelationParams params{};
  params.size = CUpti_GetSassToSourceCorrelationParamsSize;
  params.cubin = cubin.data();
  params.cubinSize = cubin.size();
  params.functionName = function.c_str();
  params.pcOffset = offset;
  const CUptiResult result = library.cuptiGetSassToSourceCorrelation(&params);
  const Text file(params.fileName), folder(params.dirName);
  if (result != CUPTI_SUCCESS || file == nullptr || *file == '\0' || params.lineNumber == 0) return std::nullopt;
  std::string path = file.get();
  if (path.front() != '/' && folder != nullptr && *folder != '\0') path = std::string(folder.get()) + '/' + path;
  return SourceLine{std::move(path), params.lineNumber};
}

}  // namespace dlkprof::cupti
