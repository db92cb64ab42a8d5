// A file that is filled under a temporary name and then moved to its own: never half a file.
#pragma once

#include <filesystem>

#include "base/file.h"
#include "base/long_file.h"

namespace dlkprof::store {

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

  // To be called now and then while it grows: the page cache lets go of a long one.
  void release_cache() noexcept;

  // Flushes it to the disk and moves it in place of whatever has the target's name, a link itself included.
  void move_to_target();

 private:
  std::filesystem::path target_, path_;
  UniqueFd file_;
  CacheRelease release_;
};

}  // namespace dlkprof::store
