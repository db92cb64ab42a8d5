#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "cli/analysis.h"
#include "cli/compare/compare_command.h"
#include "cli/verbs.h"
#include "store/database.h"
#include "support/made_up_run.h"
#include "support/run_verb.h"
#include "support/temporary_directory.h"

namespace dlkprof::cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class CompareTest : public testing::Test {
 protected:
  static test::VerbResult compare(std::vector<std::string> words) {
    words.insert(words.begin(), "compare");
    return test::run_verb(run_compare, words);
  }
  static std::string usage_error(std::vector<std::string> words) {
    return test::message_of<UsageError>([&] { (void)compare(std::move(words)); });
  }
  static json tables(std::vector<std::string> words) {
    words.emplace_back("--format=json");
    return json::parse(compare(std::move(words)).out)["tables"];
  }
  [[nodiscard]] std::filesystem::path in(const std::string& name) const { return folder_.path() / name; }
  [[nodiscard]] std::string capture(const std::string& name, std::uint32_t iterations = 12, std::uint32_t seed = 1) const {
    const test::MadeUpRun run{.iterations = iterations, .launches = 20, .ranges = 100, .seed = seed};
    return test::write_made_up_run(folder_.path(), run, name).string();
  }
  [[nodiscard]] std::string database(const std::string& capture, const model::IterationRange& range = {}) const {
    const model::Profile made = analyse(model::load_timeline(std::vector<std::filesystem::path>{capture}), {.range = range});
    const auto path = in(std::filesystem::path(capture).stem().string() + "_dldb.sqlite");
    store::write_database(path, made);
    return path.string();
  }

  test::TemporaryDirectory folder_;
};

TEST_F(CompareTest, CapturesAndDatabasesCompareAlike) {
  const std::string a = capture("a");
  const std::string b = capture("b", 15, 2);
  const json of_captures = tables({a, b});
  EXPECT_EQ(of_captures, tables({database(a), database(b)}));
  EXPECT_EQ(of_captures["runs"]["rows"][0]["Run"], "a");
  EXPECT_EQ(of_captures["runs"]["rows"][1]["Iterations"], 14);
  EXPECT_GT(of_captures["ops"]["rows"].size(), 3U);
}

TEST_F(CompareTest, ADatabaseFoldsAnewWhereAKeyNodeIsAskedFor) {
  const std::string a = capture("a");
  const std::string stored = database(a);
  const std::string key_node = tables({a, a})["runs"]["rows"][0]["Key Node"];
  const json anew = tables({stored, a, "--key_node=" + key_node});
  EXPECT_EQ(anew["runs"]["rows"][0]["Iteration Time (ns)"], anew["runs"]["rows"][1]["Iteration Time (ns)"]);
  EXPECT_THAT(usage_error({stored, a, "--key_node=nonsense"}), HasSubstr("nonsense"));
}

TEST_F(CompareTest, IterationsAreThoseAggregatedOrAskedFor) {
  const std::string a = capture("a");
  const std::string stored = database(a, {2, 6});
  EXPECT_EQ(tables({stored, a})["runs"]["rows"][0]["First Iteration"], 2);
  EXPECT_EQ(tables({stored, a})["runs"]["rows"][0]["Last Iteration"], 6);
  const json asked_for = tables({stored, a, "--iter_start=3", "--iter-stop=9"});
  for (const json& row : asked_for["runs"]["rows"]) {
    EXPECT_EQ(row["First Iteration"], 3);
    EXPECT_EQ(row["Last Iteration"], 9);
  }
  EXPECT_THAT(usage_error({stored, a, "--iter_start=13"}), AllOf(HasSubstr("has no iteration 13"), HasSubstr("0 to 12")));
  EXPECT_THAT(usage_error({stored, a, "--iter_start=4", "--iter_stop=3"}), HasSubstr("is before"));
}

TEST_F(CompareTest, TheSameFileTwiceIsNoChange) {
  const std::string a = capture("a");
  const json made = tables({a, a});
  EXPECT_EQ(made["runs"]["rows"][1]["Run"], "a (2)");
  for (const json& row : made["ops"]["rows"]) {
    EXPECT_EQ(row["Verdict"], "no change") << row;
    EXPECT_EQ(row["In"], "both");
  }
}

TEST_F(CompareTest, LabelsAndBatchSizesAreThoseGiven) {
  const std::string a = capture("a");
  const json rows = tables({a, a, "--labels=small,large", "--batch_sizes=4,8"})["runs"]["rows"];
  EXPECT_EQ(rows[0]["Run"], "small");
  EXPECT_EQ(rows[1]["Run"], "large");
  EXPECT_EQ(rows[1]["Batch Size"], 8);
  EXPECT_DOUBLE_EQ(rows[1]["Throughput (sample/s)"].get<double>(), 8e9 / rows[1]["Iteration Time (ns)"].get<double>());
}

