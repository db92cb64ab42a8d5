// Setting text on a terminal: widths, padding, cutting, wrapping, and numbers in units that people read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dlkprof::report {

// What text for people is set on.
struct Page {
  std::size_t width = 80;
  bool styled = false;  // bold type may be used
};
[[nodiscard]] std::string bold(const std::string& text, const Page& page);

// Columns that printable UTF-8 text takes: its characters. (Wide East Asian characters are counted as one.)
[[nodiscard]] std::size_t display_width(std::string_view text);
[[nodiscard]] std::string pad_left(std::string text, std::size_t width);
[[nodiscard]] std::string pad_right(std::string text, std::size_t width);

// `text` broken between words into lines of at most `width` columns; lines after the first begin with `indent` blanks,
// and the first is taken to begin at column `start`. A word longer than a line is kept whole. Ends without a newline.
[[nodiscard]] std::string wrap(std::string_view text, std::size_t width, std::size_t indent, std::size_t start);
// The same, with such words shortened in the middle.
[[nodiscard]] std::string wrap_shortened(std::string_view text, std::size_t width, std::size_t indent, std::size_t start);

// A number with the unit it is shown in.
struct Quantity {
  std::string value;
  std::string unit;
};

// `value` of base unit `unit` for people: bytes as KB, MB, GB (1000 each), hz as MHz and GHz, ns as us and ms, other
// numbers with thousands separators; two decimals where it is no whole number.
[[nodiscard]] Quantity humanize(double value, std::string_view unit);

// The day in UTC: "2026-11-22".
[[nodiscard]] std::string day_text(std::int64_t unix_ns);
// 1234567 as "1,234,567".
[[nodiscard]] std::string with_separators(std::uint64_t value);
// "1 launch", "1,234 launches": `one` and `many` are the noun.
[[nodiscard]] std::string counted(std::uint64_t count, const char* one, const char* many);

// A duration for a sentence: "1.23 ms".
[[nodiscard]] std::string duration(std::uint64_t nanoseconds);

// `value` in three figures and a unit, for a cell of a table: "790 ms", "56.1 %", "1.23 GB".
[[nodiscard]] std::string short_quantity(double value, std::string_view unit);

// Printable text of at most `width` columns: what is longer loses its middle, and keeps more of its end than of its beginning, as
// the end of a path or of a kernel's name says more.
[[nodiscard]] std::string shorten_middle(std::string_view text, std::size_t width);

// The same for names of ops. Of a path with functions the modules and the last function stay, as they tell ops apart:
// "7/self_attn/.../aten::mm". Of another the first parts go, as long as that is enough: ".../7/self_attn".
[[nodiscard]] std::string shorten_path(std::string_view path, std::size_t width);

// A share for a sentence: "12.3 %"; "0 %" where there is no whole.
[[nodiscard]] std::string percent_of(std::uint64_t part, std::uint64_t whole);

}  // namespace dlkprof::report
