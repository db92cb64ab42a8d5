#include "pytorch/range_texts.h"

#include <array>
#include <charconv>
#include <limits>

namespace torch::profiler::impl {
namespace {

// So that most texts are grown once.
constexpr std::size_t kUsualDimension = 6, kUsualShape = 4;

void append_number(std::string& text, std::int64_t number) {
  std::array<char, std::numeric_limits<std::int64_t>::digits10 + 2> digits;  // one digit more, and a sign
  text.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
}

template <typename List, typename AppendOne>
void append_list(std::string& text, const List& list, AppendOne append_one) {
  text += '[';
  for (bool is_first = true; const auto& one : list) {
    if (!is_first) text += ", ";
    is_first = false;
    append_one(one);
  }
  text += ']';
}

}  // namespace

std::string shapesToStr(const std::vector<std::vector<std::int64_t>>& shapes) {
  std::size_t length = kUsualShape;
  for (const auto& shape : shapes) length += kUsualShape + (kUsualDimension * shape.size());
  std::string text;
  text.reserve(length);
  append_list(text, shapes, [&](const auto& shape) {
    append_list(text, shape, [&](std::int64_t dimension) { append_number(text, dimension); });
  });
  return text;
}

std::string inputOpIdsToStr(const std::list<std::pair<std::uint64_t, int>>& /*inputs*/) { return "[]"; }

}  // namespace torch::profiler::impl
