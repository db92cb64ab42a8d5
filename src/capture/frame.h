// What is packed by zstd: one frame that says how large its content is. Whoever reads one limits the size first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace dlkprof::capture {

// Both throw Error with zstd's words, naming what it is about: "a batch of events cannot be packed".

[[nodiscard]] std::vector<std::uint8_t> pack_frame(std::span<const std::byte> content, int level, std::string_view what);

// The content, which has to be of so many bytes. The frame may be hostile: memory is taken only when it promises the same.
[[nodiscard]] std::vector<std::uint8_t> unpack_frame(std::span<const std::uint8_t> frame, std::uint64_t bytes,
                                                     std::string_view what);

}  // namespace dlkprof::capture
