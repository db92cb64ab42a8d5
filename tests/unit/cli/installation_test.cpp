#include "cli/installation.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <cstdlib>

#include "base/file.h"

namespace dlkprof::cli::installation_test {
namespace {

TEST(Installation, HoldsTheSections) { EXPECT_FALSE(load_catalogue().sections().empty()); }

TEST(IsStyled, OnlyOnATerminalThatMayBe) {
  int raw_master = -1;
  int raw_slave = -1;
  ASSERT_EQ(openpty(&raw_master, &raw_slave, nullptr, nullptr, nullptr), 0);
  const UniqueFd master(raw_master);
  const UniqueFd terminal(raw_slave);
  ASSERT_EQ(setenv("TERM", "xterm", 1), 0);
  ASSERT_EQ(unsetenv("NO_COLOR"), 0);
  EXPECT_TRUE(is_styled(terminal.get()));
  ASSERT_EQ(setenv("NO_COLOR", "", 1), 0);
  EXPECT_TRUE(is_styled(terminal.get()));  // no-color.org: present and not empty
  ASSERT_EQ(setenv("NO_COLOR", "1", 1), 0);
  EXPECT_FALSE(is_styled(terminal.get()));
  ASSERT_EQ(unsetenv("NO_COLOR"), 0);
  ASSERT_EQ(setenv("TERM", "dumb", 1), 0);
  EXPECT_FALSE(is_styled(terminal.get()));
  ASSERT_EQ(setenv("TERM", "xterm", 1), 0);
  const UniqueFd file(open("/dev/null", O_WRONLY | O_CLOEXEC));
  EXPECT_FALSE(is_styled(file.get()));
}

}  // namespace
}  // namespace dlkprof::cli::installation_test
