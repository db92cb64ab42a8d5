#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.h"
#include "base/text.h"
#include "cli/usage/programs.h"
#include "cli/verbs.h"
#include "support/run_verb.h"

namespace dlkprof::cli::help_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string help(std::vector<std::string> words) {
  words.insert(words.begin(), "help");
  return test::run_verb(run_help, words).out;
}

class Help : public testing::TestWithParam<const Verb*> {
 protected:
  void SetUp() override { setenv("COLUMNS", "80", 1); }
  void TearDown() override { unsetenv("COLUMNS"); }
};

std::vector<const Verb*> all_verbs() {
  std::vector<const Verb*> all;
  for (const Verb& verb : verbs()) all.push_back(&verb);
  return all;
}

TEST_P(Help, FitsTheTerminalAndHasNoNoise) {
  const std::string text = help({std::string(GetParam()->name)});
  for (const std::string& line : split(text, '\n')) EXPECT_LE(line.size(), 80) << line;
  for (const char* noise : {"TEXT", "UINT", "FLOAT", "NONNEGATIVE", ":{", "]="}) EXPECT_THAT(text, Not(HasSubstr(noise)));
  EXPECT_THAT(text, StartsWith("Usage:\n  " + std::string(GetParam()->synopsis).substr(0, 7)));
  EXPECT_EQ(text.find("\nExamples:\n") != std::string::npos, !GetParam()->examples.empty());
}

TEST_P(Help, IsThatOfTheVerbItself) {
  const std::string verb(GetParam()->name.empty() ? "dlkprof" : GetParam()->name);
  EXPECT_EQ(help({std::string(GetParam()->name)}), test::run_verb(GetParam()->run, {verb, "--help"}).out);
}

TEST_P(Help, ComesAsAManualPageToo) {
  const std::string page = help({"--man", std::string(GetParam()->name)});
  EXPECT_THAT(page, AllOf(StartsWith(".TH dlkprof"), HasSubstr(".SH SYNOPSIS"), HasSubstr("\\-\\-help")));
  for (const std::string& line : split(page, '\n')) EXPECT_FALSE(line.starts_with('\'')) << line;
}

INSTANTIATE_TEST_SUITE_P(OfEveryVerb, Help, testing::ValuesIn(all_verbs()), [](const auto& verb) {
  return verb.param->name.empty() ? std::string("profile") : std::string(verb.param->name);
});

TEST_F(Help, SaysDefaultsAndChoicesInWords) {
  const std::string text = help({});
  EXPECT_THAT(text, AllOf(HasSubstr("--timeline auto|on|off "), HasSubstr("expert_systems"), HasSubstr("--pc-sampling[=<n>]"),
                          HasSubstr("(default: 1; 3 with --replay-mode iteration)")));
  EXPECT_THAT(text, testing::ContainsRegex("default:[ \n]+the current folder"));
}

TEST_F(Help, IsAsWideAsTheTerminal) {
  setenv("COLUMNS", "60", 1);
  for (const std::string& line : split(help({"compare"}), '\n')) EXPECT_LE(line.size(), 60) << line;
}

TEST_F(Help, NamesTheVerbThatWasMeant) {
  const auto complaint = [](const std::string& word) { return test::message_of<UsageError>([&] { (void)help({word}); }); };
  EXPECT_THAT(complaint("reprot"), HasSubstr("Did you mean dlkprof report?"));
  EXPECT_THAT(complaint("xyzzy"), HasSubstr("there is no verb xyzzy"));
}

TEST(MistypedVerb, IsToldUnlessThereIsSuchAProgram) {
  EXPECT_EQ(meant_by("reprot"), "Did you mean dlkprof report?");
  EXPECT_EQ(meant_by("Report"), "Did you mean dlkprof report?");
  EXPECT_EQ(meant_by("version"), "Did you mean dlkprof --version?");
  EXPECT_EQ(meant_by("python"), "");
  EXPECT_TRUE(is_program("sh"));
  EXPECT_TRUE(is_program("./report"));
  EXPECT_FALSE(is_program("reprot"));
}

}  // namespace
}  // namespace dlkprof::cli::help_test
