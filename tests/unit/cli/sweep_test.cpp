#include "cli/sweep/sweep_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "base/error.h"
#include "cli/verbs.h"
#include "support/run_verb.h"
#include "support/temporary_directory.h"

namespace dlkprof::cli::sweep_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using Words = std::vector<std::string>;

test::VerbResult sweep_of(Words words) {
  words.insert(words.begin(), "sweep");
  return test::run_verb(run_sweep, words);
}

std::string complaint_of(Words options, const Words& program = {"--", "no-such-program", "{n}"}) {
  options.insert(options.end(), program.begin(), program.end());
  return test::message_of<UsageError>([&options] { (void)sweep_of(options); });
}

TEST(Sweep, DryRunPrintsDatabasesAndCommands) {
  const test::VerbResult done = sweep_of(
      {"-L", "n", "4,a b's", "--parameter_list", "word", "x", "--base-name=b", "--dry-run", "prog", "--n={n}", "{word}", "-L"});
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_EQ(done.out,
            "./b_n-4,word-x_dldb.sqlite: prog --n=4 x -L\n"
            "./b_n-a%20b%27s,word-x_dldb.sqlite: prog '--n=a b'\\''s' x -L\n");
  EXPECT_THAT(done.err, IsEmpty());
}

TEST(Sweep, ValuesMayLookLikeOptions) {
  const auto out = [](Words words) {
    words.insert(words.end(), {"--dry-run", "prog", "{n}"});
    return sweep_of(std::move(words)).out;
  };
  EXPECT_THAT(out({"-L", "n", "-1,--force"}), AllOf(HasSubstr("prog -1\n"), HasSubstr("prog --force\n")));
  EXPECT_THAT(out({"--parameter-list=n", "-1,--"}), AllOf(HasSubstr("prog -1\n"), HasSubstr("prog --\n")));
  EXPECT_THAT(out({"-Ln", "[4],5"}), HasSubstr("prog '[4]'\n"));
}

TEST(Sweep, MistakesInListsAreUsageErrors) {
  EXPECT_THAT(complaint_of({}), HasSubstr("nothing to sweep over"));
  EXPECT_THAT(complaint_of({"-L", "n", "1,2"}, {}), HasSubstr("there is no program"));
  EXPECT_THAT(complaint_of({"-L", "n", "1,1"}), HasSubstr("twice"));
  EXPECT_THAT(complaint_of({"-L", "n", ""}), HasSubstr("no values"));
  EXPECT_THAT(complaint_of({"-L", "m", "1,2"}), HasSubstr("has no {m}"));
  EXPECT_THAT(complaint_of({"-L", "n", "1,2", "-L", "n", "3"}), HasSubstr("given twice"));
  EXPECT_THAT(complaint_of({"-L", "n", "1"}), AllOf(HasSubstr("nothing to compare"), HasSubstr("Give two values")));
  EXPECT_THAT(complaint_of({"-L", "n", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17"}), HasSubstr("at most 16"));
  EXPECT_THAT(complaint_of({"-L", "n"}, {}), HasSubstr("--parameter-list needs 2 values"));
}

TEST(Sweep, OptionsAreThoseOfProfilesThatCanBeCompared) {
  const Words list{"-L", "n", "1,2"};
  const auto complaint_with = [&list](const std::string& option) {
    Words words = list;
    words.push_back(option);
    return complaint_of(std::move(words));
  };
  EXPECT_THAT(complaint_with("--timeline=off"), HasSubstr("--timeline off"));
  EXPECT_THAT(complaint_with("--mode=simple"), HasSubstr("simple mode"));
  EXPECT_THAT(complaint_with("--database=x.sqlite"), HasSubstr("no option --database"));
  EXPECT_THAT(complaint_with("--set=basik"), HasSubstr("basic"));
  EXPECT_THAT(complaint_with("--replay-mode=twice"), HasSubstr("--replay-mode"));
  EXPECT_THAT(complaint_with("--compare_formats=table"), HasSubstr("compare_formats"));
  EXPECT_THAT(complaint_with("--format=xml"), HasSubstr("--format"));
  EXPECT_THAT(complaint_with("--labels=a,b"), HasSubstr("no option --labels"));
}

// A launcher that starts it once a rank would have each of them sweep.
TEST(Sweep, IsNotStartedByRanksThatAreNotProfiled) {
  const auto dry_run = [](const std::string& ranks) {
    return sweep_of({"-L", "n", "1,2", "--ranks", ranks, "--dry-run", "prog", "{n}"}).exit_code;
  };
  setenv("RANK", "3", 1);
  EXPECT_THAT(complaint_of({"-L", "n", "1,2", "--ranks=0"}),
              AllOf(HasSubstr("started once, not by each rank"), HasSubstr("rank 3"), HasSubstr("-- mpirun")));
  EXPECT_EQ(dry_run("0,3"), 0);
  unsetenv("RANK");
  EXPECT_EQ(dry_run("0"), 0);
}

TEST(Sweep, WhatIsNotOfTheSweepIsNotResumed) {
  const test::TemporaryDirectory folder;
  std::ofstream(folder.path() / "dlkprof_n-2_dldb.sqlite") << "something else";
  const std::string path = "--output_path=" + folder.path().string();
  EXPECT_THAT(complaint_of({"-L", "n", "1,2", "--resume", path}),
              AllOf(HasSubstr("dlkprof_n-2 were not made by this command"), HasSubstr("--force")));
  const test::VerbResult forced = sweep_of({"-L", "n", "1,2", "--resume", "--force", "--dry-run", path, "prog", "{n}"});
  EXPECT_THAT(forced.out, Not(HasSubstr("is there already")));
}

TEST(Sweep, HelpNamesWhatItTakes) {
  const test::VerbResult done = sweep_of({"--help"});
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_THAT(done.out,
              AllOf(HasSubstr("-L, --parameter-list <name> <value,value>"), HasSubstr("--resume"), HasSubstr("--compare_formats"),
                    HasSubstr("--kernel-id"), HasSubstr("--output_path"), Not(HasSubstr("--database"))));
}

}  // namespace
}  // namespace dlkprof::cli::sweep_test
