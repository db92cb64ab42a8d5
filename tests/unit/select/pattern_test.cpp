#include "select/pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/error.h"

namespace dlkprof::select::pattern_test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr std::size_t kMegabyte = std::size_t{1} << 20U;

Pattern pattern(const std::string& text, Extent extent = Extent::anywhere) {
  return Pattern({"--kernel-name", text, text}, extent);
}

std::string refusal(std::string_view value, std::string_view part) {
  try {
    Pattern({"--kernel-id", value, part}, Extent::anywhere);
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("--kernel-id"));
    EXPECT_FALSE(error.remedy().empty());
    return error.detail();
  }
  ADD_FAILURE() << value << " was accepted";
  return "";
}
std::string refusal(std::string_view value) { return refusal(value, value); }

TEST(Pattern, MatchesAnywhereOrWhole) {
  EXPECT_TRUE(pattern("gemm").matches("ampere_gemm_128"));
  EXPECT_FALSE(pattern("gemm", Extent::whole).matches("ampere_gemm_128"));
  EXPECT_TRUE(pattern(".*gemm.*", Extent::whole).matches("ampere_gemm_128"));
  EXPECT_FALSE(pattern("gemm").matches("Gemm"));
  EXPECT_TRUE(pattern("(?i)gemm").matches("Gemm"));
}

TEST(Pattern, WholeTriesEveryAlternative) {
  Pattern invocation = pattern(".*5|3", Extent::whole);
  for (const char* number : {"3", "5", "15", "35", "55", "1005"}) EXPECT_TRUE(invocation.matches(number)) << number;
  for (const char* number : {"13", "33", "30", "51", "53", ""}) EXPECT_FALSE(invocation.matches(number)) << number;
}

TEST(Pattern, EmptyPatternAndSubject) {
  EXPECT_TRUE(pattern("").matches("foo"));
  EXPECT_TRUE(pattern("^$").matches(std::string_view{}));
  EXPECT_FALSE(pattern("x").matches(std::string_view{}));
}

TEST(Pattern, TakesSubjectsOfAnyBytes) {
  const std::string hostile("gemm\xff\xfe\0\x80tail", 12);
  EXPECT_TRUE(pattern("^gemm.*tail$").matches(hostile));
  EXPECT_TRUE(pattern("\\x00").matches(hostile));
  EXPECT_TRUE(pattern("\xff").matches(hostile)) << "a pattern that is no UTF-8 is bytes";
  EXPECT_TRUE(pattern("tail").matches(hostile));
}

TEST(Pattern, ReadsUtf8WhereThePatternHoldsIt) {
  EXPECT_TRUE(pattern("^[äö]x$").matches("öx")) << "a character, not its bytes";
  EXPECT_FALSE(pattern("^[äö]x$").matches("\xc3x"));
  Pattern umlaut = pattern("ö");
  EXPECT_TRUE(umlaut.matches("\xff\xfe kernel_ö \xc3"));
  EXPECT_FALSE(umlaut.matches("\xff\xfe kernel_o \xc3"));
  EXPECT_FALSE(umlaut.limit_exceeded());
}

TEST(Pattern, MegabyteNamesAreFine) {
  std::string name(kMegabyte, 'a');
  name += "_gemm_";
  name.append(kMegabyte, 'z');
  for (const char* text : {"gemm", "a_gemm_z", "^a+_gemm_z+$", "^.*gemm.*$", "(?<=_)gemm"}) {
    Pattern sound = pattern(text);
    EXPECT_TRUE(sound.matches(name)) << text;
    EXPECT_FALSE(sound.limit_exceeded()) << text;
  }
  Pattern absent = pattern("nvjet");
  EXPECT_FALSE(absent.matches(name));
  EXPECT_FALSE(absent.limit_exceeded());
}

class Catastrophe : public testing::TestWithParam<const char*> {};

// Each of them takes minutes to years where nothing bounds it: exponential, quadratic, cubic, recursive.
TEST_P(Catastrophe, EndsSoonAndIsRemembered) {
  const std::string name = std::string(kMegabyte, 'a') + "!";
  Pattern bad = pattern(GetParam());
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(bad.matches(name));
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  EXPECT_LT(spent.count(), 10.0) << "seconds; a loaded machine and sanitizers included";
  EXPECT_TRUE(bad.limit_exceeded());
}

INSTANTIATE_TEST_SUITE_P(Regexes, Catastrophe,
                         testing::Values("(a+)+$", "(a|aa)+$", "(a|a)*b$", "[^x]*[xy]", "a*a*a*[xy]", "(?:.*)*[xy]",
                                         "(*NO_JIT)(a+)+$", "(*NO_JIT)[^x]*[xy]", "(*LIMIT_MATCH=4000000000)(a+)+$",
                                         "^(a(?1)?)+[xy]"));

