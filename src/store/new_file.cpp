#include "store/new_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "base/error.h"
#include "base/text.h"

namespace dlkprof::store {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& target) {
  const fs::path parent = target.has_parent_path() ? target.parent_path() : fs::path(".");
  std::error_code failure;
  fs::path folder = fs::canonical(parent, failure);
  return failure ? parent : folder;  // creating the file there says what is wrong with it
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

void NewFile::move_to_target() {
  if (fsync(file_.get()) != 0 || rename(path_.c_str(), target_.c_str()) != 0) {
    const int error = errno;
    throw Error("cannot write the database " + printable(target_.native()), std::generic_category().message(error),
                "Free space there, or choose another place.");
  }
  path_.clear();
}

}  // namespace dlkprof::store
