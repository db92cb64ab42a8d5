#include "base/long_file.h"

#include <fcntl.h>

#include "base/file.h"

namespace dlkprof {

std::optional<std::uint64_t> CacheRelease::grown_to(std::uint64_t size) noexcept {
  if (size < next_) return std::nullopt;
  next_ = size + kStep;
  return size;
}

void let_go_of_cache(int fd, std::uint64_t bytes) noexcept {
  (void)posix_fadvise(fd, 0, static_cast<off_t>(bytes), POSIX_FADV_DONTNEED);
}

void LongFile::write(std::span<const std::uint8_t> bytes) {
  write_all(fd_, bytes, path_);
  written_ += bytes.size();
  if (const auto long_enough = release_.grown_to(written_)) let_go_of_cache(fd_, *long_enough);
}

}  // namespace dlkprof