TEST_F(CompareTest, TakesTwoToSixteenRuns) {
  const std::string a = capture("a");
  EXPECT_THAT(usage_error({a}), HasSubstr("2 to 16 runs, and was given 1"));
  EXPECT_THAT(usage_error({}), HasSubstr("runs"));
  EXPECT_EQ(tables(std::vector<std::string>(16, a))["runs"]["rows"].size(), 16U);
  EXPECT_THAT(usage_error(std::vector<std::string>(17, a)), HasSubstr("was given 17"));
}

TEST_F(CompareTest, BadOptionsAreUsageErrors) {
  const std::string a = capture("a");
  EXPECT_THAT(usage_error({a, a, "--labels=one"}), HasSubstr("--labels has 1 values for 2 runs"));
  EXPECT_THAT(usage_error({a, a, "--batch_sizes=1,2,3"}), HasSubstr("--batch_sizes has 3 values for 2 runs"));
  EXPECT_THAT(usage_error({a, a, "--batch_sizes=0,2"}), HasSubstr("batch_sizes"));
  EXPECT_THAT(usage_error({a, a, "--batch_sizes=x,2"}), HasSubstr("batch_sizes"));
  EXPECT_THAT(usage_error({a, a, "--format=xml"}), HasSubstr("format"));
  EXPECT_THAT(usage_error({a, a, "--formats=table"}), HasSubstr("formats"));
  EXPECT_THAT(usage_error({a, a, "--mode=simple"}), HasSubstr("simple mode has neither ops nor iterations"));
  EXPECT_THAT(usage_error({a, a, "--base_name=x/y"}), HasSubstr("cannot begin the name of a file"));
  EXPECT_THAT(usage_error({a, a, "--labels=x,x"}), HasSubstr("--labels: two runs are called x"));
  EXPECT_THAT(usage_error({a, a, "--sideways"}), HasSubstr("there is no option --sideways"));
}

TEST_F(CompareTest, WhatIsNoRunIsAnError) {
  const std::string a = capture("a");
  std::ofstream(in("text.dlkcap")) << "no capture";
  EXPECT_THROW((void)compare({a, in("text.dlkcap").string()}), Error);
  EXPECT_THROW((void)compare({a, in("nowhere").string()}), Error);
  std::filesystem::create_directory(in("empty"));
  EXPECT_THAT(usage_error({a, in("empty").string()}), HasSubstr("there are no captures dlkprof*.dlkcap"));
}

TEST_F(CompareTest, AFolderIsARun) {
  const std::string a = capture("a");
  std::filesystem::create_directory(in("run"));
  std::filesystem::copy_file(a, in("run/a.dlkcap"));
  const json rows = tables({a, in("run").string(), "--base_name=a"})["runs"]["rows"];
  EXPECT_EQ(rows[1]["Run"], "run");
  EXPECT_EQ(rows[0]["Iteration Time (ns)"], rows[1]["Iteration Time (ns)"]);
}

TEST_F(CompareTest, WritesFiles) {
  const std::string a = capture("a");
  const std::vector<std::string> words{a, a, "--formats=csv,json", "--output_path=" + in("out").string(), "--base_name=x"};
  const test::VerbResult done = compare(words);
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_THAT(done.out, IsEmpty());
  EXPECT_EQ(read_file(in("out/x_compare.csv")), compare({a, a, "--format=csv"}).out);
  EXPECT_EQ(read_file(in("out/x_compare.json")), compare({a, a, "--format=json"}).out);
  EXPECT_THAT(done.err, HasSubstr("wrote"));
  struct stat status {};
  ASSERT_EQ(stat(in("out/x_compare.csv").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  EXPECT_THAT(usage_error(words), AllOf(HasSubstr("is there already"), HasSubstr("--force")));
  auto forced = words;
  forced.emplace_back("-f");
  EXPECT_EQ(compare(forced).exit_code, 0);
}

TEST_F(CompareTest, AFolderAloneGetsCsv) {
  const std::string a = capture("a");
  EXPECT_EQ(compare({a, a, "--output_path=" + in("out").string()}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(in("out/dlkprof_compare.csv")));
}

TEST_F(CompareTest, RunsWithoutIterationsAreComparedAsAWhole) {
  const std::string a = capture("a", 1);
  const test::VerbResult done = compare({a, a});
  EXPECT_THAT(done.out, HasSubstr("no whole iterations were found"));
  EXPECT_EQ(tables({a, a})["runs"]["rows"][0]["Iterations"], 0);
}

TEST_F(CompareTest, SaysWhatIsWrongWithARun) {
  const std::string a = capture("a");
  const std::string b = capture("b");
  std::filesystem::resize_file(b, std::filesystem::file_size(b) - 5);
  const test::VerbResult done = compare({a, b, "--format=json"});
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_THAT(done.err, AllOf(HasSubstr("b.dlkcap: The capture ends in the middle of a record"), Not(HasSubstr("a.dlkcap"))));
  EXPECT_TRUE(json::accept(done.out));
}

TEST_F(CompareTest, HelpNamesWhatItTakes) {
  const test::VerbResult done = compare({"--help"});
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_THAT(done.out, AllOf(HasSubstr("--batch_sizes"), HasSubstr("--labels"), HasSubstr("--format"), HasSubstr("--key_node")));
}

}  // namespace
}  // namespace dlkprof::cli
