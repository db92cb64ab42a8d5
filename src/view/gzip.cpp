#include "view/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>

#include "base/error.h"

namespace dlkprof::view {
namespace {

constexpr int kWindowOfGzip = 15 + 16;  // the largest window, with gzip's header rather than zlib's
constexpr int kMemoryLevel = 8;         // zlib's default
constexpr std::size_t kPiece = std::size_t{1} << 20U;

Bytef* bytes_of(std::string_view text) { return reinterpret_cast<Bytef*>(const_cast<char*>(text.data())); }  // zlib only reads it

// Runs `step` until it says that the stream has ended, with input and output in pieces that zlib's counters can hold.
template <typename Step>
std::string pump(z_stream& stream, std::string_view input, std::size_t most, Step step) {
  std::string output;
  std::size_t taken = 0;
  for (int code = Z_OK; code != Z_STREAM_END;) {
    const std::size_t piece = std::min<std::size_t>(input.size() - taken, std::numeric_limits<uInt>::max() / 2);
    const std::size_t filled = output.size();
    output.resize(filled + kPiece);
    stream.next_in = bytes_of(input.substr(taken));
    stream.avail_in = static_cast<uInt>(piece);
    stream.next_out = reinterpret_cast<Bytef*>(output.data() + filled);
    stream.avail_out = static_cast<uInt>(kPiece);
    code = step(taken + piece == input.size());
    taken += piece - stream.avail_in;
    output.resize(filled + kPiece - stream.avail_out);
    const bool is_stuck = code != Z_STREAM_END && stream.avail_out > 0 && taken == input.size();
    if ((code != Z_OK && code != Z_STREAM_END) || is_stuck || output.size() > most)
      throw Error("cannot unpack what was packed", stream.msg == nullptr ? "it is not whole" : stream.msg, "");
  }
  return output;
}

}  // namespace

std::string gzip(std::string_view bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kWindowOfGzip, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  std::string packed = pump(stream, bytes, std::numeric_limits<std::size_t>::max(),
                            [&stream](bool is_last) { return deflate(&stream, is_last ? Z_FINISH : Z_NO_FLUSH); });
  deflateEnd(&stream);
  return packed;
}

std::string gunzip(std::string_view packed, std::size_t most) {
  z_stream stream{};
  if (inflateInit2(&stream, kWindowOfGzip) != Z_OK) throw std::bad_alloc();
  try {
    std::string bytes = pump(stream, packed, most, [&stream](bool) { return inflate(&stream, Z_NO_FLUSH); });
    inflateEnd(&stream);
    return bytes;
  } catch (...) {
    inflateEnd(&stream);
    throw;
  }
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::string_view three = bytes.substr(i, 3);
    std::uint32_t group = 0;
    for (std::size_t at = 0; at < 3; ++at) group = group << 8U | (at < three.size() ? static_cast<unsigned char>(three[at]) : 0U);
    for (std::size_t at = 0; at < 4; ++at) text += at <= three.size() ? kDigits[group >> (18 - 6 * at) & 63U] : '=';
  }
  return text;
}

}  // namespace dlkprof::view
