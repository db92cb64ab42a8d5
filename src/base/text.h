// Text that comes from elsewhere (kernel names, arguments, files) and how it is shown.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace dlkprof {

// `text` fit for a terminal or a log line: control characters, DEL, C1 controls, bidirectional overrides
// and invalid UTF-8 become \xNN (or \u{NNNN}) escapes; what is longer than `max_columns` characters is cut
// and ends in "...". Never emits an escape sequence.
[[nodiscard]] std::string printable(std::string_view text, std::size_t max_columns = 4096);

// `text` as valid UTF-8: each invalid byte becomes U+FFFD. For JSON and CSV, which keep everything else.
[[nodiscard]] std::string valid_utf8(std::string_view text);

// Calls take(bytes, code point) for each code point of `text`; each invalid byte is one, U+FFFD.
void for_each_code_point(std::string_view text, const std::function<void(std::string_view, char32_t)>& take);

// What a terminal obeys instead of showing it: C0 and C1 controls, DEL, and what turns the direction of text. A spreadsheet or an
// editor may as well.
[[nodiscard]] bool is_control(char32_t c) noexcept;

// Text that needs no look at its UTF-8: most of what is stored, and there are millions of it.
[[nodiscard]] inline bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char byte) { return static_cast<unsigned char>(byte) < 0x80; });
}

// The C++ name behind a mangled one (Itanium ABI); `mangled` itself where it is none.
[[nodiscard]] std::string demangle(const std::string& mangled);

// A demangled name as ncu's base "function" has it: no return type, no namespace qualifiers, no template
// arguments, no parameters: "void a::b<int>::Kernel2<c>(d)" gives "Kernel2".
[[nodiscard]] std::string function_base_name(std::string_view demangled);

// Digits in groups of three: "1234567" gives "1,234,567".
[[nodiscard]] std::string grouped_digits(std::string digits);

// The parts of `text` between `separator`s; empty parts are kept.
[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);

// Levenshtein distance, for "did you mean": the closest of `candidates` within a third of the length of
// `word`, or "" where none comes near.
[[nodiscard]] std::string closest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace dlkprof
