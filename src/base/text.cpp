#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace dlkprof {
namespace {

// One code point at the start of a text; `bytes` is 0 where the first byte starts no valid sequence.
struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 0;
};

// Table 3-7 of the Unicode Standard: no overlong forms, no surrogates, nothing above U+10FFFF.
CodePoint first_code_point(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  char32_t value = lead & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return {};
    value = (value << 6U) | (byte(i) & 0x3fU);
  }
  constexpr std::array<char32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  if (value < kLeast.at(bytes) || value > 0x10ffff || surrogate) return {};
  return {value, bytes};
}

// What moves the cursor, reorders or hides text, or breaks a line: never shown as it is.
bool is_unsafe(char32_t c) {
  struct Range {
    char32_t first, last;
  };
  static constexpr std::array<Range, 11> kUnsafe{{
      {0x00, 0x1f},        // C0 controls, ESC among them
      {0x7f, 0x9f},        // DEL and C1 controls
      {0xad, 0xad},        // soft hyphen
      {0x61c, 0x61c},      // Arabic letter mark
      {0x180e, 0x180e},    // Mongolian vowel separator
      {0x200b, 0x200f},    // zero width, direction marks
      {0x2028, 0x202e},    // line and paragraph separator, embeddings and overrides
      {0x2060, 0x206f},    // word joiner, isolates
      {0xfeff, 0xfeff},    // byte order mark
      {0xfff9, 0xfffb},    // interlinear annotation
      {0xe0000, 0xe0fff},  // tags and variation selectors
  }};
  return std::any_of(kUnsafe.begin(), kUnsafe.end(), [c](Range r) { return c >= r.first && c <= r.last; });
}

// What is shown for the code point (or invalid byte) at the start of `text`, and in how many columns.
struct Shown {
  std::string text;
  std::size_t columns = 0;
};
Shown show(std::string_view text, CodePoint c) {
  if (c.bytes > 0 && !is_unsafe(c.value)) return {std::string(text.substr(0, c.bytes)), 1};
  const bool byte = c.bytes == 0 || c.value < 0x80;
  std::string escape = byte ? fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()))
                            : fmt::format("\\u{{{:04X}}}", static_cast<std::uint32_t>(c.value));
  const std::size_t columns = escape.size();
  return {std::move(escape), columns};
}

}  // namespace

std::string printable(std::string_view text, std::size_t max_columns) {
  constexpr std::string_view kDots = "...";
  std::string out;
  std::size_t columns = 0;
  std::size_t cut = 0;  // bytes of `out` that leave room for the dots
  while (!text.empty()) {
    const CodePoint c = first_code_point(text);
    const Shown shown = show(text, c);
    columns += shown.columns;
    if (columns > max_columns) {
      out.resize(cut);
      return out.append(kDots.substr(0, max_columns));
    }
    out += shown.text;
    if (columns + kDots.size() <= max_columns) cut = out.size();
    text.remove_prefix(std::max<std::size_t>(c.bytes, 1));
  }
  return out;
}

void for_each_code_point(std::string_view text, const std::function<void(std::string_view, char32_t)>& take) {
  while (!text.empty()) {
    const CodePoint c = first_code_point(text);
    if (c.bytes == 0) {
      take("\xef\xbf\xbd", 0xfffd);
    } else {
      take(text.substr(0, c.bytes), c.value);
    }
    text.remove_prefix(std::max<std::size_t>(c.bytes, 1));
  }
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for_each_code_point(text, [&out](std::string_view bytes, char32_t) { out += bytes; });
  return out;
}

bool is_control(char32_t c) noexcept {
  const bool turns = c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
  return c < 0x20 || (c >= 0x7f && c <= 0x9f) || turns;
}

std::string grouped_digits(std::string digits) {
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string closest(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string* best = nullptr;
  std::size_t least = word.size() / 3 + 1;
  for (const std::string& candidate : candidates) {
    if (const std::size_t distance = edit_distance(word, candidate); distance < least) {
      least = distance;
      best = &candidate;
    }
  }
  return best == nullptr ? std::string() : *best;
}

}  // namespace dlkprof
