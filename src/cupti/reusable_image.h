// A counter-data image that can be emptied again at once. Initializing one of 60 MB anew takes 15 ms or more, and a window of
// launches writes to few of its pages: it is a private mapping of a file in memory, whose written pages are given up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace dlkprof::cupti {

class ReusableImage {
 public:
  // As `empty` is. Throws Error.
  explicit ReusableImage(std::span<const std::uint8_t> empty);
  ReusableImage(const ReusableImage&) = delete;
  ReusableImage& operator=(const ReusableImage&) = delete;
  ~ReusableImage();

  // Stays where it is.
  [[nodiscard]] std::span<std::uint8_t> bytes() const noexcept { return bytes_; }
  void empty();

 private:
  std::span<std::uint8_t> bytes_;
};

}  // namespace dlkprof::cupti
