#include "base/say.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

#include "base/unnoticed.h"

namespace dlkprof {
namespace {

// Holds back both signals that a write can raise in this thread, and takes those that came meanwhile.
class WriteSignalsHeld {
 public:
  WriteSignalsHeld() noexcept {
    sigset_t pending{};
    sigpending(&pending);
    sigemptyset(&raised_);
    for (const int signal : {SIGPIPE, SIGXFSZ}) {
      if (sigismember(&pending, signal) == 0) sigaddset(&raised_, signal);  // one that was there before is not ours to take
    }
    pthread_sigmask(SIG_BLOCK, &raised_, &before_);
  }
  WriteSignalsHeld(const WriteSignalsHeld&) = delete;
  WriteSignalsHeld& operator=(const WriteSignalsHeld&) = delete;
  ~WriteSignalsHeld() {
    constexpr timespec kNoWait{};
    while (sigtimedwait(&raised_, nullptr, &kNoWait) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t raised_{}, before_{};
};

}  // namespace

void write_to_stderr(std::string_view text) noexcept {
  const Unnoticed whole;
  const WriteSignalsHeld held;
  while (!text.empty()) {
    const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace dlkprof
