// Reads a capture front to back. Tolerates a file that is still being written, cut, or damaged: gives what is
// whole and says what is not. Input is hostile: every length is checked against what is there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

#include "base/file.h"
#include "capture/encoding.h"
#include "dlkprof/capture_format.h"

namespace dlkprof::capture {

// How far a capture could be read.
struct ReadState {
  std::uint64_t records = 0;  // given
  std::uint64_t damaged = 0;  // records whose checksum or fields are wrong, skipped
  std::uint64_t unknown = 0;  // records of a type this version does not know, skipped
  std::uint64_t bytes = 0;    // read up to here
  bool cut = false;           // bytes follow that are no whole record
};

class Reader {
 public:
  // Throws Error: no such file, not a capture, or written by a newer version.
  [[nodiscard]] static Reader open(const std::filesystem::path& path);

  // The next record, or none at the end of what is whole. Called again after a file has grown it goes on
  // where it stopped. Throws Error where the file cannot be read.
  [[nodiscard]] std::optional<Record> next();

  [[nodiscard]] const ReadState& state() const noexcept { return state_; }
  // In bytes, now. Throws Error where it cannot be told.
  [[nodiscard]] std::uint64_t file_size() const;

 private:
  Reader(UniqueFd file, std::filesystem::path path);
  // False where the file ends before `bytes` is full. Throws Error where it cannot be read.
  [[nodiscard]] bool read_at(std::uint64_t offset, std::span<std::uint8_t> bytes) const;
  // The header of the record at state_.bytes, where all of the record is there; sets state_.cut.
  [[nodiscard]] std::optional<RecordHeader> next_header();

  UniqueFd file_;
  std::filesystem::path path_;
  ReadState state_;
};

}  // namespace dlkprof::capture
