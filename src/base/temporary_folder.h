// A new folder that nobody else may enter, gone with all that is in it at the end.
#pragma once

#include <filesystem>

namespace dlkprof {

class TemporaryFolder {
 public:
  // Below TMPDIR, or where temporary files go else. Throws Error.
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace dlkprof
