#include "select/option_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace dlkprof::select {
namespace {

// Code points, which is columns but for the rare wide character.
std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; }));
}

bool inside_character(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80;
}

}  // namespace

std::string point_at(std::string_view value, std::size_t at) {
  constexpr std::size_t kBefore = 72;
  constexpr std::size_t kAfter = 40;
  std::size_t begin = at > kBefore ? at - kBefore : 0;
  std::size_t end = std::min(value.size(), at + kAfter);
  while (begin < at && inside_character(value, begin)) ++begin;
  while (inside_character(value, end)) ++end;
  // Shown apart, so that whatever becomes of the first part, the caret stands where the second begins.
  const std::string before = (begin > 0 ? "..." : "") + printable(value.substr(begin, at - begin));
  const std::string after = printable(value.substr(at, end - at)) + (end < value.size() ? "..." : "");
  return fmt::format("    {}{}\n    {:>{}}", before, after, '^', columns(before) + 1);
}

}  // namespace dlkprof::select
