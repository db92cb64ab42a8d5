// Machine code, packed for the capture.
#include <fmt/format.h>

#include "base/error.h"
#include "capture/encoding.h"
#include "capture/frame.h"

namespace dlkprof::capture {
namespace {

// A thread of the profiler's packs it once. Cubins of sm_90 pack 3 to 5 : 1 at this level, and hardly better at higher ones.
constexpr int kCodeLevel = 3;

constexpr const char* kCode = "the machine code of a kernel";

}  // namespace

std::vector<std::uint8_t> pack_code(std::span<const char> elf) {
  if (elf.size() > kMostCodeBytes) throw Error("the machine code of a kernel is too large for a capture", "", "");
  return pack_frame(std::as_bytes(elf), kCodeLevel, kCode);
}

std::vector<char> unpack_code(std::span<const std::uint8_t> zstd_elf, std::uint64_t elf_bytes) {
  if (elf_bytes > kMostCodeBytes)
    throw Error(fmt::format("{} cannot be unpacked", kCode), fmt::format("its size is given as {} bytes", elf_bytes), "");
  const std::vector<std::uint8_t> elf = unpack_frame(zstd_elf, elf_bytes, kCode);
  return {elf.begin(), elf.end()};
}

}  // namespace dlkprof::capture
