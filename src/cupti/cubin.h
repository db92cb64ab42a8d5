// Machine code as the driver loads it: which source line an instruction comes from, where the compiler said so (-lineinfo).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace dlkprof::cupti {

class Library;

using Cubin = std::span<const char>;

// Whether it is an ELF file with a table of lines. Only such a cubin is worth keeping: most have none, those of libraries above
// all. Bytes that are no ELF file, or a damaged one, have none.
[[nodiscard]] bool has_line_information(Cubin cubin) noexcept;

// By which samples name it; throws Error.
[[nodiscard]] std::uint64_t crc_of(const Library& library, Cubin cubin);

struct SourceLine {
  std::string file;  // with its folder, as the compiler knew it
  std::uint32_t line = 0;
};
// None where the cubin does not tell.
[[nodiscard]] std::optional<SourceLine> source_line(const Library& library, Cubin cubin, const std::string& function,
                                                    std::uint64_t offset);

// To be called before source_line() is, by whoever calls that from an exit handler too, and before that is registered. Of the
// first cubin that it opens CUPTI keeps a table of names, which is freed at the process's end if its handler comes before ours
// (CUDA 13.0): source_line() then reads what is freed. Here CUPTI opens one without anything in it.
void prepare_source_lines(const Library& library) noexcept;

}  // namespace dlkprof::cupti
