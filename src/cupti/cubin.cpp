#include "cupti/cubin.h"

#include <cupti_pcsampling.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
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

// An ELF file for GPUs whose only section has the names of sections.
struct EmptyCubin {
  Elf64_Ehdr header{};
  std::array<Elf64_Shdr, 2> sections{};
  std::array<char, 16> names{"\0.shstrtab"};

  EmptyCubin() {
    constexpr unsigned char kAbiOfCuda = 0x33;  // of the cubins that nvcc 13.0 writes (readelf -h)
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_ident[EI_OSABI] = kAbiOfCuda;
    header.e_type = ET_EXEC;
    header.e_machine = EM_CUDA;
    header.e_version = EV_CURRENT;
    header.e_ehsize = sizeof(Elf64_Ehdr);
    header.e_shoff = offsetof(EmptyCubin, sections);
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 2;
    header.e_shstrndx = 1;
    Elf64_Shdr& text = sections[1];
    text.sh_name = 1;
    text.sh_type = SHT_STRTAB;
    text.sh_offset = offsetof(EmptyCubin, names);
    text.sh_size = names.size();
    text.sh_addralign = 1;
  }
};

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

void prepare_source_lines(const Library& library) noexcept {
  const EmptyCubin cubin;
  CUpti_GetSassToSourceCorrelationParams params{};
  params.size = CUpti_GetSassToSourceCorrelationParamsSize;
  params.cubin = &cubin;
  params.cubinSize = sizeof cubin;
  params.functionName = "none";
  (void)library.cuptiGetSassToSourceCorrelation(&params);  // fails, as it has no lines
}

}  // namespace dlkprof::cupti
