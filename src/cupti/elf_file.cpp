#include "cupti/elf_file.h"

namespace dlkprof::cupti {

std::optional<ElfFile> ElfFile::open(std::span<const char> bytes) noexcept {
  const auto header = read_at<Elf64_Ehdr>(bytes, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_shoff > bytes.size()) return std::nullopt;
  if ((bytes.size() - header->e_shoff) / sizeof(Elf64_Shdr) < header->e_shnum) return std::nullopt;
  ElfFile file(bytes, *header);
  if (header->e_shstrndx < header->e_shnum) file.names_ = file.bytes_of(file.section(header->e_shstrndx));
  return file;
}

Elf64_Shdr ElfFile::section(std::size_t number) const noexcept {
  return read_at<Elf64_Shdr>(bytes_, header_.e_shoff + number * sizeof(Elf64_Shdr)).value_or(Elf64_Shdr{});
}

std::string_view ElfFile::name_of(const Elf64_Shdr& section) const noexcept { return text_at(names_, section.sh_name); }

std::span<const char> ElfFile::bytes_of(const Elf64_Shdr& section) const noexcept {
  const bool inside = section.sh_offset <= bytes_.size() && section.sh_size <= bytes_.size() - section.sh_offset;
  if (!inside || section.sh_type == SHT_NOBITS) return {};
  return bytes_.subspan(section.sh_offset, section.sh_size);
}

std::string_view ElfFile::text_at(std::span<const char> bytes, std::uint64_t offset) noexcept {
  if (offset >= bytes.size()) return {};
  const char* text = bytes.data() + offset;
  return {text, strnlen(text, bytes.size() - offset)};
}

}  // namespace dlkprof::cupti
