#include "inject/replay/packed_range.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "capture/frame.h"

namespace dlkprof::inject {
namespace {

constexpr std::size_t kBlock = 64;  // bytes that are compared, and kept where they differ, behind their number
constexpr int kFastest = 1;

using BlockNumber = std::uint32_t;

void flip(PackedRange::Blocks& blocks, const PackedRange::Blocks& like) {
  std::transform(blocks.begin(), blocks.end(), like.begin(), blocks.begin(), std::bit_xor<>());
}

constexpr const char* kCounters = "the counters of a launch";

}  // namespace

PackedRange::Blocks PackedRange::blocks_of(std::span<const std::uint8_t> image, std::span<const std::uint8_t> empty) {
  Blocks blocks;
  for (std::size_t at = 0; at < image.size(); at += kBlock) {
    const std::size_t size = std::min(kBlock, image.size() - at);
    if (std::memcmp(&image[at], &empty[at], size) == 0) continue;
    const auto number = static_cast<BlockNumber>(at / kBlock);
    const auto* number_bytes = reinterpret_cast<const std::uint8_t*>(&number);
    blocks.insert(blocks.end(), number_bytes, number_bytes + sizeof number);
    blocks.insert(blocks.end(), &image[at], &image[at] + size);
  }
  return blocks;
}

PackedRange::PackedRange(Blocks blocks, std::shared_ptr<const Blocks> like) : size_(blocks.size()) {
  if (like && like->size() == size_) like_ = std::move(like);
  if (like_) flip(blocks, *like_);
  packed_ = capture::pack_frame(std::as_bytes(std::span(blocks)), kFastest, kCounters);
  packed_.shrink_to_fit();
}

void PackedRange::put_into(std::span<std::uint8_t> image) const {
  Blocks blocks = capture::unpack_frame(packed_, size_, kCounters);
  if (like_) flip(blocks, *like_);
  for (std::size_t at = 0; at < blocks.size();) {
    BlockNumber number = 0;
    std::memcpy(&number, &blocks[at], sizeof number);
    at += sizeof number;
    const std::size_t size = std::min(kBlock, image.size() - number * kBlock);
    std::memcpy(&image[number * kBlock], &blocks[at], size);
    at += size;
  }
}

}  // namespace dlkprof::inject
