// Being told to end (Ctrl-C) while something is to be finished first.
#pragma once

#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigaction is POSIX, not in <csignal>

#include <array>

#include "cli/profile/child.h"

namespace dlkprof::cli {

// While it lives, the signals of kEndSignals are noted instead of ending us; those that are ignored (nohup) stay ignored. One at
// a time. While a program runs, run_child() takes them; after one was noted it starts none.
class EndSignals {
 public:
  EndSignals();
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;
  ~EndSignals();

  // The last that came, or 0; 0 as well where none lives.
  [[nodiscard]] static int noted() noexcept;

 private:
  std::array<struct sigaction, kEndSignals.size()> former_{};
};

}  // namespace dlkprof::cli
