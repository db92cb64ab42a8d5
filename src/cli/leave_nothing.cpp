#include "cli/leave_nothing.h"

#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigaction is POSIX, not in <csignal>

#include <array>

#include "base/new_file.h"

namespace dlkprof::cli {
namespace {

constexpr std::array kEnding{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ, SIGXCPU, SIGUSR1, SIGUSR2, SIGALRM};

// It is blocked meanwhile, and ends us as ever when this returns.
void remove_and_end(int signal_number) {
  remove_unfinished();
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

}  // namespace

void leave_nothing_behind() noexcept {
  struct sigaction action {};
  action.sa_handler = remove_and_end;
  sigfillset(&action.sa_mask);
  for (const int signal_number : kEnding) {
    struct sigaction former {};
    if (sigaction(signal_number, nullptr, &former) == 0 && former.sa_handler == SIG_DFL)
      sigaction(signal_number, &action, nullptr);
  }
}

}  // namespace dlkprof::cli
