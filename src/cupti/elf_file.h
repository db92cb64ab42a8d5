// The sections of an ELF file in memory. Its bytes may be hostile: nothing is read outside of them.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

namespace dlkprof::cupti {

class ElfFile {
 public:
  // None where it is no ELF file of 64 bits, or its table of sections does not lie within it. The bytes must outlive it.
  [[nodiscard]] static std::optional<ElfFile> open(std::span<const char> bytes) noexcept;

  [[nodiscard]] const Elf64_Ehdr& header() const noexcept { return header_; }
  [[nodiscard]] std::size_t sections() const noexcept { return header_.e_shnum; }
  // `number` below sections().
  [[nodiscard]] Elf64_Shdr section(std::size_t number) const noexcept;
  [[nodiscard]] std::string_view name_of(const Elf64_Shdr& section) const noexcept;
  // Empty for what does not lie within the file, and for sections without bytes in it.
  [[nodiscard]] std::span<const char> bytes_of(const Elf64_Shdr& section) const noexcept;

  // A T at an offset; none where it does not lie within the bytes.
  template <typename T>
  [[nodiscard]] static std::optional<T> read_at(std::span<const char> bytes, std::uint64_t offset) noexcept {
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
    T value{};
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  }
  // Up to its NUL, or the end.
  [[nodiscard]] static std::string_view text_at(std::span<const char> bytes, std::uint64_t offset) noexcept;

 private:
  ElfFile(std::span<const char> bytes, const Elf64_Ehdr& header) noexcept : bytes_(bytes), header_(header) {}

  std::span<const char> bytes_, names_;
  Elf64_Ehdr header_;
};

}  // namespace dlkprof::cupti
