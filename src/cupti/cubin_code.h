// The machine code of single functions in a cubin, which may be hostile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cupti/cubin.h"

namespace dlkprof::cupti {

struct CodePlace {
  std::uint32_t symbol = 0;             // its number in the table of symbols
  std::size_t section = 0;              // the number of the section that holds the code
  std::uint64_t offset = 0, bytes = 0;  // of the function within the section; 0 bytes: to its end
  std::string_view section_name;
};
// By its mangled name. None where the cubin has no code of it.
[[nodiscard]] std::optional<CodePlace> find_code(Cubin cubin, std::string_view function) noexcept;

// A cubin that holds of `functions` (mangled names) what a disassembler reads: code, symbols, relocations and source lines.
// Modules of libraries have megabytes of others. Sections and symbols keep their numbers. Empty where it has none of the
// functions, or would be larger than `most_bytes`.
[[nodiscard]] std::vector<char> cut_out(Cubin cubin, std::span<const std::string> functions, std::size_t most_bytes);

}  // namespace dlkprof::cupti
