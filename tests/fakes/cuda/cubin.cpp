// The machine code of all modules: an ELF file in which each kernel has a section of its own, as cubins have. It says that there
// is line information, and no more.
#include <elf.h>

#include <cstring>
#include <string>
#include <vector>

#include "cuda/state.h"

namespace fakes {
namespace {

constexpr std::size_t kCodeBytes = 0x80;

class ElfWriter {
 public:
  ElfWriter() { add(SHT_NULL, "", "", 0); }

  std::size_t add(std::uint32_t type, const std::string& name, const std::string& bytes, std::uint64_t flags) {
    Elf64_Shdr section{};
    section.sh_type = type;
    section.sh_flags = flags;
    section.sh_name = text_in(names_, name);
    section.sh_offset = sizeof(Elf64_Ehdr) + contents_.size();
    section.sh_size = bytes.size();
    contents_ += bytes;
    sections_.push_back(section);
    return sections_.size() - 1;
  }

  void add_function(const char* name) {
    Elf64_Sym symbol{};
    symbol.st_name = text_in(symbol_names_, name);
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    symbol.st_size = kCodeBytes;
    const char code = static_cast<char>('A' + sections_.size());
    symbol.st_shndx = static_cast<Elf64_Section>(
        add(SHT_PROGBITS, std::string(".text.") + name, std::string(kCodeBytes, code), SHF_ALLOC | SHF_EXECINSTR));
    symbols_.append(reinterpret_cast<const char*>(&symbol), sizeof symbol);
  }

  std::string finish() {
    const std::size_t names = add(SHT_STRTAB, ".strtab", symbol_names_, 0);
    const std::size_t symbols = add(SHT_SYMTAB, ".symtab", symbols_, 0);
    sections_[symbols].sh_link = static_cast<Elf64_Word>(names);
    sections_[symbols].sh_entsize = sizeof(Elf64_Sym);
    Elf64_Ehdr header{};
    header.e_shstrndx = static_cast<Elf64_Half>(sections_.size());
    const std::size_t section_names = add(SHT_STRTAB, ".shstrtab", "", 0);
    sections_[section_names].sh_size = names_.size();
    contents_ += names_;
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_shoff = sizeof header + contents_.size();
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<Elf64_Half>(sections_.size());
    return std::string(reinterpret_cast<const char*>(&header), sizeof header) + contents_ +
           std::string(reinterpret_cast<const char*>(sections_.data()), sections_.size() * sizeof(Elf64_Shdr));
  }

 private:
  static std::uint32_t text_in(std::string& texts, const std::string& text) {
    if (text.empty()) return 0;
    texts += text + '\0';
    return static_cast<std::uint32_t>(texts.size() - text.size() - 1);
  }

  std::string names_{'\0'}, symbol_names_{'\0'}, contents_, symbols_ = std::string(sizeof(Elf64_Sym), '\0');
  std::vector<Elf64_Shdr> sections_;
};

std::string make_elf() {
  ElfWriter elf;
  elf.add(SHT_PROGBITS, ".debug_line", "", 0);
  for (const char* name : kernel_names()) elf.add_function(name);
  return elf.finish();
}

}  // namespace

Image cubin() {
  static const std::string& elf = *new std::string(make_elf());
  return {elf.data(), elf.size()};
}

}  // namespace fakes
