// What fuzzers need of a machine: files that are in memory, and luck that is the same for the same input.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>

#include "base/file.h"

namespace dlkprof::fuzz {

inline void require(bool holds) {
  if (!holds) std::abort();
}

// A file of the bytes, which is gone with it.
class MemoryFile {
 public:
  explicit MemoryFile(std::span<const std::uint8_t> bytes) : file_(memfd_create("fuzz", MFD_CLOEXEC)) {
    write_all(file_.get(), bytes, path());
  }
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(file_.get()); }
  [[nodiscard]] int fd() const { return file_.get(); }

 private:
  UniqueFd file_;
};

// In memory where there is /dev/shm. Removed at exit.
inline const std::filesystem::path& scratch_folder() {
  static const struct Folder {
    std::filesystem::path path;
    Folder() {
      std::string name = std::string(access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") + "/dlkprof_fuzz_XXXXXX";
      require(mkdtemp(name.data()) != nullptr);
      path = name;
    }
    ~Folder() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  } folder;
  return folder.path;
}

// FNV-1a, mixed: of what takes long a fuzzer does a little of each input, and which part must not be for mutants to keep, since
// corpora fill up with what takes longest.
inline std::uint64_t luck_of(std::span<const std::uint8_t> bytes) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const std::uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3U;
  return (hash ^ (hash >> 32U)) * 0x9e3779b97f4a7c15U >> 16U;
}

}  // namespace dlkprof::fuzz
