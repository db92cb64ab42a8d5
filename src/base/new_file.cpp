#include "base/new_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
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
  for (int i = 0; i < kAttempts && !file_; ++i) {
    path_ = folder / fmt::format(".{}.{}.{}.tmp", target_.filename().native(), getpid(), i);
    bool exists = false;
    file_ = create_private(path_, &exists);
  }
  if (!file_)
    throw Error("cannot find a free temporary name beside " + printable(target_.native()), "", "Remove old .tmp files there.");
}

NewFile::~NewFile() {
  if (!path_.empty()) unlink(path_.c_str());
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
}

void NewFile::flush_to_target(bool replace) {
  if (fsync(file_.get()) != 0) {
    throw Error("cannot write " + printable(target_.native()), std::generic_category().message(errno),
                "Free space there, or choose another place.");
  }
  move_to_target(replace);
}

}  // namespace dlkprof
