#include "capture/writer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "capture/encoding.h"

namespace dlkprof::capture {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLastWordsBytes = 1024;  // more than what end_at_limit() adds

constexpr const char* kRemedy = "Free space there, or choose another place with --output_path.";

fs::path candidate(const fs::path& directory, const std::string& base_name, int attempt) {
  switch (attempt) {
    case 0:
      return directory / fmt::format("{}.dlkcap", base_name);
    case 1:
      return directory / fmt::format("{}_{}.dlkcap", base_name, getpid());
    default:
      return directory / fmt::format("{}_{}_{}.dlkcap", base_name, getpid(), attempt);
  }
}

}  // namespace

Writer Writer::create(const fs::path& directory, const std::string& base_name) {
  constexpr int kAttempts = 10000;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const fs::path path = candidate(directory, base_name, attempt);
    bool exists = false;
    if (UniqueFd file = create_private(path, &exists)) {
      Writer writer(std::move(file), path);
      try {
        writer.append_bytes(encode_file_header());
      } catch (const Error&) {
        unlink(path.c_str());  // nothing in it that anybody could read
        throw;
      }
      return writer;
    }
  }
  throw Error("cannot find a free name for a capture in " + printable(directory.native()), "",
              "Remove old captures there, or choose another --base_name or --output_path.");
}

Writer::Writer(UniqueFd file, fs::path path) : file_(std::move(file)), path_(std::move(path)) {}

// Only a writer that no other thread knows yet is moved: no lock.
Writer::Writer(Writer&& other) noexcept
    : file_(std::move(other.file_)),
      path_(std::move(other.path_)),
      whole_bytes_(other.whole_bytes_),
      most_bytes_(other.most_bytes_),
      failure_(std::exchange(other.failure_, Error("the capture was moved elsewhere", "", ""))) {}

void Writer::append(const Record& record) {
  const std::vector<std::uint8_t> bytes = encode_record(record);
  const std::lock_guard lock(mutex_);
  append_bytes(bytes);
}

void Writer::append_bytes(std::span<const std::uint8_t> bytes) {
  if (!failure_) failure_ = try_to_append(bytes);
  if (failure_) throw *failure_;
}

std::optional<Error> Writer::try_to_append(std::span<const std::uint8_t> bytes) {
  if (!file_.is_ours()) {
    return Error("the capture " + printable(path_.native()) + " ends here",
                 "the program closed the descriptor that dlkprof writes to",
                 "What was recorded until now is whole. A program may close only descriptors that it opened: look for a double "
                 "close, or for code that closes all of them.");
  }
  if (most_bytes_ != 0 && whole_bytes_ + bytes.size() + kLastWordsBytes > most_bytes_) return end_at_limit();
  try {
    if (!within_size_limit(whole_bytes_ + bytes.size())) {
      throw Error("", std::generic_category().message(EFBIG) + " (RLIMIT_FSIZE, ulimit -f)", "");
    }
    write_all(file_.fd(), bytes, path_);
  } catch (const Error& error) {
    const bool cut = file_.is_ours() && ftruncate(file_.fd(), static_cast<off_t>(whole_bytes_)) == 0;  // readers pass over a rest
    return Error("cannot write the capture " + printable(path_.native()),
                 error.detail() + (cut ? "" : "; its last record is not whole"), kRemedy);
  }
  whole_bytes_ += bytes.size();
  return std::nullopt;
}

Error Writer::end_at_limit() {
  Error error("the capture " + printable(path_.native()) + " ends here",
              fmt::format("it has reached its limit of {} MB (--max-capture)", most_bytes_ / 1'000'000),
              "Give --max-capture more, or record less: --duration, --ranks, or -k without ops.");
  most_bytes_ = 0;  // for what follows, which there is room for
  std::vector<std::uint8_t> bytes = encode_record(
      NoticeRecord{Severity::warning, "Profiling has ended before the program did", error.detail(), error.remedy()});
  const std::vector<std::uint8_t> end = encode_record(EndRecord{unix_now_ns(), 0});
  bytes.insert(bytes.end(), end.begin(), end.end());
  if (auto failure = try_to_append(bytes)) return *failure;
  return error;
}

}  // namespace dlkprof::capture
