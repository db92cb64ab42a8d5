#include "cli/end_signals.h"

#include <gtest/gtest.h>

#include <csignal>

namespace dlkprof::cli::end_signals_test {
namespace {

TEST(EndSignals, AreNotedWhileItLives) {
  const EndSignals guard;
  EXPECT_EQ(EndSignals::noted(), 0);
  for (const int signal : kEndSignals) {
    (void)std::raise(signal);
    EXPECT_EQ(EndSignals::noted(), signal);
  }
}

TEST(EndSignals, BeginAnew) {
  {
    const EndSignals guard;
    (void)std::raise(SIGINT);
  }
  const EndSignals guard;
  EXPECT_EQ(EndSignals::noted(), 0);
}

TEST(EndSignals, StayIgnoredAndComeBack) {
  const auto former = std::signal(SIGHUP, SIG_IGN);
  {
    const EndSignals guard;
    (void)std::raise(SIGHUP);
    EXPECT_EQ(EndSignals::noted(), 0);
  }
  EXPECT_EQ(std::signal(SIGHUP, former), SIG_IGN);
}

TEST(EndSignalsDeathTest, EndUsAgainAfterwards) {
  EXPECT_EXIT(
      {
        { const EndSignals guard; }
        (void)std::raise(SIGTERM);
      },
      testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace dlkprof::cli::end_signals_test
