// The counters of one range: where its image differs from an empty one, packed. Some 1 KB of 1.3 MB (H200, CUDA 13.0).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dlkprof::inject {

class PackedRange {
 public:
  PackedRange() = default;
  // Both of the same size. Throws Error.
  PackedRange(std::span<const std::uint8_t> image, std::span<const std::uint8_t> empty);
  // Makes the image of what is an empty one.
  void put_into(std::span<std::uint8_t> image) const;
  [[nodiscard]] std::size_t bytes() const noexcept { return packed_.size(); }

 private:
  std::size_t size_ = 0;  // of what is packed
  std::vector<std::uint8_t> packed_;
};

}  // namespace dlkprof::inject
