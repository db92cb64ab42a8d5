// The counters of one range: where its image differs from an empty one, packed. Of 1.3 MB these are 62 to 134 KB, by the pass,
// most of them names of counters that are the same in all ranges of a pass: what is kept is where it differs from another of
// them, some 2 KB (a Llama's 3,000 ranges on an H100, CUDA 13.0; 24 KB without the other).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace dlkprof::inject {

class PackedRange {
 public:
  // Blocks of an image that differ from those of an empty one, each behind its number.
  using Blocks = std::vector<std::uint8_t>;
  // Both of the same size.
  [[nodiscard]] static Blocks blocks_of(std::span<const std::uint8_t> image, std::span<const std::uint8_t> empty);

  PackedRange() = default;
  // `like`: blocks of another range of the same pass, or null. Throws Error.
  PackedRange(Blocks blocks, std::shared_ptr<const Blocks> like);
  // Makes the image of what is an empty one. Throws Error.
  void put_into(std::span<std::uint8_t> image) const;
  [[nodiscard]] std::size_t bytes() const noexcept { return packed_.size(); }

 private:
  std::shared_ptr<const Blocks> like_;  // of the same size; null: of none
  std::size_t size_ = 0;                // of what is packed
  std::vector<std::uint8_t> packed_;
};

}  // namespace dlkprof::inject
