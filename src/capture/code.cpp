// Machine code, packed for the capture.
#include <fmt/format.h>
#include <zstd.h>

#include "base/error.h"
#include "capture/encoding.h"

namespace dlkprof::capture {
namespace {

// A thread of the profiler's packs it once. Cubins of sm_90 pack 3 to 5 : 1 at this level, and hardly better at higher ones.
constexpr int kCodeLevel = 3;

Error malformed_code(std::string detail) { return {"the machine code of a kernel cannot be unpacked", std::move(detail), ""}; }

}  // namespace

std::vector<std::uint8_t> pack_code(std::span<const char> elf) {
  if (elf.size() > kMostCodeBytes) throw Error("the machine code of a kernel is too large for a capture", "", "");
  std::vector<std::uint8_t> packed(ZSTD_compressBound(elf.size()));
  const std::size_t size = ZSTD_compress(packed.data(), packed.size(), elf.data(), elf.size(), kCodeLevel);
  if (ZSTD_isError(size) != 0) throw Error("the machine code of a kernel cannot be packed", ZSTD_getErrorName(size), "");
  packed.resize(size);
  return packed;
}

std::vector<char> unpack_code(std::span<const std::uint8_t> zstd_elf, std::uint64_t elf_bytes) {
  const unsigned long long promised = ZSTD_getFrameContentSize(zstd_elf.data(), zstd_elf.size());
  if (elf_bytes > kMostCodeBytes || promised != elf_bytes) {
    throw malformed_code(fmt::format("its size is given as {} bytes", elf_bytes));
  }
  if (ZSTD_findFrameCompressedSize(zstd_elf.data(), zstd_elf.size()) != zstd_elf.size()) {
    throw malformed_code("it is not one zstd frame");
  }
  std::vector<char> elf(elf_bytes);
  const std::size_t size = ZSTD_decompress(elf.data(), elf.size(), zstd_elf.data(), zstd_elf.size());
  if (ZSTD_isError(size) != 0) throw malformed_code(ZSTD_getErrorName(size));
  return elf;
}

}  // namespace dlkprof::capture
