#include "cupti/untrusted.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include "base/error.h"
#include "base/file.h"

namespace dlkprof::cupti {
namespace {

constexpr unsigned kSecondsAtMost = 20;  // it takes a millisecond; a damaged image may send NVPerf round and round

constexpr const char* kWhat = "the counters kept in this capture cannot be evaluated";
constexpr const char* kRemedy =
    "They are damaged, or of a CUPTI that this one does not read; the values that were stored with them remain.";

constexpr int kDone = 0;
constexpr int kRefused = 3;

bool write_whole(int fd, const void* data, std::size_t size) noexcept {
  const auto* next = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = write(fd, next, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    next += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

std::string read_whole(int fd) {
  std::string bytes;
  std::array<char, 4096> buffer{};
  while (true) {
    const ssize_t count = read(fd, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return bytes;
    bytes.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

// Dies quietly: no core file, no crash handler of the parent, and never hangs.
void expect_to_die() noexcept {
  constexpr rlimit kNoCore{0, 0};
  (void)setrlimit(RLIMIT_CORE, &kNoCore);
  for (const int signal_number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM}) (void)std::signal(signal_number, SIG_DFL);
  (void)alarm(kSecondsAtMost);
}

// In the child: the values, or the words of the refusal, down the pipe.
[[noreturn]] void evaluate_and_exit(int fd, const Host& host, std::span<const std::uint8_t> image, std::size_t range,
                                    const std::vector<std::string>& metrics) noexcept {
  expect_to_die();
  int code = kRefused;
  try {
    const std::vector<double> values = host.evaluate(image, range, metrics);
    if (write_whole(fd, values.data(), values.size() * sizeof(double))) code = kDone;
  } catch (const Error& error) {
    (void)write_whole(fd, error.detail().data(), error.detail().size());
  } catch (...) {
    constexpr std::string_view kWords = "unexpected failure";
    (void)write_whole(fd, kWords.data(), kWords.size());
  }
  _exit(code);
}

int wait_for(pid_t child) noexcept {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return status;
}

[[noreturn]] void fail(const std::string& detail) { throw Error(kWhat, detail, kRemedy); }

}  // namespace

std::vector<double> evaluate_untrusted(const Host& host, std::span<const std::uint8_t> image, std::size_t range,
                                       const std::vector<std::string>& metrics) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw Error(kWhat, std::string("pipe2: ") + std::strerror(errno), "");
  const UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  const pid_t child = fork();
  if (child < 0) throw Error(kWhat, std::string("fork: ") + std::strerror(errno), "");
  if (child == 0) evaluate_and_exit(writing.get(), host, image, range, metrics);
  writing.reset();
  const std::string answer = read_whole(reading.get());
  const int status = wait_for(child);
  if (WIFSIGNALED(status)) fail(std::string("NVPerf ended with '") + strsignal(WTERMSIG(status)) + "' on them");
  if (WEXITSTATUS(status) != kDone) fail(answer);
  std::vector<double> values(metrics.size());
  if (answer.size() != values.size() * sizeof(double)) fail("NVPerf gave no values");
  if (!values.empty()) std::memcpy(values.data(), answer.data(), answer.size());
  return values;
}

}  // namespace dlkprof::cupti
