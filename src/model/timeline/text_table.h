// Texts by number, each kept once.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace dlkprof::model {

class TextTable {
 public:
  // The number of a text; the same for equal texts.
  std::uint32_t intern(std::string_view text) {
    if (const auto known = numbers_.find(text); known != numbers_.end()) return known->second;
    const auto number = static_cast<std::uint32_t>(texts_.size());
    numbers_.emplace(texts_.emplace_back(text), number);
    return number;
  }
  [[nodiscard]] const std::string& operator[](std::uint32_t number) const { return texts_[number]; }
  [[nodiscard]] std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  // a deque, since the keys below point into its elements
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

}  // namespace dlkprof::model
