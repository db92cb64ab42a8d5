// A fuzzer's input taken piece by piece. Behind its end there are zeros.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace dlkprof::fuzz {

class Input {
 public:
  explicit Input(std::span<const std::uint8_t> bytes) : left_(bytes) {}

  [[nodiscard]] bool at_end() const { return left_.empty(); }
  std::uint8_t byte() {
    if (left_.empty()) return 0;
    const std::uint8_t first = left_.front();
    left_ = left_.subspan(1);
    return first;
  }
  // Of eight bytes.
  std::uint64_t number() {
    std::uint64_t value = 0;
    const auto taken = take(sizeof value);
    if (!taken.empty()) std::memcpy(&value, taken.data(), taken.size());
    return value;
  }
  // Its length stands before it: 255 and more in a second byte, of 256 each.
  std::string text() {
    std::size_t length = byte();
    if (length == UINT8_MAX) length += std::size_t{byte()} << 8U;
    const auto taken = take(length);
    return {taken.begin(), taken.end()};
  }

 private:
  std::span<const std::uint8_t> take(std::size_t most) {
    const auto taken = left_.first(std::min(most, left_.size()));
    left_ = left_.subspan(taken.size());
    return taken;
  }

  std::span<const std::uint8_t> left_;
};

}  // namespace dlkprof::fuzz
