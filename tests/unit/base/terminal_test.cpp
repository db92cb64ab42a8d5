#include "base/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace dlkprof::terminal_test {
namespace {

class TextWidth : public testing::Test {
 protected:
  void SetUp() override { unsetenv("COLUMNS"); }
  void TearDown() override { unsetenv("COLUMNS"); }
};

TEST_F(TextWidth, IsOfTheVariableColumns) {
  setenv("COLUMNS", "133", 1);
  EXPECT_EQ(text_width(-1), 133);
}

TEST_F(TextWidth, IsUsualWithoutATerminal) {
  EXPECT_EQ(text_width(-1), kUsualWidth);
  for (const char* nonsense : {"", "x", "12x", "-5", "99999999999999999999999", "0"}) {
    setenv("COLUMNS", nonsense, 1);
    EXPECT_EQ(text_width(-1), kUsualWidth) << nonsense;
  }
}

TEST_F(TextWidth, IsNeverTooSmallToShowAnything) {
  setenv("COLUMNS", "1", 1);
  EXPECT_EQ(text_width(-1), 40);
}

TEST_F(TextWidth, IsThatOfTheTerminal) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0) GTEST_SKIP() << "no pseudo-terminal";
  const winsize size{.ws_row = 40, .ws_col = 97, .ws_xpixel = 0, .ws_ypixel = 0};
  ASSERT_EQ(ioctl(terminal, TIOCSWINSZ, &size), 0);
  EXPECT_EQ(text_width(terminal), 97);
  close(terminal);
}

}  // namespace
}  // namespace dlkprof::terminal_test
