#include "cli/ignored_signal.h"

#include <gtest/gtest.h>

#include <csignal>

namespace dlkprof::cli::ignored_signal_test {
namespace {

volatile std::sig_atomic_t g_came = 0;

TEST(IgnoredSignal, IsAsBeforeAfterwards) {
  g_came = 0;
  const auto former = std::signal(SIGXFSZ, [](int signal) { g_came = signal; });
  {
    const IgnoredSignal guard(SIGXFSZ);
    (void)std::raise(SIGXFSZ);
    EXPECT_EQ(g_came, 0);
  }
  (void)std::raise(SIGXFSZ);
  EXPECT_EQ(g_came, SIGXFSZ);
  (void)std::signal(SIGXFSZ, former);
}

}  // namespace
}  // namespace dlkprof::cli::ignored_signal_test
