// Reports of ops, from captures with events and from databases.
#include "cli/report_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/verbs.h"
#include "store/database.h"
#include "support/made_up_run.h"
#include "support/run_verb.h"
#include "support/sample_capture.h"
#include "support/temporary_directory.h"

namespace dlkprof::cli::report_command_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::uint32_t kIterations = 4;

class ReportCommandTest : public testing::Test {
 protected:
  static test::VerbResult report(const std::filesystem::path& file, std::vector<std::string> options) {
    options.insert(options.begin(), {"report", file.string()});
    return test::run_verb(run_report, options);
  }
  // `dlkprof --database=<file> <options>`
  static test::VerbResult fold_again(const std::filesystem::path& file, std::vector<std::string> options) {
    options.insert(options.begin(), {"dlkprof", "--database=" + file.string()});
    return test::run_verb(run_profile, options);
  }
  static nlohmann::json rows(const std::filesystem::path& file, const std::string& name) {
    return nlohmann::json::parse(report(file, {"--format=json", "--reports=" + name}).out)["rows"];
  }
  static std::int64_t sum(const nlohmann::json& rows, const std::string& column) {
    std::int64_t all = 0;
    for (const auto& row : rows) all += row[column].is_null() ? 0 : row[column].get<std::int64_t>();
    return all;
  }
  std::filesystem::path write_database() {
    const model::Profile profile = analyse(model::load_timeline(std::vector{capture_}), {});
    const auto path = folder_.path() / "run_dldb.sqlite";
    store::write_database(path, profile);
    return path;
  }

  test::TemporaryDirectory folder_;
  std::filesystem::path capture_ =
      test::write_made_up_run(folder_.path(), {.iterations = kIterations, .launches = 20, .ranges = 100}, "run");
};

TEST_F(ReportCommandTest, SumsOfReportsAgree) {
  const std::int64_t detail = sum(rows(capture_, "detail"), "Total GPU Time (ns)");
  EXPECT_GT(detail, 0);
  EXPECT_EQ(sum(rows(capture_, "op_type"), "Total GPU Time (ns)"), detail);
  EXPECT_EQ(sum(rows(capture_, "kernel"), "Total GPU Time (ns)"), detail);
  EXPECT_EQ(sum(rows(capture_, "iteration"), "GPU Time (ns)"), detail);
}

TEST_F(ReportCommandTest, NoLaunchIsTimedTwice) {
  const auto summary = nlohmann::json::parse(report(capture_, {"--format=json", "--reports=summary"}).out);
  const auto& coverage = summary["tables"]["Coverage"];
  EXPECT_EQ(coverage["timed"].get<int>() + coverage["measured"].get<int>(), coverage["launches"].get<int>());
}

TEST_F(ReportCommandTest, ADatabaseSaysWhatTheCaptureSays) {
  const auto database = write_database();
  for (const char* name : {"detail", "iteration", "kernel", "tensor", "op_type", "group_node"}) {
    EXPECT_EQ(rows(database, name), rows(capture_, name)) << name;
  }
}

TEST_F(ReportCommandTest, OnATerminalBeginsWithTheModel) {
  const test::VerbResult of_capture = report(capture_, {"--reports=summary"});
  EXPECT_THAT(of_capture.out, HasSubstr("Wall Clock Time "));
  EXPECT_THAT(of_capture.out, HasSubstr("Kernels Using TC"));
  EXPECT_THAT(of_capture.out, HasSubstr("Launches "));
  const test::VerbResult of_database = report(write_database(), {"--reports=summary"});
  EXPECT_THAT(of_database.out, HasSubstr("Total Iterations"));
  EXPECT_THAT(of_database.err, IsEmpty());
}

TEST_F(ReportCommandTest, MetricsThatCannotBeShownAreTold) {
  const auto capture = test::write_capture(folder_.path(), test::sample_records(), "measured");
  const std::string missing = "lts__t_sectors_op_read.sum";
  const auto ask = [&](const std::string& metrics) {
    return report(capture, {"--reports=metrics", "--format=csv", "--metrics=" + metrics});
  };
  EXPECT_THAT(test::message_of<Error>([&] { (void)ask(missing); }), HasSubstr("Profile with --metrics " + missing));
  const test::VerbResult some = ask("gpu__time_duration.sum," + missing);
  EXPECT_THAT(some.err, HasSubstr(missing + " was not measured in this run"));
  EXPECT_THAT(some.out, HasSubstr("gpu__time_duration.sum"));
  EXPECT_THAT(test::message_of<UsageError>([&] { (void)ask("gpu__time_duratoin.sum"); }),
              HasSubstr("Did you mean gpu__time_duration"));
}

