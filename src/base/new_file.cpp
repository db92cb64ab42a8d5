#include "base/new_file.h"

#include <fmt/format.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill is POSIX, not in <csignal>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <climits>
#include <ctime>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace dlkprof {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& target) {
  const fs::path parent = target.has_parent_path() ? target.parent_path() : fs::path(".");
  std::error_code failure;
  fs::path folder = fs::canonical(parent, failure);
  return failure ? parent : folder;  // creating the file there says what is wrong with it
}

// --- Those that are unfinished ----------------------------------------------------------------------------------------

// Their names, where a signal handler can read them: no memory is taken, and nothing locked. One that finds no place, or has a
// longer name, is only removed by its owner.
struct Unfinished {
  std::atomic<pid_t> owner{0};  // 0: free; below: being changed
  std::array<char, PATH_MAX> name{};
};
constexpr std::size_t kMostUnfinished = 8;
std::array<Unfinished, kMostUnfinished> g_unfinished;

std::size_t note_unfinished(const std::string& name) noexcept {
  if (name.size() >= PATH_MAX) return kMostUnfinished;
  for (std::size_t place = 0; place < kMostUnfinished; ++place) {
    Unfinished& one = g_unfinished.at(place);
    pid_t nobody = 0;
    if (!one.owner.compare_exchange_strong(nobody, -1)) continue;
    std::copy_n(name.c_str(), name.size() + 1, one.name.data());
    one.owner = getpid();
    return place;
  }
  return kMostUnfinished;
}

void forget_unfinished(std::size_t place) noexcept {
  if (place < kMostUnfinished) g_unfinished.at(place).owner = 0;
}

// Of a process that was killed: named as we name them, by one that is gone, and not touched for an hour (on a shared disk the
// process may be that of another machine).
bool is_left_behind(const fs::path& path, std::string_view prefix) {
  constexpr std::string_view kEnd = ".tmp";
  const std::string name = path.filename().native();
  if (!name.starts_with(prefix) || !name.ends_with(kEnd)) return false;
  pid_t pid = 0;
  const char* const digits = name.data() + prefix.size();
  const auto [end, error] = std::from_chars(digits, name.data() + name.size(), pid);
  if (error != std::errc() || *end != '.' || pid <= 0) return false;
  struct stat status {};
  constexpr time_t kHour = 3600;
  const bool old = lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_mtime < time(nullptr) - kHour;
  return old && kill(pid, 0) != 0 && errno == ESRCH;
}

void remove_left_behind(const fs::path& folder, const std::string& target) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (is_left_behind(entry.path(), "." + target + ".")) unlink(entry.path().c_str());
  }
}

// A hard link refuses a name that is taken; where the file system has none, we look first.
std::error_code move_to_free(const fs::path& from, const fs::path& to) {
  std::error_code failure;
  fs::create_hard_link(from, to, failure);
  if (!failure) unlink(from.c_str());
  if (!failure || failure == std::errc::file_exists) return failure;
  if (fs::exists(fs::symlink_status(to, failure))) return std::make_error_code(std::errc::file_exists);
  fs::rename(from, to, failure);
  return failure;
}

}  // namespace

NewFile::NewFile(fs::path target) : target_(std::move(target)) {
  constexpr int kAttempts = 1000;  // names left behind by processes that were killed
  const fs::path folder = folder_of(target_);
  remove_left_behind(folder, target_.filename().native());
  for (int i = 0; i < kAttempts && !file_; ++i) {
    path_ = folder / fmt::format(".{}.{}.{}.tmp", target_.filename().native(), getpid(), i);
    place_ = note_unfinished(path_.native());  // before it is there: a signal may come at any time
    bool exists = false;
    try {
      file_ = create_private(path_, &exists);
    } catch (const Error& error) {  // it names a file that nobody has heard of
      forget_unfinished(place_);
      throw Error("cannot create " + printable(target_.native()), error.detail(), error.remedy());
    }
    if (!file_) forget_unfinished(place_);
  }
  if (!file_)
    throw Error("cannot find a free temporary name beside " + printable(target_.native()), "", "Remove old .tmp files there.");
}

NewFile::~NewFile() {
  if (!path_.empty()) unlink(path_.c_str());
  forget_unfinished(place_);
}

void NewFile::release_cache() noexcept {
  struct stat state {};
  if (fstat(file_.get(), &state) != 0) return;
  if (const auto bytes = release_.grown_to(static_cast<std::uint64_t>(state.st_size))) let_go_of_cache(file_.get(), *bytes);
}

void NewFile::move_to_target(bool replace) {
  std::error_code failure;
  if (replace) {
    fs::rename(path_, target_, failure);
  } else {
    failure = move_to_free(path_, target_);
  }
  if (failure) {
    throw Error("cannot write " + printable(target_.native()), failure.message(),
                "Choose another name or place, or give --force.");
  }
  path_.clear();
  forget_unfinished(std::exchange(place_, kMostUnfinished));
}

void NewFile::flush_to_target(bool replace) {
  if (fsync(file_.get()) != 0) {
    throw Error("cannot write " + printable(target_.native()), std::generic_category().message(errno),
                "Free space there, or choose another place.");
  }
  move_to_target(replace);
}

void remove_unfinished() noexcept {
  const int error = errno;
  for (const Unfinished& one : g_unfinished) {
    if (one.owner == getpid()) unlink(one.name.data());
  }
  errno = error;
}

}  // namespace dlkprof
