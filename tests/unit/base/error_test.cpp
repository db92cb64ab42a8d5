#include "base/error.h"

#include <gtest/gtest.h>

namespace dlkprof::error_test {
namespace {

TEST(Error, MessageHoldsAllThatIsKnown) {
  EXPECT_EQ(Error("it failed", "call: words", "Do this.").message(), "it failed: call: words\n  Do this.");
  EXPECT_EQ(Error("it failed", "", "Do this.").message(), "it failed\n  Do this.");
  EXPECT_EQ(Error("it failed", "call: words", "").message(), "it failed: call: words");
  EXPECT_EQ(Error("it failed", "", "").message(), "it failed");
}

TEST(Error, UsageErrorIsCaughtAsError) {
  try {
    throw UsageError("bad option", "detail", "remedy");
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "bad option");
    EXPECT_EQ(error.detail(), "detail");
    EXPECT_EQ(error.remedy(), "remedy");
  }
}

}  // namespace
}  // namespace dlkprof::error_test
