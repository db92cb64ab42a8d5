// Writing files of any size from front to back without filling the memory of the machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

namespace dlkprof {

// Says when a growing file is so long that the page cache is to let go of it, all that there is by then. What is shorter stays:
// who reads it next should find it in memory. What is longer would push out what others have there. Besides, memory that nobody
// has used yet can be slow to come by: on a virtual machine whose host takes back what is free, each page of it takes several
// times as long as one that was used just before.
class CacheRelease {
 public:
  static constexpr std::uint64_t kLong = std::uint64_t{1} << 30U;  // bytes
  static constexpr std::uint64_t kStep = std::uint64_t{32} << 20U;

  // How many bytes to let go of, from the beginning, in a file that has grown to `size`: all, once a step. Again those that were
  // said before, as what was still on its way to the disk could not be let go.
  [[nodiscard]] std::optional<std::uint64_t> grown_to(std::uint64_t size) noexcept;

 private:
  std::uint64_t next_ = kLong + kStep;  // from this size on
};

// Sends so many bytes on their way to the disk that are not yet, and drops those that are there. A hint: where it is not taken,
// nothing is lost.
void let_go_of_cache(int fd, std::uint64_t bytes) noexcept;

class LongFile {
 public:
  // Of a file open for writing and empty, which the caller closes. `path` is for messages.
  LongFile(int fd, std::filesystem::path path) : fd_(fd), path_(std::move(path)) {}

  // Appends all of `bytes`; throws Error.
  void write(std::span<const std::uint8_t> bytes);

 private:
  int fd_;
  std::filesystem::path path_;
  std::uint64_t written_ = 0;
  CacheRelease release_;
};

}  // namespace dlkprof
