#include "cupti/untrusted.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/sanitizers.h"
#include "cupti/confinement.h"

namespace dlkprof::cupti {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// The sanitizers' copies, page faults and forks of 70 MB took 5 s on a slow machine.
constexpr int kSlower = kAddressSanitizer || kThreadSanitizer ? 10 : 1;
constexpr auto kLongestImage = kSlower * 5s;  // it takes a millisecond; a damaged image may send NVPerf round and round
// What all images together may take: far more than good ones, which are many in a large file and few in a small one.
constexpr auto kAllowedOnce = kSlower * 5s;
constexpr auto kAllowedAnImage = kSlower * 50ms;
constexpr std::size_t kChildBytes = std::size_t{256} << 20U;
constexpr std::size_t kLongestWords = 4096;

constexpr const char* kWhat = "the counters kept in this capture cannot be evaluated";
constexpr const char* kRemedy =
    "They are damaged, or of a CUPTI that this one does not read; the values that were stored with them remain.";

struct EvaluationRequest {
  std::uint64_t image_bytes = 0, range = 0, metrics = 0, text_bytes = 0;  // the names follow, each with its NUL, then the image
};
struct EvaluationAnswer {
  std::uint64_t refused = 0, bytes = 0;  // the values follow, or the words of the refusal
};

bool read_whole(int fd, void* data, std::size_t size) noexcept {
  auto* next = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t count = read(fd, next, size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    next += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

bool write_whole(int fd, const void* data, std::size_t size) noexcept {
  const auto* next = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t count = write(fd, next, size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    next += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

// --- The child --------------------------------------------------------------------------------------------------------

bool answer(int fd, bool refused, const void* data, std::size_t size) noexcept {
  const EvaluationAnswer head{refused ? 1U : 0U, size};
  return write_whole(fd, &head, sizeof head) && write_whole(fd, data, size);
}

// One request; false when there are no more. `image`: of the request before, whose memory is used again: new pages take longer
// than all else.
bool serve(int fd, const Host& host, std::vector<std::uint8_t>& image) {
  EvaluationRequest request;
  if (!read_whole(fd, &request, sizeof request)) return false;
  std::string text(request.text_bytes, '\0');
  image.resize(request.image_bytes);
  if (!read_whole(fd, text.data(), text.size()) || !read_whole(fd, image.data(), image.size())) return false;
  std::vector<const char*> names;
  for (std::size_t at = 0; names.size() < request.metrics; at = text.find('\0', at) + 1) names.push_back(text.data() + at);
  std::vector<double> values(names.size());
  try {
    host.evaluate(image, request.range, names, values);
    return answer(fd, false, values.data(), values.size() * sizeof(double));
  } catch (const Error& error) {
    return answer(fd, true, error.detail().data(), std::min(error.detail().size(), kLongestWords));
  }
}

[[noreturn]] void serve_and_exit(int fd, const Host& host) noexcept {
  if (!confine(fd, kChildBytes)) {
    constexpr std::string_view kWords = "this system does not let a process confine itself (seccomp)";
    EvaluationRequest request;  // it has to come before its answer
    if (read_whole(fd, &request, sizeof request)) (void)answer(fd, true, kWords.data(), kWords.size());
    _exit(1);
  }
  try {
    std::vector<std::uint8_t> image;
    while (serve(fd, host, image)) {
    }
  } catch (...) {  // out of memory, as an image may have it
    _exit(1);
  }
  _exit(0);
}

// --- The parent -------------------------------------------------------------------------------------------------------

// To and from the child, which may stop at any place: false then, or when it takes too long.
class Exchange {
 public:
  explicit Exchange(int fd) : fd_(fd) {}

  [[nodiscard]] bool send_whole(const void* data, std::size_t size) const {
    return whole(POLLOUT, size, [&](std::size_t at) {
      return send(fd_, static_cast<const char*>(data) + at, size - at, MSG_NOSIGNAL | MSG_DONTWAIT);
    });
  }
  [[nodiscard]] bool receive_whole(void* data, std::size_t size) const {
    return whole(POLLIN, size, [&](std::size_t at) { return recv(fd_, static_cast<char*>(data) + at, size - at, MSG_DONTWAIT); });
  }

 private:
  [[nodiscard]] bool whole(short event, std::size_t size, const auto& some) const {
    for (std::size_t at = 0; at < size;) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until_ - Clock::now());
      pollfd one{fd_, event, 0};
      const int ready = poll(&one, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
      if (ready < 0 && errno == EINTR) continue;
      if (ready <= 0) return false;
      const ssize_t count = some(at);
      if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (count <= 0) return false;
      at += static_cast<std::size_t>(count);
    }
    return true;
  }

  int fd_;
  Clock::time_point until_ = Clock::now() + kLongestImage;
};

[[noreturn]] void refuse(const std::string& detail) { throw Error(kWhat, detail, kRemedy); }

// How it ended; a signal is NVPerf's.
std::string ending_of(pid_t child) noexcept {
  int status = 0;
  pid_t ended = 0;
  // Where it has not ended by itself a moment after it closed its end, it goes round and round.
  for (int tries = 0; (ended = waitpid(child, &status, WNOHANG)) == 0 && tries < 50; ++tries) usleep(1000);
  if (ended == 0) {
    kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return "NVPerf did not come to an end with them";
  }
  if (WIFSIGNALED(status)) return std::string("NVPerf ended with '") + strsignal(WTERMSIG(status)) + "' on them";
  return "NVPerf gave no values";
}

}  // namespace

void UntrustedEvaluator::start() {
  std::array<int, 2> ends{-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw Error(kWhat, std::string("socketpair: ") + std::strerror(errno), "");
  channel_.reset(ends[0]);
  const UniqueFd theirs(ends[1]);
  child_ = fork();
  if (child_ == 0) serve_and_exit(theirs.get(), host_);
  if (child_ < 0) throw Error(kWhat, std::string("fork: ") + std::strerror(errno), "");
}

void UntrustedEvaluator::stop() noexcept {
  channel_.reset();  // it reads the end of file, and ends
  if (child_ > 0) (void)ending_of(child_);
  child_ = -1;
}

void UntrustedEvaluator::fail() {
  ++failures_;
  channel_.reset();
  refuse(ending_of(std::exchange(child_, -1)));
}

std::vector<double> UntrustedEvaluator::ask(std::span<const std::uint8_t> image, std::size_t range,
                                            const std::vector<std::string>& metrics) {
  std::string text;
  for (const std::string& metric : metrics) text += metric.substr(0, metric.find('\0')) + '\0';
  const EvaluationRequest request{image.size(), range, metrics.size(), text.size()};
  const Exchange child(channel_.get());
  const bool sent = child.send_whole(&request, sizeof request) && child.send_whole(text.data(), text.size()) &&
                    child.send_whole(image.data(), image.size());
  EvaluationAnswer head;
  // What could not be sent may have been answered all the same.
  if (!child.receive_whole(&head, sizeof head) || (!sent && head.refused == 0)) fail();
  if (head.refused != 0) {
    std::string words(std::min<std::size_t>(head.bytes, kLongestWords), '\0');
    if (!child.receive_whole(words.data(), words.size())) fail();
    if (!sent) stop();
    refuse(words);
  }
  std::vector<double> values(metrics.size());
  const std::size_t bytes = values.size() * sizeof(double);
  if (head.bytes != bytes || !child.receive_whole(values.data(), bytes)) fail();
  return values;
}

std::vector<double> UntrustedEvaluator::evaluate(std::span<const std::uint8_t> image, std::size_t range,
                                                 const std::vector<std::string>& metrics) {
  if (failures_ >= kMostFailures) refuse("too many of them could not be");
  if (spent_ > kAllowedOnce + images_ * kAllowedAnImage) refuse("it takes too long");
  const auto begin = Clock::now();
  const auto note_time = [&] { spent_ += Clock::now() - begin; };
  ++images_;
  try {
    if (child_ < 0) start();
    std::vector<double> values = ask(image, range, metrics);
    note_time();
    return values;
  } catch (const Error&) {
    note_time();
    throw;
  }
}

}  // namespace dlkprof::cupti
