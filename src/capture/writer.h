// Appends records to a capture file. Lives in the profiled process, for as long as it is profiled; any thread
// may append. Each record goes out in one write(2), so that what was appended survives _exit, a crash or a kill.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "capture/own_file.h"
#include "dlkprof/capture_format.h"

namespace dlkprof::capture {

class Writer {
 public:
  // Creates <directory>/<base_name>.dlkcap; where that name is taken <base_name>_<pid>.dlkcap, then
  // <base_name>_<pid>_2.dlkcap and so on (a process that ran exec). Throws Error.
  [[nodiscard]] static Writer create(const std::filesystem::path& directory, const std::string& base_name);

  Writer(Writer&& other) noexcept;
  Writer& operator=(Writer&&) = delete;
  ~Writer() = default;

  // Throws Error where the file cannot grow (a full disk); the file is then cut back to its last whole record
  // and every later append throws the same again. So it does where the program closed our descriptor: nothing is written or cut
  // then, as the number may name a file of the program's. And so it does at the limit.
  void append(const Record& record);

  // From now on the file grows to so many bytes at most, and ends there as the capture of a program that has ended does.
  void set_limit(std::uint64_t most_bytes) noexcept { most_bytes_ = most_bytes; }

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  Writer(UniqueFd file, std::filesystem::path path);
  std::optional<Error> try_to_append(std::span<const std::uint8_t> bytes);
  [[nodiscard]] Error end_at_limit();
  void append_bytes(std::span<const std::uint8_t> bytes);  // mutex_ is held, or nobody else knows the writer yet

  std::mutex mutex_;
  OwnFile file_;
  std::filesystem::path path_;
  std::uint64_t whole_bytes_ = 0;  // length up to the last whole record
  std::uint64_t most_bytes_ = 0;   // 0: no limit
  std::optional<Error> failure_;   // why nothing more is appended
};

}  // namespace dlkprof::capture
