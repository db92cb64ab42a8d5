// A file that is filled under a temporary name and then moved to its own: never half a file.
#pragma once

#include <cstddef>
#include <filesystem>

#include "base/file.h"
#include "base/long_file.h"

namespace dlkprof {

// Private (0600), beside its target. Removed again where it was not moved there.
class NewFile {
 public:
  // Throws Error where the folder cannot be written to.
  explicit NewFile(std::filesystem::path target);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();

  // The temporary name: absolute, without links in it.
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] int fd() const noexcept { return file_.get(); }

  // To be called now and then while it grows: the page cache lets go of a long one.
  void release_cache() noexcept;

  // Moves it to the target's name. What has that name, a link itself included, is replaced or refused: throws Error.
  void move_to_target(bool replace);
  // The same, after flushing it to the disk.
  void flush_to_target(bool replace);

 private:
  std::filesystem::path target_, path_;
  UniqueFd file_;
  CacheRelease release_;
  std::size_t place_ = 0;  // among those that remove_unfinished() knows
};

// Removes what was not moved to its target yet. For the handler of a signal that ends the process: safe at any time.
void remove_unfinished() noexcept;

}  // namespace dlkprof
