// Counter-data images, packed for the capture.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "capture/encoding.h"
#include "capture/frame.h"

namespace dlkprof::capture {
namespace {

// Packing holds up the launch that was measured. Images of one range with per-SM counters (1 MB, H200) pack 4.2 : 1 in
// 2 ms at this level; level 9 takes 10 ms and level 12 takes 20 ms for 4.3 : 1. XORed with another image of its metric set
// one packs some 30 : 1 (96 % of its bytes are the same).
constexpr int kLevel = 2;

// Far above any image of one launch, and little enough to take on a file's word.
constexpr std::uint64_t kMaxImageBytes = 96U << 20U;

constexpr const char* kImage = "the image of the raw counters of a launch";
Error malformed(std::string detail);

void exclusive_or(std::vector<std::uint8_t>& image, std::span<const std::uint8_t> base) {
  if (image.size() != base.size()) throw malformed("the image that it builds on has another size");
  std::transform(image.begin(), image.end(), base.begin(), image.begin(), std::bit_xor<>());
}

Error malformed(std::string detail) { return {fmt::format("{} cannot be unpacked", kImage), std::move(detail), ""}; }

}  // namespace

std::vector<std::uint8_t> pack_image(std::span<const std::uint8_t> image, std::span<const std::uint8_t> base) {
  if (image.size() > kMaxImageBytes) throw Error("a counter-data image is too large for a capture", "", "");
  std::vector<std::uint8_t> difference;
  if (!base.empty()) {
    difference.assign(image.begin(), image.end());
    exclusive_or(difference, base);
    image = difference;
  }
  return pack_frame(std::as_bytes(image), kLevel, kImage);
}

std::vector<std::uint8_t> unpack_image(const RawCountersRecord& record, std::span<const std::uint8_t> base) {
  const bool needs_base = record.base_launch_index != kNoBase;
  if (needs_base && base.empty()) throw malformed("the image that it builds on is missing or damaged");
  if (record.image_bytes > kMaxImageBytes) throw malformed(fmt::format("its size is given as {} bytes", record.image_bytes));
  std::vector<std::uint8_t> image = unpack_frame(record.zstd_image, record.image_bytes, kImage);
  if (needs_base) exclusive_or(image, base);
  return image;
}

}  // namespace dlkprof::capture
