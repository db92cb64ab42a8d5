#include "cupti/cubin_code.h"

#include <algorithm>
#include <map>

#include "cupti/elf_file.h"

namespace dlkprof::cupti {
namespace {

// Names of sections as nvcc and ptxas give them (readelf -S).
constexpr std::string_view kLines = ".debug_line", kInfoOfOne = ".nv.info.";

// Calls take(number, symbol, name) for each symbol until it says true.
template <typename Take>
void for_each_symbol(const ElfFile& file, const Take& take) {
  for (std::size_t number = 0; number < file.sections(); ++number) {
    const Elf64_Shdr table = file.section(number);
    if (table.sh_type != SHT_SYMTAB || table.sh_link >= file.sections()) continue;
    const std::span<const char> symbols = file.bytes_of(table), names = file.bytes_of(file.section(table.sh_link));
    for (std::size_t i = 0; i < symbols.size() / sizeof(Elf64_Sym); ++i) {
      const Elf64_Sym symbol = *ElfFile::read_at<Elf64_Sym>(symbols, i * sizeof(Elf64_Sym));
      if (take(static_cast<std::uint32_t>(i), symbol, ElfFile::text_at(names, symbol.st_name))) return;
    }
    return;
  }
}

// An ELF file with some sections of another, each under its own number; in the place of the others are empty ones.
class Cutter {
 public:
  explicit Cutter(const ElfFile& file) : file_(file), kept_(file.sections()) {}

  void keep_code(std::size_t section) { kept_.at(section) = true; }
  void keep_what_is_about_code();
  [[nodiscard]] std::vector<char> write(std::size_t most_bytes);

 private:
  void note_symbols_of(std::span<const char> relocations, std::size_t size_of_one);
  [[nodiscard]] std::uint32_t name_in(std::size_t table, std::string_view name);
  void copy_symbols();
  void place_sections(std::size_t most_bytes);
  void place(std::size_t number, std::span<const char> bytes);

