#include "cli/report_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <span>
#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "base/long_file.h"
#include "base/text.h"

namespace dlkprof::cli {
namespace {

namespace fs = std::filesystem;

// Removes a file unless it was moved away.
class Removal {
 public:
  explicit Removal(fs::path path) : path_(std::move(path)) {}
  Removal(const Removal&) = delete;
  Removal& operator=(const Removal&) = delete;
  ~Removal() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }

 private:
  fs::path path_;
};

// A hard link refuses a name that is taken; where the file system has none, we look first.
std::error_code move_to_free(const fs::path& from, const fs::path& path) {
  std::error_code failure;
  fs::create_hard_link(from, path, failure);
  if (!failure || failure == std::errc::file_exists) return failure;
  if (fs::exists(fs::symlink_status(path, failure))) return std::make_error_code(std::errc::file_exists);
  fs::rename(from, path, failure);
  return failure;
}

}  // namespace

void write_pieces(const fs::path& path, bool replace, const std::function<void(const report::Sink&)>& produce) {
  const fs::path temporary = path.parent_path() / fmt::format(".{}.{}.tmp", path.filename().native(), getpid());
  std::error_code failure;
  fs::remove(temporary, failure);  // left behind by a process of our number that was killed
  const UniqueFd file = create_private(temporary);
  const Removal removal(temporary);
  LongFile out(file.get(), path);
  produce([&out](std::string_view piece) {
    out.write(std::span(reinterpret_cast<const std::uint8_t*>(piece.data()), piece.size()));
  });
  if (replace) {
    fs::rename(temporary, path, failure);
  } else {
    failure = move_to_free(temporary, path);
  }
  if (failure) {
    throw Error("cannot write " + printable(path.native()), failure.message(), "Choose another name or place, or give --force.");
  }
}

}  // namespace dlkprof::cli
