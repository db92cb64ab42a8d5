#include "select/filters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace dlkprof::select::filters_test {
namespace {

const KernelNames kCutlass{"Kernel2", "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm>(Params)",
                           "_ZN7cutlass7Kernel2I28cutlass_80_tensorop_s1688gemmEEvNT_6ParamsE"};

NameMatch match(const std::string& field, const KernelNames& names, NameBase base = &KernelNames::function) {
  return NameFilter("--kernel-name", field, split_name(field)).match(names, base);
}

TEST(NameFilter, PlainIsTheWholeNameAndAPatternAPartOfIt) {
  const KernelNames names{"ampere_sgemm_64", "void ampere_sgemm_64()", "_Z15ampere_sgemm_64v"};
  EXPECT_EQ(match("ampere_sgemm_64", names), NameMatch::yes);
  EXPECT_EQ(match("sgemm", names), NameMatch::no);
  EXPECT_EQ(match("AMPERE_SGEMM_64", names), NameMatch::no);
  EXPECT_EQ(match("ampere_sgemm_..", names), NameMatch::no) << "no pattern without regex:";
  EXPECT_EQ(match("regex:sgemm", names), NameMatch::yes);
  EXPECT_EQ(match("regex:^sgemm", names), NameMatch::no);
}

TEST(NameFilter, OtherFormsOfTheNameAreNear) {
  EXPECT_EQ(match("regex:gemm", kCutlass), NameMatch::near);
  EXPECT_EQ(match("regex:^_ZN7cutlass", kCutlass), NameMatch::near) << "the mangled form too";
  EXPECT_EQ(match("regex:gemm", kCutlass, &KernelNames::demangled), NameMatch::yes);
  EXPECT_EQ(match("regex:gemm", kCutlass, &KernelNames::mangled), NameMatch::yes);
  EXPECT_EQ(match("regex:^Kernel2$", kCutlass, &KernelNames::mangled), NameMatch::near);
  EXPECT_EQ(match(kCutlass.mangled, kCutlass), NameMatch::near) << "the base was forgotten";
  EXPECT_EQ(match("regex:GEMM", kCutlass), NameMatch::no) << "another case is another name";
  EXPECT_EQ(match("regex:nvjet", kCutlass), NameMatch::no);
}

TEST(NameFilter, WhatExcludesANameIsNotNear) {
  const KernelNames foo{"foo", "foo(int)", "_Z3fooi"};
  EXPECT_EQ(match("regex:^(?!foo)", foo), NameMatch::no);
  EXPECT_EQ(match("regex:^(?!foo).*$", foo), NameMatch::no);
  EXPECT_EQ(match("regex:^(?!foo)", kCutlass), NameMatch::yes);
}

TEST(NameBase, KnowsItsWords) {
  EXPECT_EQ(parse_name_base("function"), &KernelNames::function);
  EXPECT_EQ(parse_name_base("demangled"), &KernelNames::demangled);
  EXPECT_EQ(parse_name_base("mangled"), &KernelNames::mangled);
  for (const char* word : {"", "Function", "functions", "demangle\n"}) EXPECT_THROW((void)parse_name_base(word), UsageError);
}

NumberFilter number_filter(const std::string& text) { return NumberFilter({"--kernel-id", text, text}); }

TEST(NumberFilter, EmptyMatchesAll) {
  NumberFilter all = number_filter("");
  EXPECT_TRUE(all.matches_all());
  EXPECT_FALSE(all.is_pattern());
  EXPECT_TRUE(all.matches(0));
  EXPECT_TRUE(all.matches(7, "name"));
}

TEST(NumberFilter, PositiveNumberIsStrict) {
  NumberFilter seven = number_filter("7");
  EXPECT_FALSE(seven.is_pattern());
  EXPECT_FALSE(seven.matches_all());
  EXPECT_TRUE(seven.matches(7));
  EXPECT_FALSE(seven.matches(17));
  EXPECT_FALSE(seven.matches(8, "7")) << "a name does not count";
  EXPECT_TRUE(number_filter("007").matches(7));
  EXPECT_TRUE(number_filter("18446744073709551615").matches(UINT64_MAX));
}

TEST(NumberFilter, PatternMatchesAllOfTheNumberOrOfTheName) {
  NumberFilter one_or_five = number_filter("1|5");
  EXPECT_TRUE(one_or_five.is_pattern());
  EXPECT_TRUE(one_or_five.matches(1));
  EXPECT_TRUE(one_or_five.matches(5, "trainer"));
  EXPECT_FALSE(one_or_five.matches(15));
  EXPECT_FALSE(one_or_five.matches(51));
  NumberFilter copies = number_filter("copy.*");
  EXPECT_TRUE(copies.matches(3, "copy_in"));
  EXPECT_FALSE(copies.matches(3, "my_copy"));
  EXPECT_FALSE(copies.matches(3)) << "a name that was not given never matches";
  EXPECT_FALSE(number_filter("(copy)?").matches(3)) << "nor is it an empty one";
}

TEST(NumberFilter, WhatIsNoPositiveNumberIsAPattern) {
  EXPECT_TRUE(number_filter("0").is_pattern());
  EXPECT_TRUE(number_filter("0").matches(0));
  EXPECT_FALSE(number_filter("0").matches(10));
  EXPECT_TRUE(number_filter("-1").is_pattern());
  EXPECT_TRUE(number_filter("99999999999999999999999").is_pattern());
  EXPECT_FALSE(number_filter("99999999999999999999999").matches(UINT64_MAX));
  EXPECT_THROW((void)number_filter("(1"), UsageError);
  EXPECT_THROW((void)number_filter("+1"), UsageError);
}

TEST(Filters, RememberALimit) {
  const std::string evil = "(a+)+$";
  const std::string name = std::string(64, 'a') + "!";
  NumberFilter stream = number_filter(evil);
  EXPECT_FALSE(stream.matches(1));
  EXPECT_FALSE(stream.limit_exceeded());
  EXPECT_FALSE(stream.matches(1, name));
  EXPECT_TRUE(stream.limit_exceeded());
  const std::string field = "regex:" + evil;
  NameFilter filter("--kernel-name", field, split_name(field));
  EXPECT_FALSE(filter.limit_exceeded());
  EXPECT_EQ(filter.match({name, name, name}, &KernelNames::function), NameMatch::no);
  EXPECT_TRUE(filter.limit_exceeded());
}

}  // namespace
}  // namespace dlkprof::select::filters_test
