#include "cupti/reusable_image.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/error.h"
#include "base/file.h"

namespace dlkprof::cupti {
namespace {

// The program's own limit, and no lack of memory.
void require_room(std::size_t bytes) {
  if (within_size_limit(bytes)) return;
  throw Error("there is no room for counters", "they take a file in memory, which RLIMIT_FSIZE (ulimit -f) forbids",
              "Raise that limit, or use --replay-mode kernel.");
}

[[noreturn]] void fail(const char* call) {
  throw Error("there is no memory for counters", std::string(call) + ": " + std::system_category().message(errno),
              "Give less --max-memory.");
}

void write_all(int file, std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail("write");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

struct OpenFile {
  int number = -1;
  explicit OpenFile(int opened) : number(opened) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() { close(number); }
};

}  // namespace

ReusableImage::ReusableImage(std::span<const std::uint8_t> empty) {
  require_room(empty.size());
  const OpenFile file(memfd_create("dlkprof counters", MFD_CLOEXEC));
  if (file.number < 0) fail("memfd_create");
  write_all(file.number, empty);
  void* mapped = mmap(nullptr, empty.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE, file.number, 0);
  if (mapped == MAP_FAILED) fail("mmap");
  bytes_ = {static_cast<std::uint8_t*>(mapped), empty.size()};
}

ReusableImage::~ReusableImage() { munmap(bytes_.data(), bytes_.size()); }

// What is read there next is the file's again (madvise(2), MADV_DONTNEED).
void ReusableImage::empty() {
  if (madvise(bytes_.data(), bytes_.size(), MADV_DONTNEED) != 0) fail("madvise");
}

}  // namespace dlkprof::cupti