TEST_F(ReportCommandTest, SectionsThatNothingWasMeasuredOfAreToldOnce) {
  const auto capture = test::write_capture(folder_.path(), test::sample_records(), "measured");
  const test::VerbResult result = report(capture, {"--reports=kernels", "--section=scheduler,tensor"});
  const std::string told = "collect it with dlkprof --section scheduler,tensor";
  const std::size_t at = result.err.find(told);
  ASSERT_NE(at, std::string::npos) << result.err;
  EXPECT_EQ(result.err.find(told, at + 1), std::string::npos);
  EXPECT_THAT(result.out, Not(HasSubstr("Nothing of the sections")));
}

TEST_F(ReportCommandTest, SectionsAreOfOneReport) {
  const auto capture = test::write_capture(folder_.path(), test::sample_records(), "measured");
  const auto tables = [&](std::vector<std::string> options) {
    const std::string out = report(capture, std::move(options)).out;
    std::size_t count = 0;
    for (std::size_t at = out.find("  grid ("); at != std::string::npos; at = out.find("  grid (", at + 1)) ++count;
    return count;
  };
  EXPECT_GT(tables({"--section=scheduler"}), 1U);
  EXPECT_EQ(tables({"--section=scheduler", "--top=1"}), 1U);
  EXPECT_EQ(tables({"--reports=kernels", "--top=1"}), 1U);
  for (const std::string option : {"--section=scheduler", "--set=basic", "--kernels=2"}) {
    EXPECT_THAT(test::message_of<UsageError>([&] {
                  (void)report(capture, {"--reports=kernel", option});
                }),
                HasSubstr(option.substr(0, option.find('=')) + " is of the report kernels"));
  }
}

TEST_F(ReportCommandTest, OfACaptureWithoutEvents) {
  const auto capture = test::write_capture(folder_.path(), test::sample_records(), "old");
  const auto summary = nlohmann::json::parse(report(capture, {"--format=json", "--reports=summary"}).out)["tables"];
  EXPECT_EQ(summary["Iterations"]["Total Iterations"], 0);
  EXPECT_TRUE(summary["Summary Report"]["Wall Clock Time (ns)"].is_null());
  EXPECT_EQ(summary["Coverage"]["launches"], 136);
  EXPECT_THAT(test::message_of<Error>([&] { (void)rows(capture, "detail"); }),
              testing::AllOf(HasSubstr("none were recorded"), HasSubstr("--mode pytorch")));
}

TEST_F(ReportCommandTest, KeepsToIterations) {
  const auto all =
      nlohmann::json::parse(report(capture_, {"--format=json", "--reports=iteration", "--iter_start=0"}).out)["rows"];
  EXPECT_LT(rows(capture_, "iteration").size(), all.size()) << "the steady range";
  const auto few =
      nlohmann::json::parse(report(capture_, {"--format=json", "--reports=iteration", "--iter_start=1", "--iter_stop=2"}).out);
  EXPECT_LT(few["rows"].size(), all.size());
  for (const auto& row : few["rows"]) EXPECT_TRUE(row["Iteration"] == 1 || row["Iteration"] == 2) << row;
  EXPECT_THROW((void)report(capture_, {"--reports=detail", "--iter_start=1000"}), UsageError);
}

TEST_F(ReportCommandTest, TakesKeyNodesByNameAndId) {
  const auto detail = rows(capture_, "detail");
  const std::string id = detail[0]["Op ID"];
  const std::string out = report(capture_, {"--format=json", "--reports=summary", "--key_node", id}).out;
  EXPECT_GT(nlohmann::json::parse(out)["tables"]["Iterations"]["Total Iterations"], 0);
  EXPECT_THROW((void)report(capture_, {"--reports=detail", "--key_node=no such op"}), UsageError);
}

TEST_F(ReportCommandTest, FoldingADatabaseAgainIsKept) {
  const auto database = write_database();
  const std::string out = folder_.path().string();
  const auto first = fold_again(database, {"--iter_stop=1", "--reports=detail", "--base_name=again", "--output_path=" + out});
  EXPECT_THAT(first.out, IsEmpty());
  EXPECT_THAT(first.err, HasSubstr("aggregation 2"));
  EXPECT_THAT(read_file(folder_.path() / "again_detail.csv"), HasSubstr("Op ID"));
  EXPECT_THAT(fold_again(database, {"--reports=tensor", "--base_name=more", "--output_path=" + out}).err,
              HasSubstr("aggregation 3"));
  EXPECT_THAT(fold_again(capture_, {"--reports=tensor", "--base_name=x", "--output_path=" + out}).err,
              Not(HasSubstr("aggregation")));
}

TEST_F(ReportCommandTest, AFolderIsAllCapturesOfARun) {
  (void)test::write_made_up_run(folder_.path(), {.iterations = 2, .launches = 20, .ranges = 100}, "run_77");
  const auto single = rows(capture_, "iteration").size();
  const auto folder = folder_.path().string();
  const auto both = test::run_verb(run_report, {"report", folder, "--base_name=run", "--format=json", "--reports=iteration"});
  EXPECT_GT(nlohmann::json::parse(both.out)["rows"].size(), single);
  EXPECT_THAT(test::message_of<UsageError>([&] {
                (void)test::run_verb(run_report, {"report", folder});
              }),
              HasSubstr("--base_name"));
}

