#include "select/nvtx_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"

namespace dlkprof::select::nvtx_filter_test {
namespace {

using testing::HasSubstr;
using Names = std::vector<std::string_view>;
using Kind = NvtxItem::Kind;

NvtxExpression parse(std::string_view value) { return parse_nvtx("--nvtx-include", value); }
NvtxItem item(const std::string& name) { return {.kind = Kind::name, .name = {name, false}}; }

std::string refusal(std::string_view value) {
  try {
    (void)parse(value);
  } catch (const UsageError& error) {
    return error.message();
  }
  return "";
}

// --- What is said -----------------------------------------------------------------------------------------------------

TEST(NvtxExpression, ANameAloneIsStartedAndEnded) {
  EXPECT_EQ(parse("epoch"), (NvtxExpression{.items = {item("epoch")}}));
  EXPECT_EQ(parse("a,b"), (NvtxExpression{.items = {item("a"), item("b")}}));
}

TEST(NvtxExpression, ASlashOrABracketMeansPushedAndPopped) {
  EXPECT_EQ(parse("forward/"), (NvtxExpression{.push_pop = true, .items = {item("forward")}}));
  EXPECT_EQ(parse("[a"), (NvtxExpression{.push_pop = true, .from_bottom = true, .items = {item("a")}}));
  EXPECT_EQ(parse("z]"), (NvtxExpression{.push_pop = true, .to_top = true, .items = {item("z")}}));
  EXPECT_EQ(parse("[a/+/*/z]"), (NvtxExpression{.push_pop = true,
                                                .from_bottom = true,
                                                .to_top = true,
                                                .items = {item("a"), {.kind = Kind::one}, {.kind = Kind::any}, item("z")}}));
}

TEST(NvtxExpression, ADomainStandsBeforeAll) {
  EXPECT_EQ(parse("net@a/b"),
            (NvtxExpression{.domain = NvtxName{"net", false}, .push_pop = true, .items = {item("a"), item("b")}}));
  EXPECT_EQ(parse("regex:^n@regex:a|b"),
            (NvtxExpression{.domain = NvtxName{"^n", true}, .items = {{.kind = Kind::name, .name = {"a|b", true}}}}));
}

TEST(NvtxExpression, ABackslashTakesTheMeaningAway) {
  EXPECT_EQ(parse(R"(f\(a\, b\)\[0\])").items, (std::vector{item(R"(f\(a, b\)[0])")}));
  EXPECT_EQ(parse(R"(user\@host)"), (NvtxExpression{.items = {item("user@host")}}));
  EXPECT_EQ(parse(R"(a\/b/)"), (NvtxExpression{.push_pop = true, .items = {item("a/b")}}));
  EXPECT_EQ(parse(R"(\*/)"), (NvtxExpression{.push_pop = true, .items = {item("*")}}));
  EXPECT_EQ(parse(R"(regex:\d+/)").items.front().name, (NvtxName{R"(\d+)", true}));
}

TEST(NvtxExpression, WhatIsEscapedIsTheNameAgain) {
  const std::string name = R"(aten::mm, sizes = [[4, 3], []] a/b user@host *+ \d)";
  EXPECT_EQ(parse(escape_nvtx(name) + "/").items, (std::vector{item(name)}));
}

TEST(NvtxExpression, WhatCannotBeReadIsShownWithItsPlace) {
  EXPECT_THAT(refusal(""), HasSubstr("no name of a range"));
  EXPECT_THAT(refusal("/"), HasSubstr("no name of a range"));
  EXPECT_THAT(refusal("a//b"), HasSubstr("a//b\n      ^"));
  EXPECT_THAT(refusal("@a"), HasSubstr("no name of a domain"));
  EXPECT_THAT(refusal("x@y@z"), HasSubstr("x@y@z\n       ^"));
  EXPECT_THAT(refusal("a/b,c"), HasSubstr("a comma joins"));
  EXPECT_THAT(refusal("regex:/"), HasSubstr("no name of a range"));
  EXPECT_THROW(NvtxFilter({.nvtx_include = {"regex:(/"}}), UsageError);
}

// --- What it takes ----------------------------------------------------------------------------------------------------

bool takes(const std::vector<std::string>& include, const OpenNvtxRanges& open, const std::vector<std::string>& exclude = {}) {
  return NvtxFilter({.nvtx_include = include, .nvtx_exclude = exclude}).takes({&open, 1});
}
bool takes_pushed(const std::string& include, const Names& pushed) {
  return takes({include}, {.domain = "", .pushed = pushed, .started = {}});
}

TEST(NvtxFilter, PushedRangesAreAdjacent) {
  EXPECT_TRUE(takes_pushed("b/", {"a", "b", "c"}));
  EXPECT_FALSE(takes_pushed("d/", {"a", "b", "c"}));
  EXPECT_FALSE(takes_pushed("b", {"a", "b", "c"}));  // that is one which is started
  EXPECT_TRUE(takes_pushed("a/b", {"a", "b", "c"}));
  EXPECT_FALSE(takes_pushed("a/c", {"a", "b", "c"}));
  EXPECT_FALSE(takes_pushed("b/a", {"a", "b", "c"}));
}

TEST(NvtxFilter, BracketsAreTheEndsOfTheStack) {
  EXPECT_TRUE(takes_pushed("[a", {"a", "b"}));
  EXPECT_FALSE(takes_pushed("[b", {"a", "b"}));
  EXPECT_TRUE(takes_pushed("b]", {"a", "b"}));
  EXPECT_FALSE(takes_pushed("a]", {"a", "b"}));
  EXPECT_TRUE(takes_pushed("[a/b]", {"a", "b"}));
  EXPECT_FALSE(takes_pushed("[a/b]", {"a", "b", "c"}));
}

TEST(NvtxFilter, QuantifiersStandForRanges) {
  EXPECT_TRUE(takes_pushed("a/+/c", {"a", "b", "c"}));
  EXPECT_FALSE(takes_pushed("a/+/c", {"a", "c"}));
  EXPECT_FALSE(takes_pushed("a/+/c", {"a", "b", "b", "c"}));
  EXPECT_TRUE(takes_pushed("a/*/c", {"a", "c"}));
  EXPECT_TRUE(takes_pushed("[a/*/c]", {"a", "b", "b", "c"}));
  EXPECT_FALSE(takes_pushed("[a/*/c]", {"b", "a", "c"}));
  EXPECT_TRUE(takes_pushed("a/*/c/*/e]", {"a", "b", "c", "a", "c", "d", "e"}));
}

TEST(NvtxFilter, StartedRangesAreOpenTogetherInAnyOrder) {
  const OpenNvtxRanges open{.domain = "", .pushed = {"x"}, .started = {"b", "a"}};
  EXPECT_TRUE(takes({"a"}, open));
  EXPECT_TRUE(takes({"a,b"}, open));
  EXPECT_FALSE(takes({"a,c"}, open));
  EXPECT_FALSE(takes({"x"}, open));
}

TEST(NvtxFilter, OneOfTheIncludedAndNoneOfTheExcluded) {
  const OpenNvtxRanges open{.domain = "", .pushed = {"a", "b"}, .started = {"s"}};
  EXPECT_TRUE(takes({"z/", "b/"}, open));
  EXPECT_FALSE(takes({"b/"}, open, {"s"}));
  EXPECT_TRUE(takes({}, open, {"z/"}));
  EXPECT_FALSE(takes({}, open, {"z/", "[a"}));
}

TEST(NvtxFilter, DomainsHaveRangesOfTheirOwn) {
  const OpenNvtxRanges open{.domain = "net", .pushed = {"a"}, .started = {}};
  EXPECT_FALSE(takes({"a/"}, open));
  EXPECT_TRUE(takes({"net@a/"}, open));
  EXPECT_TRUE(takes({"regex:^n@regex:A|a/"}, open));
  EXPECT_FALSE(takes({"other@a/"}, open));
}

TEST(NvtxFilter, NearNamesAreOfAnotherKindOrCase) {
  NvtxFilter filter({.nvtx_include = {"net@forward"}});
  EXPECT_TRUE(filter.is_near("forward"));
  EXPECT_TRUE(filter.is_near("Model.Forward"));
  EXPECT_FALSE(filter.is_near("backward"));
}

TEST(NvtxFilter, SaysWhereAPatternWentTooFar) {
  NvtxFilter filter({.nvtx_include = {"regex:^(a+)+$/"}});
  const std::string name = std::string(100'000, 'a') + '!';
  const OpenNvtxRanges open{.domain = "", .pushed = {name}, .started = {}};
  EXPECT_FALSE(filter.takes({&open, 1}));
  EXPECT_TRUE(filter.limit_exceeded());
}

}  // namespace
}  // namespace dlkprof::select::nvtx_filter_test
