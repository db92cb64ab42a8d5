#include "select/kernel_id.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "base/error.h"

namespace dlkprof::select::kernel_id_test {
namespace {

struct Split {
  std::string value, context, stream, name;
  bool is_pattern;
  std::string invocation;
};
void PrintTo(const Split& split, std::ostream* out) { *out << split.value; }

class KernelIdSplit : public testing::TestWithParam<Split> {};

TEST_P(KernelIdSplit, GivesTheFields) {
  const Split& expected = GetParam();
  const KernelId id = split_kernel_id(expected.value);
  EXPECT_EQ(id.context, expected.context);
  EXPECT_EQ(id.stream, expected.stream);
  EXPECT_EQ(id.name.text, expected.name);
  EXPECT_EQ(id.name.is_pattern, expected.is_pattern);
  EXPECT_EQ(id.invocation, expected.invocation);
}

INSTANTIATE_TEST_SUITE_P(Grammar, KernelIdSplit,
                         testing::Values(Split{":::", "", "", "", false, ""},                                       //
                                         Split{"::foo:2", "", "", "foo", false, "2"},                               //
                                         Split{"::foo:", "", "", "foo", false, ""},                                 //
                                         Split{":::.*5|3", "", "", "", false, ".*5|3"},                             //
                                         Split{"::regex:^.*foo$:", "", "", "^.*foo$", true, ""},                    //
                                         Split{"::regex:^(?!foo):", "", "", "^(?!foo)", true, ""},                  //
                                         Split{"1|5:2::7", "1|5", "2", "", false, "7"},                             //
                                         Split{"::regex:gemm:", "", "", "gemm", true, ""},                          //
                                         Split{"1:2:_Foobar:7", "1", "2", "_Foobar", false, "7"},                   //
                                         Split{"main:copy:foo:", "main", "copy", "foo", false, ""},                 //
                                         Split{"::ns::foo:2", "", "", "ns::foo", false, "2"},                       //
                                         Split{"::a::b<c::d>:", "", "", "a::b<c::d>", false, ""},                   //
                                         Split{"::regex:(?:a|b):3|4", "", "", "(?:a|b)", true, "3|4"},              //
                                         Split{"::regex:cutlass::Kernel2:", "", "", "cutlass::Kernel2", true, ""},  //
                                         Split{"::regex::", "", "", "", true, ""},                                  //
                                         Split{"::regex::2", "", "", "", true, "2"},                                //
                                         Split{"::regex:regex::", "", "", "regex:", true, ""},                      //
                                         Split{"::Regex:foo:", "", "", "Regex:foo", false, ""},                     //
                                         Split{"::glob:foo:", "", "", "glob:foo", false, ""},                       //
                                         Split{":: regex:foo:", "", "", " regex:foo", false, ""},                   //
                                         Split{"::::", "", "", ":", false, ""}));

class KernelIdTooShort : public testing::TestWithParam<const char*> {};

TEST_P(KernelIdTooShort, IsRefusedWithAnExample) {
  try {
    (void)split_kernel_id(GetParam());
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.message(), testing::HasSubstr(std::string("--kernel-id ") + GetParam()));
    EXPECT_THAT(error.remedy(), testing::HasSubstr("--kernel-id ::regex:gemm:"));
    EXPECT_THAT(error.remedy(), testing::HasSubstr("--kernel-id ::foo:2"));
  }
}

INSTANTIATE_TEST_SUITE_P(Grammar, KernelIdTooShort,
                         testing::Values("", "gemm", ":", "foo:2", "::", "::foo", "1:2:foo", "regex:gemm", "::regex:gemm",
                                         "::regex:", "::regex:2"));

TEST(KernelId, ShowsHostileTextMadePrintable) {
  try {
    (void)split_kernel_id("\x1b[2Jfoo\n");
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.message(), testing::HasSubstr("\\x1b[2Jfoo\\x0a"));
    EXPECT_THAT(error.message(), testing::Not(testing::HasSubstr("\x1b")));
  }
}

TEST(NameField, RegexPrefixMakesAPattern) {
  EXPECT_TRUE(split_name("regex:foo|bar").is_pattern);
  EXPECT_EQ(split_name("regex:foo|bar").text, "foo|bar");
  EXPECT_EQ(split_name("regex:").text, "");
  EXPECT_FALSE(split_name("regex").is_pattern);
  EXPECT_FALSE(split_name("foo.*").is_pattern);
  EXPECT_EQ(split_name("ns::foo").text, "ns::foo");
}

}  // namespace
}  // namespace dlkprof::select::kernel_id_test
