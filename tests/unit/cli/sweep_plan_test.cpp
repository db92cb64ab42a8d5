#include "cli/sweep/sweep_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "cli/compare/compare_command.h"
#include "support/run_verb.h"

namespace dlkprof::cli::sweep_plan_test {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

using Words = std::vector<std::string>;

std::string complaint_of(const std::string& name, const std::string& values) {
  return test::message_of<UsageError>([&] { (void)parse_parameter(name, values); });
}

std::string complaint_of(const std::vector<Parameter>& parameters, const Words& program) {
  return test::message_of<UsageError>([&] { (void)plan_sweep(parameters, program, "dlkprof"); });
}

// The file name for a value of a parameter `v`.
std::string name_for(const std::string& value) { return plan_sweep({{"v", {value}}}, {"{v}"}, "x").front().base_name; }

std::vector<std::string> numbers(int count) {
  std::vector<std::string> all;
  for (int i = 0; i < count; ++i) all.push_back(std::to_string(i));
  return all;
}

TEST(SweepParameter, ValuesAreSeparatedByCommas) {
  EXPECT_THAT(parse_parameter("n", "4").values, ElementsAre("4"));
  EXPECT_THAT(parse_parameter("n", "4,512, a b").values, ElementsAre("4", "512", " a b"));
  EXPECT_EQ(parse_parameter("batch-size_2.x", "4").name, "batch-size_2.x");
}

TEST(SweepParameter, ABackslashKeepsAComma) {
  EXPECT_THAT(parse_parameter("n", R"(a\,b,c)").values, ElementsAre("a,b", "c"));
  EXPECT_THAT(parse_parameter("n", R"(a\\,b)").values, ElementsAre("a\\", "b"));
  EXPECT_THAT(parse_parameter("n", R"(a\d,\)").values, ElementsAre("a\\d", "\\")) << "others are nothing special";
}

TEST(SweepParameter, MistakesAreUsageErrors) {
  EXPECT_THAT(complaint_of("n", ""), HasSubstr("-L n has no values"));
  for (const char* values : {",", "4,", ",4", "4,,5"}) EXPECT_THAT(complaint_of("n", values), HasSubstr("empty value")) << values;
  EXPECT_THAT(complaint_of("n", "4,5,4"), HasSubstr("the value 4 twice"));
  EXPECT_THAT(complaint_of("n", "\x1b,\x1b"), AllOf(HasSubstr("\\x1b"), Not(HasSubstr("\x1b"))));
  for (const char* name : {"", "a b", "{n}", "n=", "a/b", "\xc3\xa4"}) {
    EXPECT_THAT(complaint_of(name, "1"), HasSubstr("cannot be the name")) << name;
  }
}

TEST(SweepPlan, EveryCombinationTheLastChangingFastest) {
  const auto runs = plan_sweep({{"n", {"4", "512"}}, {"type", {"a", "b"}}}, {"prog", "--n={n}", "{type}"}, "dlkprof");
  ASSERT_THAT(runs, SizeIs(4));
  EXPECT_THAT(runs[0].program, ElementsAre("prog", "--n=4", "a"));
  EXPECT_THAT(runs[1].program, ElementsAre("prog", "--n=4", "b"));
  EXPECT_THAT(runs[2].program, ElementsAre("prog", "--n=512", "a"));
  EXPECT_THAT(runs[3].program, ElementsAre("prog", "--n=512", "b"));
  EXPECT_EQ(runs[1].label, "n=4 type=b");
  EXPECT_EQ(runs[1].base_name, "dlkprof_n-4,type-b");
}

TEST(SweepPlan, ValuesGoWhereverTheyAreNamed) {
  const auto program = [](const Words& words) { return plan_sweep({{"n", {"7"}}, {"nn", {"{n}"}}}, words, "x").front().program; };
  EXPECT_THAT(program({"{n}{n}/{nn}", "{n"}), ElementsAre("77/{n}", "{n")) << "what was put in is not looked at again";
  EXPECT_THAT(program({"{nn}", "{{n}}", "{}", "{m}", "{ n}", "{n}}"}), ElementsAre("{n}", "{7}", "{}", "{m}", "{ n}", "7}"));
  EXPECT_THAT(program({"./bench_{n}", "{nn}", ""}), ElementsAre("./bench_7", "{n}", "")) << "the program's own name, too";
}

TEST(SweepPlan, MistakesAreUsageErrors) {
  EXPECT_THAT(complaint_of({{"n", {"1"}}, {"m", {"1"}}}, {"prog", "{n}", "m"}), HasSubstr("has no {m} for the values of -L m"));
  EXPECT_THAT(complaint_of({{"n", {"{m}"}}, {"m", {"1"}}}, {"prog", "{n}"}), HasSubstr("has no {m}"));
  EXPECT_THAT(complaint_of({{"n", {"1"}}, {"n", {"2"}}}, {"{n}"}), HasSubstr("n is given twice"));
}

TEST(SweepPlan, TakesAsManyRunsAsCanBeCompared) {
  EXPECT_THAT(plan_sweep({{"n", numbers(kMostRuns)}}, {"{n}"}, "x"), SizeIs(kMostRuns));
  EXPECT_THAT(complaint_of({{"n", numbers(kMostRuns + 1)}}, {"{n}"}), HasSubstr("at most 16 runs"));
  EXPECT_THAT(plan_sweep({{"n", numbers(4)}, {"m", numbers(4)}}, {"{n}{m}"}, "x"), SizeIs(16));
  EXPECT_THAT(complaint_of({{"n", numbers(4)}, {"m", numbers(5)}}, {"{n}{m}"}), HasSubstr("at most 16 runs"));
  const std::vector<Parameter> many(70, {"n", numbers(2)});
  std::vector<Parameter> named = many;
  std::string word;
  for (std::size_t i = 0; i < named.size(); ++i) {
    named[i].name += std::to_string(i);
    word += "{" + named[i].name + "}";
  }
  EXPECT_THAT(complaint_of(named, {word}), HasSubstr("at most 16 runs")) << "2^70 of them";
}

TEST(SweepPlan, BatchSizesAreWholeNumbersThatAreCalledSo) {
  const auto first = [](const std::string& name, const Words& values) {
    return plan_sweep({{"x", {"9"}}, {name, values}}, {"{x}{" + name + "}"}, "x").front().batch_size;
  };
  for (const char* name : {"batch_size", "batch-size", "bs"}) EXPECT_EQ(first(name, {"4", "512"}), 4U) << name;
  for (const char* name : {"n", "batch", "BS"}) EXPECT_EQ(first(name, {"4", "512"}), std::nullopt) << name;
  for (const char* other : {"auto", "4k", "1.5", "0", "-4", " 8", "9007199254740993", "99999999999999999999"}) {
    EXPECT_EQ(first("bs", {"4", other}), std::nullopt) << other;
  }
}

TEST(SweepFileNames, AreThoseOfTheValuesWhereTheyMayBe) {
  EXPECT_EQ(name_for("4"), "x_v-4");
  EXPECT_EQ(name_for("1e-3"), "x_v-1e-3");
  EXPECT_EQ(name_for("channels_last"), "x_v-channels_last");
  EXPECT_EQ(name_for("a/b c"), "x_v-a%2Fb%20c");
  EXPECT_EQ(name_for("\x1b[0m\n\xff%"), "x_v-%1B%5B0m%0A%FF%25");
}

// <base_name>_<digits>.dlkcap is the capture of a further process of <base_name>.
TEST(SweepFileNames, AreNotThoseOfFurtherProcesses) {
  EXPECT_EQ(name_for("4_2"), "x_v-4%5F2");
  EXPECT_EQ(name_for("4_"), "x_v-4%5F");
  EXPECT_EQ(name_for("4__2"), "x_v-4%5F%5F2");
}

TEST(SweepFileNames, AreUnique) {
  const Words values{"a/b",  "a_b",  "a%2Fb", "a b", "a+b", "a-b", "A-B", "..",  ".",   "~",
                     "a,b-", "a,v-", "%",     "%%",  "1",   "01",  "1.",  "1.0", "1_0", "1_0_0"};
  std::set<std::string> names;
  for (const std::string& value : values) names.insert(name_for(value));
  EXPECT_THAT(names, SizeIs(values.size()));
  const auto of_two = [](const std::string& a, const std::string& b) {
    return plan_sweep({{"a", {a}}, {"b", {b}}}, {"{a}{b}"}, "x").front().base_name;
  };
  EXPECT_NE(of_two("1,b-2", "3"), of_two("1", "2,b-3"));
}

TEST(SweepFileNames, OfLongValuesAreShortAndUnique) {
  const std::string head(5000, '/');
  const std::string a = name_for(head + "a");
  const std::string b = name_for(head + "b");
  EXPECT_NE(a, b);
  EXPECT_THAT((Words{a, b}), Each(AllOf(StartsWith("x_v-%2F%2F"), SizeIs(testing::Le(130U)))));
  EXPECT_EQ(a, name_for(head + "a")) << "another sweep finds it again";
  EXPECT_THAT(name_for(std::string(100, 'y')), EndsWith("yyy"));
}

}  // namespace
}  // namespace dlkprof::cli::sweep_plan_test
