#include "base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dlkprof::text_test {
namespace {

using testing::ElementsAre;

struct TextCase {
  std::string_view text;
  std::string_view expected;
};

class Printable : public testing::TestWithParam<TextCase> {};

TEST_P(Printable, NeutralisesWhatATerminalActsOn) { EXPECT_EQ(printable(GetParam().text), GetParam().expected); }

INSTANTIATE_TEST_SUITE_P(Text, Printable,
                         testing::Values(TextCase{"plain text <int>", "plain text <int>"},  //
                                         TextCase{"", ""},                                  //
                                         TextCase{"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"},
                                         TextCase{"\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"},  // CSI
                                         TextCase{"\x1b]0;title\a", "\\x1b]0;title\\x07"},        // OSC
                                         TextCase{"a\r\n\tb\b", "a\\x0d\\x0a\\x09b\\x08"},        //
                                         TextCase{{"a\0b", 3}, "a\\x00b"},                        //
                                         TextCase{"\x7f", "\\x7f"},                               // DEL
                                         TextCase{"\xc2\x9b", "\\u{009B}"},                       // C1: CSI
                                         TextCase{"\x9b", "\\x9b"},                               // the same, in Latin-1
                                         TextCase{"a\xe2\x80\xae"                                 // right-to-left override
                                                  "b",
                                                  "a\\u{202E}b"},
                                         TextCase{"\xe2\x81\xa6\xe2\x80\x8b", "\\u{2066}\\u{200B}"},  // isolate, zero width
                                         TextCase{"\xe2\x80\xa8", "\\u{2028}"},                       // line separator
                                         TextCase{"\xef\xbb\xbf", "\\u{FEFF}"},                       // byte order mark
                                         TextCase{"\xf3\xa0\x81\x81", "\\u{E0041}"}));                // tag letter

INSTANTIATE_TEST_SUITE_P(InvalidUtf8, Printable,
                         testing::Values(TextCase{"\xff\xfe", "\\xff\\xfe"},                    //
                                         TextCase{"\xc0\xaf", "\\xc0\\xaf"},                    // overlong
                                         TextCase{"\xe0\x80\xaf", "\\xe0\\x80\\xaf"},           // overlong
                                         TextCase{"\xf0\x80\x80\xaf", "\\xf0\\x80\\x80\\xaf"},  // overlong
                                         TextCase{"\xed\xa0\x80", "\\xed\\xa0\\x80"},           // surrogate
                                         TextCase{"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},  // above U+10FFFF
                                         TextCase{"\xe2\x82", "\\xe2\\x82"},                    // cut
                                         TextCase{"\xe2(\xa1", "\\xe2(\\xa1"}));

TEST(PrintableLength, CutsWithDots) {
  EXPECT_EQ(printable("abcdefgh", 8), "abcdefgh");
  EXPECT_EQ(printable("abcdefghi", 8), "abcde...");
  EXPECT_EQ(printable("abc", 2), "..");
  EXPECT_EQ(printable("abc", 0), "");
  EXPECT_EQ(printable("", 0), "");
}

TEST(PrintableLength, CountsCharactersAndKeepsThemWhole) {
  EXPECT_EQ(printable("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", 4), "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4");
  EXPECT_EQ(printable("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", 4), "\xc3\xa4...");
  EXPECT_EQ(printable("ab\x1b"
                      "cdef",
                      8),
            "ab...")
      << "an escape is shown whole or not at all";
}

TEST(PrintableBytes, EveryPairOfBytesGivesHarmlessText) {
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      const std::string shown = printable(std::string{static_cast<char>(a), static_cast<char>(b)});
      EXPECT_EQ(printable(shown), shown) << a << ' ' << b;
      EXPECT_EQ(valid_utf8(shown), shown) << a << ' ' << b;
      for (const char c : shown) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) << a << ' ' << b;
    }
  }
}

TEST(ValidUtf8, ReplacesOnlyWhatIsInvalid) {
  EXPECT_EQ(valid_utf8("a\xc3\xa4\n\x1b"), "a\xc3\xa4\n\x1b");
  EXPECT_EQ(valid_utf8("a\xff"
                       "b"),
            "a\xef\xbf\xbd"
            "b");
  EXPECT_EQ(valid_utf8("\xe2\x82"), "\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(valid_utf8(std::string_view("\0", 1)), std::string_view("\0", 1));
}

TEST(Split, KeepsEmptyParts) {
  EXPECT_THAT(split("a,b,c", ','), ElementsAre("a", "b", "c"));
  EXPECT_THAT(split(",a,,", ','), ElementsAre("", "a", "", ""));
  EXPECT_THAT(split("", ','), ElementsAre(""));
}

TEST(Closest, FindsWhatWasMeant) {
  const std::vector<std::string> options{"kernel-id", "kernel-name", "launch-skip"};
  EXPECT_EQ(closest("kernel-di", options), "kernel-id");
  EXPECT_EQ(closest("lanch-skip", options), "launch-skip");
  EXPECT_EQ(closest("kernel-name", options), "kernel-name");
}

TEST(Closest, KeepsQuietWhereNothingComesNear) {
  EXPECT_EQ(closest("database", {"kernel-id", "launch-skip"}), "");
  EXPECT_EQ(closest("ab", {"cd", "ac"}), "") << "a third of two letters allows no change";
  EXPECT_EQ(closest("abc", {"abd"}), "abd");
  EXPECT_EQ(closest("word", {}), "");
}

}  // namespace
}  // namespace dlkprof::text_test
