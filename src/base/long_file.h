// Writing files of any size from front to back without filling the memory of the machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

namespace dlkprof {

// Says what of a growing file the page cache is to let go. Nothing of the first gibibyte: who reads a file of that size next
// should find it in memory. What comes after it would push out what others have there. Besides, memory that nobody has used yet
// can be slow to come by: on a virtual machine whose host takes back what is free, each page of it takes several times as long as
// one that was used just before.
class CacheRelease {
 public:
  struct Extent {
    std::uint64_t offset = 0, bytes = 0;
    friend bool operator==(const Extent&, const Extent&) = default;
  };
  static constexpr std::uint64_t kKept = std::uint64_t{1} << 30U;
  static constexpr std::uint64_t kStep = std::uint64_t{32} << 20U;

  // To be called when so many bytes more were written: all that is not to be kept, once a step. From its beginning each time, as
  // what was still on its way to the disk could not be let go.
  [[nodiscard]] std::optional<Extent> add(std::uint64_t bytes) noexcept;

 private:
  std::uint64_t written_ = 0;
  std::uint64_t next_ = kKept + kStep;  // when so much is written
};

class LongFile {
 public:
  // Of a file open for writing and empty, which the caller closes. `path` is for messages.
  LongFile(int fd, std::filesystem::path path) : fd_(fd), path_(std::move(path)) {}

  // Appends all of `bytes`; throws Error.
  void write(std::span<const std::uint8_t> bytes);

 private:
  int fd_;
  std::filesystem::path path_;
  CacheRelease release_;
};

}  // namespace dlkprof
