#include "base/long_file.h"

#include <fcntl.h>

#include "base/file.h"

namespace dlkprof {

std::optional<CacheRelease::Extent> CacheRelease::add(std::uint64_t bytes) noexcept {
  written_ += bytes;
  if (written_ < next_) return std::nullopt;
  next_ = written_ + kStep;
  return Extent{kKept, written_ - kKept};
}

void LongFile::write(std::span<const std::uint8_t> bytes) {
  write_all(fd_, bytes, path_);
  const auto extent = release_.add(bytes.size());
  // Sends on its way to the disk what is not yet, and drops what is there. A hint: where it is not taken, nothing is lost.
  if (extent)
    (void)posix_fadvise(fd_, static_cast<off_t>(extent->offset), static_cast<off_t>(extent->bytes), POSIX_FADV_DONTNEED);
}

}  // namespace dlkprof
