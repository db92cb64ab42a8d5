#include <zlib.h>

#include <array>
#include <limits>

#include "base/error.h"
#include "export/formats.h"

namespace dlkprof::exports {
namespace {

// One stream of packed bytes.
class Packer {
 public:
  explicit Packer(const report::Sink& packed) : packed_(packed) {
    constexpr int kGzip = 16 + MAX_WBITS, kMemoryLevel = 8;
    constexpr int kLevel = 4;  // half the time of the usual 6, for some per cent more bytes
    if (deflateInit2(&stream_, kLevel, Z_DEFLATED, kGzip, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK)
      throw Error("the file cannot be packed", "deflateInit2 failed", "Leave .gz out of its name.");
  }
  Packer(const Packer&) = delete;
  Packer& operator=(const Packer&) = delete;
  ~Packer() { deflateEnd(&stream_); }

  void add(std::string_view piece) {
    while (piece.size() > kMostAtOnce) {
      run(piece.substr(0, kMostAtOnce), Z_NO_FLUSH);
      piece.remove_prefix(kMostAtOnce);
    }
    run(piece, Z_NO_FLUSH);
  }
  void finish() { run({}, Z_FINISH); }

 private:
  static constexpr std::size_t kMostAtOnce = std::size_t{1} << 30U;  // zlib counts in 32 bits

  void run(std::string_view piece, int flush) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));  // NOLINT: zlib only reads it
    stream_.avail_in = static_cast<uInt>(piece.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
      stream_.avail_out = static_cast<uInt>(out_.size());
      deflate(&stream_, flush);
      packed_(std::string_view(out_.data(), out_.size() - stream_.avail_out));
    } while (stream_.avail_out == 0);
  }

  const report::Sink& packed_;
  z_stream stream_{};
  std::array<char, std::size_t{1} << 16U> out_{};
};

}  // namespace

void pack_gzip(const report::Sink& packed, const std::function<void(const report::Sink&)>& write) {
  Packer packer(packed);
  write([&packer](std::string_view piece) { packer.add(piece); });
  packer.finish();
}

}  // namespace dlkprof::exports
