#include "capture/own_file.h"

#include <sys/stat.h>

#include <utility>

namespace dlkprof::capture {

OwnFile::OwnFile(UniqueFd file) noexcept : file_(to_high_number(std::move(file))) {
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
