// A file of ours in a process that is not: the program may close any descriptor, its own or not, and then opens its files under
// the same number. So the number alone says nothing, and each use asks first whether it still names the file that we made.
#pragma once

#include <sys/types.h>

#include "base/file.h"

namespace dlkprof::capture {

class OwnFile {
 public:
  // Takes a file that was just made, and moves it to a high number.
  explicit OwnFile(UniqueFd file) noexcept;
  OwnFile(OwnFile&& other) noexcept = default;
  OwnFile& operator=(OwnFile&&) = delete;
  ~OwnFile();

  // Whether the descriptor still names that file. Costs one system call.
  [[nodiscard]] bool is_ours() const noexcept;
  [[nodiscard]] int fd() const noexcept { return file_.get(); }

 private:
  UniqueFd file_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace dlkprof::capture
