#include "base/file.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace dlkprof {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kPrivateMode = S_IRUSR | S_IWUSR;
constexpr rlim_t kHighNumber = 4096;

std::string words_of(int error) { return std::generic_category().message(error); }

std::string remedy_for(int error) {
  switch (error) {
    case ENOENT:
      return "Check the path: a part of it does not exist.";
    case EACCES:
    case EPERM:
    case EROFS:
      return "Choose a place that you may write to, or change its permissions.";
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return "Free space there, or choose another place.";
    case EMFILE:
    case ENFILE:
      return "Raise the limit of open files (ulimit -n).";
    default:
      return "";
  }
}

// Reads `errno`: call it before anything that may change that.
Error file_error(std::string_view doing, const fs::path& path) {
  const int error = errno;
  return {fmt::format("cannot {} {}", doing, printable(path.native())), words_of(error), remedy_for(error)};
}

// The file of the executable, or of the library where this code was linked into one.
fs::path own_file() {
  Dl_info info{};
  link_map* module = nullptr;
  const bool found =
      dladdr1(reinterpret_cast<const void*>(&own_file), &info, reinterpret_cast<void**>(&module), RTLD_DL_LINKMAP) != 0;
  const bool library = found && module != nullptr && module->l_name != nullptr && *module->l_name != '\0';
  std::error_code error;
  fs::path path = library ? fs::canonical(module->l_name, error) : fs::read_symlink("/proc/self/exe", error);
  if (error) throw Error("cannot find the folder that dlkprof is installed in", error.message(), "Is /proc mounted?");
  return path;
}

}  // namespace

void close_fd(int fd) noexcept { close(fd); }

UniqueFd to_high_number(UniqueFd file) noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return file;
  const rlim_t number = std::min(kHighNumber, limit.rlim_cur - limit.rlim_cur / 8);  // below the limit with room to spare
  UniqueFd high(fcntl(file.get(), F_DUPFD_CLOEXEC, static_cast<int>(number)));
  return high ? std::move(high) : std::move(file);
}

UniqueFd create_private(const fs::path& path, bool* exists) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  UniqueFd file(open(path.c_str(), kFlags, kPrivateMode));
  const bool taken = !file && errno == EEXIST;
  // Where one of the three standard ones is closed, what others print there would go into the file.
  if (file && file.get() <= STDERR_FILENO) {
    file.reset(fcntl(file.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  }
  if (exists != nullptr) *exists = taken;
  if (!file && !(taken && exists != nullptr)) throw file_error("create", path);
  return file;
}

void write_all(int fd, std::span<const std::uint8_t> bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw file_error("write", path);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

bool within_size_limit(std::uint64_t end) noexcept {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || end <= limit.rlim_cur;
}

std::error_code flush_file(const fs::path& path) noexcept {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file || fsync(file.get()) != 0) return {errno, std::generic_category()};
  return {};
}

std::string read_file(const fs::path& path) {
  // O_NONBLOCK: opening a pipe that nobody writes to must not hang.
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) throw file_error("open", path);
  struct stat status {};
  if (fstat(file.get(), &status) != 0) throw file_error("read", path);
  if (!S_ISREG(status.st_mode))
    throw Error("cannot read " + printable(path.native()), "not a regular file", "Give the path of a file.");
  std::string text;
  std::size_t length = 0;
  for (;;) {  // not by st_size: a file may grow, and those in /proc say 0
    constexpr std::size_t kChunk = 1U << 16;
    text.resize(length + kChunk);
    const ssize_t got = read(file.get(), text.data() + length, kChunk);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw file_error("read", path);
    length += static_cast<std::size_t>(got);
    if (got == 0) break;
  }
  text.resize(length);
  return text;
}

fs::path install_root() { return own_file().parent_path().parent_path(); }

}  // namespace dlkprof
