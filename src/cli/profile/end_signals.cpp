#include "cli/profile/end_signals.h"

#include <csignal>

namespace dlkprof::cli {
namespace {

volatile std::sig_atomic_t g_noted = 0;

void note(int signal) { g_noted = signal; }

}  // namespace

EndSignals::EndSignals() {
  g_noted = 0;
  for (std::size_t i = 0; i < kEndSignals.size(); ++i) {
    struct sigaction action {};
    action.sa_handler = note;
    action.sa_flags = SA_RESTART;  // what is being written goes on
    sigemptyset(&action.sa_mask);
    sigaction(kEndSignals[i], nullptr, &former_[i]);
    if (former_[i].sa_handler != SIG_IGN) sigaction(kEndSignals[i], &action, nullptr);
  }
}

EndSignals::~EndSignals() {
  for (std::size_t i = 0; i < kEndSignals.size(); ++i) sigaction(kEndSignals[i], &former_[i], nullptr);
  g_noted = 0;
}

int EndSignals::noted() noexcept { return g_noted; }

}  // namespace dlkprof::cli
