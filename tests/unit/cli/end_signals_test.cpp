#include "cli/profile/end_signals.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

#include "support/temporary_directory.h"

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

TEST(EndSignals, LetNoProgramStartAfterwards) {
  const test::TemporaryDirectory folder;
  const std::filesystem::path trace = folder.path() / "trace";
  const auto start = [&trace] {
    const auto none = [](int) { return std::map<std::string, std::string>(); };
    return run_child({"touch", trace.string()}, none, std::chrono::seconds(1), [] {}).exit_code;
  };
  {
    const EndSignals guard;
    (void)std::raise(SIGTERM);
    EXPECT_THROW((void)start(), CannotStart);
    EXPECT_FALSE(std::filesystem::exists(trace));
    (void)std::raise(SIGINT);
    EXPECT_EQ(EndSignals::noted(), SIGINT) << "signals are no longer blocked";
  }
  EXPECT_EQ(start(), 0);
  EXPECT_TRUE(std::filesystem::exists(trace));
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
