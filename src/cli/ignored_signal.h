// A signal that shall not end us while something is written.
#pragma once

#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigaction is POSIX, not in <csignal>

namespace dlkprof::cli {

// Ignored while it lives: what is ignored stays so in the programs that we start, and they are to be as they are without us.
class IgnoredSignal {
 public:
  explicit IgnoredSignal(int signal) : signal_(signal) {
    struct sigaction action {};
    action.sa_handler = SIG_IGN;
    sigemptyset(&action.sa_mask);
    sigaction(signal_, &action, &former_);
  }
  IgnoredSignal(const IgnoredSignal&) = delete;
  IgnoredSignal& operator=(const IgnoredSignal&) = delete;
  ~IgnoredSignal() { sigaction(signal_, &former_, nullptr); }

 private:
  int signal_;
  struct sigaction former_ {};
};

}  // namespace dlkprof::cli
