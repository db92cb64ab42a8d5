#include "common/journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

namespace fakes {
namespace {

void append(const std::string& line) {
  const char* path = std::getenv("FAKE_JOURNAL");
  if (path == nullptr || *path == '\0') return;
  const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) return;
  [[maybe_unused]] const auto written = write(fd, line.data(), line.size());
  close(fd);
}

}  // namespace

void misuse(const std::string& what) { append("misuse: " + what + "\n"); }
void trace(const std::string& what) { append("trace: " + what + "\n"); }

}  // namespace fakes