TEST_F(ReportCommandTest, SimpleModeGivesTotalsAndKernels) {
  const std::string csv = report(capture_, {"-m", "simple", "--format=csv"}).out;
  EXPECT_THAT(csv, HasSubstr("unassociated_"));
  EXPECT_THAT(csv, Not(HasSubstr("aten::")));
  const std::string text = report(capture_, {"--mode=simple", "--reports=summary"}).out;
  EXPECT_THAT(text, HasSubstr("Tensor Core Kernel Time "));
  EXPECT_THAT(text, Not(HasSubstr("Total Iterations")));
  EXPECT_THROW((void)report(capture_, {"--mode=simple", "--reports=detail"}), UsageError);
}

TEST_F(ReportCommandTest, SelectsRowsAndColumns) {
  const std::size_t all = rows(capture_, "kernel").size();
  const auto csv_lines = [this](std::vector<std::string> options) {
    options.insert(options.end(), {"--reports=kernel", "--format=csv"});
    std::vector<std::string> lines = split(report(capture_, std::move(options)).out, '\n');
    lines.pop_back();  // after the last line's end
    return lines;
  };
  EXPECT_EQ(csv_lines({}).size(), all + 1) << "all rows where nothing is asked";
  EXPECT_EQ(csv_lines({"--top=2", "--columns=calls_timed,Kernel Name"}).front(), "Calls Timed,Kernel Name\r");
  EXPECT_EQ(csv_lines({"--top=2"}).size(), 3U);
  const auto relus = csv_lines({"-k", "regex:threshold", "--columns=Kernel Name"});
  ASSERT_GT(relus.size(), 1U);
  EXPECT_LT(relus.size(), all);
  for (std::size_t i = 1; i < relus.size(); ++i) EXPECT_THAT(relus[i], HasSubstr("threshold"));
  EXPECT_EQ(csv_lines({"-k", "threshold"}).size(), 1U) << "without regex: it is a whole name";
  EXPECT_THROW((void)csv_lines({"-k", "regex:("}), UsageError);
  EXPECT_THROW((void)csv_lines({"--sort=nothing_like_it"}), UsageError);
  EXPECT_THROW((void)report(capture_, {"--reports=summary", "--top=3"}), UsageError);
  EXPECT_THAT(report(capture_, {"-k", "regex:threshold"}).out, HasSubstr("ward_kernel f32"));
}

TEST_F(ReportCommandTest, IsOneScreenWhereNothingIsAsked) {
  const std::string screen = report(capture_, {}).out;
  EXPECT_LE(std::count(screen.begin(), screen.end(), '\n'), 50);
  EXPECT_THAT(screen, HasSubstr("The GPU "));
  EXPECT_THAT(screen, HasSubstr("Next: dlkprof report "));
  EXPECT_THAT(report(write_database(), {}).out, HasSubstr("The GPU "));
  EXPECT_THAT(report(capture_, {"--mode=simple"}).out, HasSubstr("kernel "));
}

TEST_F(ReportCommandTest, GroupsOps) {
  const auto layers = nlohmann::json::parse(report(capture_, {"--format=json", "--by=layer"}).out)["rows"];
  ASSERT_FALSE(layers.empty());
  EXPECT_EQ(sum(layers, "Total GPU Time (ns)"), sum(rows(capture_, "detail"), "Total GPU Time (ns)"));
  EXPECT_THAT(report(capture_, {"--by=direction"}).out, HasSubstr("bprop"));
  EXPECT_THROW((void)report(capture_, {"--by=colour"}), UsageError);
  EXPECT_THROW((void)report(capture_, {"--by=layer", "--reports=coverage"}), UsageError);
}

TEST_F(ReportCommandTest, TablesFitTheTerminal) {
  setenv("COLUMNS", "70", 1);
  for (const char* name : {"detail", "kernel", "bottleneck", "expert_systems", "occupancy", "summary"}) {
    for (const std::string& line : split(report(capture_, {std::string("--reports=") + name}).out, '\n')) {
      // The summary ends with lines about the captures that are set for 80 columns.
      EXPECT_LE(line.size(), std::string(name) == "summary" ? 80U : 70U) << name << ": " << line;
    }
  }
  unsetenv("COLUMNS");
}

TEST_F(ReportCommandTest, WritesTheModel) {
  const auto result = report(capture_, {"--dump_model_data", "--reports=summary", "--output_path", folder_.path().string()});
  EXPECT_THAT(result.err, HasSubstr("run_model.json"));
  const auto json = nlohmann::json::parse(read_file(folder_.path() / "run_model.json"));
  EXPECT_FALSE(json["instances"].empty());
}

}  // namespace
}  // namespace dlkprof::cli::report_command_test
