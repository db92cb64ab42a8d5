#include "cli/profile/fingerprint.h"

#include <gtest/gtest.h>

namespace dlkprof::cli::fingerprint_test {
namespace {

// The test vectors of the FNV draft, of which each word ends with a zero byte: "" is 00, "foobar" is "foobar\0".
TEST(Fingerprint, IsFnv1a) {
  EXPECT_EQ(Fingerprint().text(), "cbf29ce484222325");
  EXPECT_EQ(Fingerprint().add("").text(), "af63bd4c8601b7df");
  EXPECT_EQ(Fingerprint().add("foobar").text(), "34531ca7168b8f38");
}

TEST(Fingerprint, KnowsWordsFromOneAnother) {
  EXPECT_NE(Fingerprint().add("ab").add("c").text(), Fingerprint().add("a").add("bc").text());
  EXPECT_NE(Fingerprint().add("a").text(), Fingerprint().add("a").add("").text());
  EXPECT_NE(Fingerprint().add("a").add("b").text(), Fingerprint().add("b").add("a").text());
}

}  // namespace
}  // namespace dlkprof::cli::fingerprint_test
