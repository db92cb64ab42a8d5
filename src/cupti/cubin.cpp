#include "cupti/cubin.h"

#include <cupti_pcsampling.h>

#include <cstdlib>
#include <memory>
#include <string_view>

#include "cupti/elf_file.h"
#include "cupti/library.h"

namespace dlkprof::cupti {
namespace {

// nvcc -lineinfo and -G leave both (readelf -S).
constexpr std::string_view kLineSection = ".debug_line";

struct FreeText {
  void operator()(char* text) const noexcept { std::free(text); }
};
using Text = std::unique_ptr<char, FreeText>;  // CUPTI leaves freeing it to us

}  // namespace

bool has_line_information(Cubin cubin) noexcept {
  const auto file = ElfFile::open(cubin);
  for (std::size_t number = 0; file && number < file->sections(); ++number) {
    if (file->name_of(file->section(number)) == kLineSection) return true;
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
