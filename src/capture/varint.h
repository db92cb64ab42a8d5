// Integers of columns: differences of neighbours, zigzag-coded (bit 0 the sign), as base-128 varints, least significant group
// first. Differences are taken modulo 2^64, so that each pair of values has one, and are read as signed, so that those near 0 on
// either side are short.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace dlkprof::capture {

[[nodiscard]] inline std::uint64_t zigzag(std::uint64_t difference) { return (difference << 1U) ^ (0 - (difference >> 63U)); }
[[nodiscard]] inline std::uint64_t unzigzag(std::uint64_t code) { return (code >> 1U) ^ (0 - (code & 1U)); }

inline void put_varint(std::vector<std::uint8_t>& bytes, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7U) bytes.push_back(static_cast<std::uint8_t>(value | 0x80U));
  bytes.push_back(static_cast<std::uint8_t>(value));
}

// Takes a varint off the front of `bytes`; false, with `bytes` used up or cut anywhere, where there is none of 64 bits.
[[nodiscard]] inline bool take_varint(std::span<const std::uint8_t>& bytes, std::uint64_t& value) {
  constexpr unsigned kLastShift = 63;  // of the tenth group of 7 bits, which holds the 64th bit only
  value = 0;
  for (unsigned shift = 0; !bytes.empty(); shift += 7) {
    const std::uint64_t byte = bytes.front();
    bytes = bytes.subspan(1);
    if (shift == kLastShift && byte > 1) return false;
    value |= (byte & 0x7fU) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

}  // namespace dlkprof::capture
