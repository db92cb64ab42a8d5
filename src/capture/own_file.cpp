#include "capture/own_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

namespace dlkprof::capture {
namespace {

constexpr rlim_t kHighNumber = 4096;

// The lowest number to take: far up, but below the limit of open files with room to spare.
int high_number() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  return static_cast<int>(std::min(kHighNumber, limit.rlim_cur - limit.rlim_cur / 8));
}

}  // namespace

OwnFile::OwnFile(UniqueFd file) noexcept : file_(std::move(file)) {
  if (UniqueFd high(fcntl(file_.get(), F_DUPFD_CLOEXEC, high_number())); high) file_ = std::move(high);
  struct stat status {};
  if (fstat(file_.get(), &status) != 0) return;  // then it is never taken for ours
  device_ = status.st_dev;
  inode_ = status.st_ino;
}

OwnFile::~OwnFile() {
  if (file_ && !is_ours()) (void)file_.release();  // another's by now, and not ours to close
}

bool OwnFile::is_ours() const noexcept {
  struct stat status {};
  return inode_ != 0 && fstat(file_.get(), &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
}

}  // namespace dlkprof::capture