TEST(Pattern, GoesOnAfterALimit) {
  Pattern bad = pattern("(a+)+$");
  EXPECT_FALSE(bad.matches(std::string(64, 'a') + "!"));
  EXPECT_TRUE(bad.limit_exceeded());
  EXPECT_TRUE(bad.matches("aaa"));
  EXPECT_TRUE(bad.limit_exceeded()) << "stays known";
}

TEST(Pattern, OnceUnsoundCostsLittleALaunch) {
  const std::string name = std::string(64, 'a') + "!";
  Pattern bad = pattern("(a+)+$");
  const auto start = std::chrono::steady_clock::now();
  for (int launch = 0; launch < 1000; ++launch) EXPECT_FALSE(bad.matches(name));
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  EXPECT_LT(spent.count(), 20.0) << "a hundred of these seconds at the full limit";
}

TEST(Pattern, KeepsItsLimitsWhenMoved) {
  Pattern bad = pattern("(a+)+$");
  Pattern moved = std::move(bad);
  EXPECT_FALSE(moved.matches(std::string(64, 'a') + "!"));
  EXPECT_TRUE(moved.limit_exceeded());
}

// The column of the caret, and what stands above it.
struct Pointed {
  std::string line, above;
};
Pointed pointed(const std::string& detail) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at <= detail.size();) {
    const std::size_t end = std::min(detail.find('\n', at), detail.size());
    lines.push_back(detail.substr(at, end - at));
    at = end + 1;
  }
  EXPECT_EQ(lines.size(), 3U) << detail;
  if (lines.size() != 3) return {};
  const std::size_t column = lines[2].find('^');
  EXPECT_EQ(lines[2], std::string(column, ' ') + "^");
  return {lines[1], column <= lines[1].size() ? lines[1].substr(column) : "out of the line"};
}

TEST(BadPattern, CaretStandsUnderThePlace) {
  EXPECT_EQ(refusal("a[z-a]b"), "range out of order in character class\n    a[z-a]b\n        ^");
  EXPECT_EQ(pointed(refusal("gemm(a")).above, "");
  EXPECT_THAT(refusal("gemm(a"), HasSubstr("missing closing parenthesis"));
  EXPECT_EQ(pointed(refusal("+gemm")).above, "+gemm");
  EXPECT_EQ(pointed(refusal("ab)c")).above, ")c");
}

TEST(BadPattern, CaretCountsFromTheOptionsValue) {
  const std::string value = "::regex:a[z-a]b:7";
  const Pointed in_field = pointed(refusal(value, std::string_view(value).substr(8, 7)));
  EXPECT_EQ(in_field.line, "    " + value);
  EXPECT_EQ(in_field.above, pointed(refusal("a[z-a]b:7")).above);
  EXPECT_EQ(in_field.above, "a]b:7");
}

TEST(BadPattern, CaretStaysAlignedBesideWhatIsNotPrintable) {
  const Pointed escaped = pointed(refusal("\x1b\n\x7f[z-a]b"));
  EXPECT_EQ(escaped.above.substr(escaped.above.size() - 2), "]b");
  EXPECT_THAT(escaped.line, Not(HasSubstr("\x1b")));
  EXPECT_THAT(escaped.line, HasSubstr("\\x1b\\x0a\\x7f[z-a]b"));
  EXPECT_EQ(escaped.above, pointed(refusal("[z-a]b")).above);
  EXPECT_EQ(pointed(refusal("\xff\xfe[z-a]b")).above, escaped.above);
}

TEST(BadPattern, CaretCountsCharactersNotBytes) {
  const std::string detail = refusal("äöü[z-a]b");
  EXPECT_EQ(detail.substr(detail.find('\n')), "\n    äöü[z-a]b\n          ^");
}

TEST(BadPattern, LongValuesAreCutAroundTheCaret) {
  const std::string value = std::string(5000, 'a') + "[z-a]" + std::string(5000, 'b');
  const Pointed cut = pointed(refusal(value));
  EXPECT_LT(cut.line.size(), 140U);
  EXPECT_THAT(cut.line, HasSubstr("    ...aaa"));
  EXPECT_THAT(cut.line, HasSubstr("aaa[z-a]bbb"));
  EXPECT_THAT(cut.line, EndsWith("bbb..."));
  EXPECT_THAT(cut.above, testing::StartsWith(pointed(refusal("[z-a]bbb")).above));
}

TEST(BadPattern, VerbsThatWouldMakeNamesFailAreRefused) {
  EXPECT_THAT(refusal("(*UTF)gemm"), HasSubstr("UTF"));
  EXPECT_THAT(refusal("a\\Cb"), HasSubstr("\\C"));
}

TEST(BadPattern, HugePatternsAreRefusedNotCrashedOn) {
  EXPECT_THAT(refusal(std::string(100'000, '(')), HasSubstr("nested"));
  EXPECT_THAT(refusal("(((a{1000}){1000}){1000})"), HasSubstr("too large"));
}

}  // namespace
}  // namespace dlkprof::select::pattern_test