  const ElfFile& file_;
  std::vector<bool> kept_;
  std::vector<bool> named_;                   // symbols that kept relocations name
  std::map<std::size_t, std::string> names_;  // the tables of names, written anew, by their section
  std::size_t symbol_table_ = 0;              // its section; 0: none
  std::vector<char> symbols_;
  std::vector<Elf64_Shdr> headers_;
  std::vector<char> written_;
};

void Cutter::note_symbols_of(std::span<const char> relocations, std::size_t size_of_one) {
  for (std::size_t at = 0; at + size_of_one <= relocations.size(); at += size_of_one) {
    const std::size_t symbol = ELF64_R_SYM(ElfFile::read_at<Elf64_Rel>(relocations, at)->r_info);
    if (symbol < named_.size()) named_[symbol] = true;
  }
}

void Cutter::keep_what_is_about_code() {
  for_each_symbol(file_, [this](std::uint32_t number, const Elf64_Sym&, std::string_view) {
    named_.resize(number + 1);
    return false;
  });
  for (std::size_t number = 1; number < file_.sections(); ++number) {
    const std::string_view name = file_.name_of(file_.section(number));
    if (name == kLines) kept_[number] = true;
  }
  for (std::size_t number = 1; number < file_.sections(); ++number) {
    const Elf64_Shdr section = file_.section(number);
    const bool of_kept = section.sh_info < kept_.size() && kept_[section.sh_info];
    const bool relocates = section.sh_type == SHT_RELA || section.sh_type == SHT_REL;
    if (!of_kept || !(relocates || file_.name_of(section).starts_with(kInfoOfOne))) continue;
    kept_[number] = true;
    if (relocates) note_symbols_of(file_.bytes_of(section), section.sh_type == SHT_RELA ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel));
  }
}

std::uint32_t Cutter::name_in(std::size_t table, std::string_view name) {
  std::string& names = names_.try_emplace(table, 1, '\0').first->second;
  if (name.empty()) return 0;
  const auto at = static_cast<std::uint32_t>(names.size());
  names.append(name).push_back('\0');
  return at;
}

// Those of code that was left out are blank: their numbers have to stay.
void Cutter::copy_symbols() {
  for (std::size_t number = 1; number < file_.sections() && symbol_table_ == 0; ++number) {
    if (file_.section(number).sh_type == SHT_SYMTAB) symbol_table_ = number;
  }
  if (symbol_table_ == 0) return;
  kept_[symbol_table_] = true;
  const std::size_t names = file_.section(symbol_table_).sh_link;
  for_each_symbol(file_, [&](std::uint32_t number, Elf64_Sym symbol, std::string_view name) {
    const bool has_section = symbol.st_shndx < kept_.size() && symbol.st_shndx != SHN_UNDEF;
    const bool is_kept = has_section && kept_[symbol.st_shndx];
    if (!is_kept && !named_[number]) symbol = {};
    if (has_section && !is_kept) symbol.st_shndx = SHN_UNDEF;
    if (symbol.st_name != 0) symbol.st_name = name_in(names, name);
    const char* first = reinterpret_cast<const char*>(&symbol);
    symbols_.insert(symbols_.end(), first, first + sizeof symbol);
    return false;
  });
  if (names < kept_.size()) kept_[names] = true;
}

void Cutter::place(std::size_t number, std::span<const char> bytes) {
  constexpr std::size_t kMostAligned = 128;  // as code is
  const std::size_t alignment = std::clamp<std::size_t>(headers_[number].sh_addralign, 1, kMostAligned);
  written_.resize((written_.size() + alignment - 1) / alignment * alignment);
  headers_[number].sh_offset = written_.size();
  headers_[number].sh_size = bytes.size();
  written_.insert(written_.end(), bytes.begin(), bytes.end());
}

void Cutter::place_sections(std::size_t most_bytes) {
  for (std::size_t number = 1; number < kept_.size() && written_.size() <= most_bytes; ++number) {
    if (!kept_[number]) continue;
    const auto names = names_.find(number);
    if (number == symbol_table_) {
      place(number, symbols_);
    } else if (names != names_.end()) {
      place(number, names->second);
    } else if (headers_[number].sh_type != SHT_NOBITS) {
      place(number, file_.bytes_of(file_.section(number)));
    }
  }
}

std::vector<char> Cutter::write(std::size_t most_bytes) {
  copy_symbols();
  const std::size_t section_names = file_.header().e_shstrndx;
  if (section_names < kept_.size()) kept_[section_names] = true;
  headers_.resize(kept_.size());
  for (std::size_t number = 1; number < kept_.size(); ++number) {
    if (!kept_[number]) continue;
    headers_[number] = file_.section(number);
    headers_[number].sh_name = name_in(section_names, file_.name_of(headers_[number]));
  }
  written_.resize(sizeof(Elf64_Ehdr));
  place_sections(most_bytes);
  Elf64_Ehdr header = file_.header();
  header.e_phoff = header.e_phnum = 0;
  header.e_shoff = (written_.size() + alignof(Elf64_Shdr) - 1) / alignof(Elf64_Shdr) * alignof(Elf64_Shdr);
  const std::size_t table_bytes = headers_.size() * sizeof(Elf64_Shdr);
  if (header.e_shoff + table_bytes > most_bytes) return {};
  written_.resize(header.e_shoff + table_bytes);
  std::memcpy(written_.data(), &header, sizeof header);
  if (table_bytes > 0) std::memcpy(written_.data() + header.e_shoff, headers_.data(), table_bytes);
  return std::move(written_);
}

std::optional<CodePlace> place_in(const ElfFile& file, std::string_view function) noexcept {
  std::optional<CodePlace> place;
  for_each_symbol(file, [&](std::uint32_t number, const Elf64_Sym& symbol, std::string_view name) {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || name != function || symbol.st_shndx >= file.sections()) return false;
    const Elf64_Shdr section = file.section(symbol.st_shndx);
    if ((section.sh_flags & SHF_EXECINSTR) == 0) return false;
    place = {number, symbol.st_shndx, symbol.st_value, symbol.st_size, file.name_of(section)};
    return true;
  });
  return place;
}

}  // namespace

std::optional<CodePlace> find_code(Cubin cubin, std::string_view function) noexcept {
  const auto file = ElfFile::open(cubin);
  return file ? place_in(*file, function) : std::nullopt;
}

std::vector<char> cut_out(Cubin cubin, std::span<const std::string> functions, std::size_t most_bytes) {
  const auto file = ElfFile::open(cubin);
  if (!file) return {};
  Cutter cutter(*file);
  bool has_code = false;
  for (const std::string& function : functions) {
    const auto place = place_in(*file, function);
    if (!place) continue;
    cutter.keep_code(place->section);
    has_code = true;
  }
  if (!has_code) return {};
  cutter.keep_what_is_about_code();
  return cutter.write(most_bytes);
}

}  // namespace dlkprof::cupti
