#include "capture/frame.h"

#include <fmt/format.h>
#include <zstd.h>

#include "base/error.h"

namespace dlkprof::capture {
namespace {

[[noreturn]] void fail(std::string_view what, const char* done, const std::string& detail) {
  throw Error(fmt::format("{} cannot be {}", what, done), detail, "");
}

}  // namespace

std::vector<std::uint8_t> pack_frame(std::span<const std::byte> content, int level, std::string_view what) {
  std::vector<std::uint8_t> frame(ZSTD_compressBound(content.size()));
  const std::size_t size = ZSTD_compress(frame.data(), frame.size(), content.data(), content.size(), level);
  if (ZSTD_isError(size) != 0) fail(what, "packed", ZSTD_getErrorName(size));
  frame.resize(size);
  return frame;
}

std::vector<std::uint8_t> unpack_frame(std::span<const std::uint8_t> frame, std::uint64_t bytes, std::string_view what) {
  if (ZSTD_getFrameContentSize(frame.data(), frame.size()) != bytes)
    fail(what, "unpacked", fmt::format("its size is given as {} bytes", bytes));
  if (ZSTD_findFrameCompressedSize(frame.data(), frame.size()) != frame.size())
    fail(what, "unpacked", "it is not one zstd frame");
  std::vector<std::uint8_t> content(bytes);
  const std::size_t size = ZSTD_decompress(content.data(), content.size(), frame.data(), frame.size());
  if (ZSTD_isError(size) != 0) fail(what, "unpacked", ZSTD_getErrorName(size));
  return content;
}

}  // namespace dlkprof::capture
