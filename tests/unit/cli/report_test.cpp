#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "cli/verbs.h"
#include "support/run_verb.h"
#include "support/sample_capture.h"
#include "support/temporary_directory.h"

namespace dlkprof::cli::report_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class Report : public testing::Test {
 protected:
  test::VerbResult run(std::vector<std::string> options) {
    options.insert(options.begin(), {"report", capture_.string()});
    return test::run_verb(run_report, options);
  }
  std::string complaint(const std::vector<std::string>& options) {
    return test::message_of<UsageError>([&] { (void)run(options); });
  }

  test::TemporaryDirectory folder_;
  std::filesystem::path capture_ = test::write_capture(folder_.path(), test::sample_records());
};

TEST_F(Report, ShowsCardsOfTheLongestKernels) {
  const auto cards = [this](const std::string& option) {
    const std::string out = run({option}).out;
    std::size_t count = 0;
    for (std::size_t at = out.find("occurrence "); at != std::string::npos; at = out.find("occurrence ", at + 1)) ++count;
    return count;
  };
  EXPECT_EQ(cards("--kernels=1"), 1U);
  EXPECT_GT(cards("--kernels"), 1U);
  EXPECT_EQ(cards("--kernels=0"), cards("--reports=kernels")) << "0: all of them";
}

TEST_F(Report, ShowsTablesAndTheSummary) {
  const test::VerbResult result = run({"--reports=kernels,summary"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("gemm_tiled"));
  EXPECT_THAT(result.out, HasSubstr("Launch Statistics"));  // asked for by nobody, but it takes no counter
  EXPECT_THAT(result.out, HasSubstr("smsp__inst_executed.sum"));
  EXPECT_THAT(result.out, HasSubstr("136 seen, 44 matched"));
  EXPECT_THAT(result.out, Not(HasSubstr("\033")));
  EXPECT_THAT(result.err, IsEmpty());
}

TEST_F(Report, GivesMetricsAsData) {
  const test::VerbResult csv = run({"--format=csv"});
  EXPECT_THAT(csv.out, StartsWith("ID,Process,Device,"));
  const auto json = nlohmann::json::parse(run({"--format", "json"}).out);
  EXPECT_EQ(json["report"], "metrics");
  EXPECT_EQ(json["units"]["gpu__time_duration.sum"], "ns");
  EXPECT_EQ(json["rows"].size(), 3U);
}

TEST_F(Report, ShowsTheSectionsAskedFor) {
  const std::string out = run({"--reports=kernels", "--section", "stall"}).out;
  EXPECT_THAT(out, HasSubstr("Stall Barrier"));
  EXPECT_THAT(out, Not(HasSubstr("Launch Statistics")));
  EXPECT_THAT(run({"--reports=kernels", "--set=basic"}).out, HasSubstr("Duration"));
  EXPECT_THAT(run({"--section=stall", "--metrics=dram__bytes_read.sum"}).out, HasSubstr("dram__bytes_read.sum"));
}

TEST_F(Report, WritesFiles) {
  const std::string folder = folder_.path().string();
  const test::VerbResult result = run({"--output-path=" + folder, "--formats=csv,json", "--reports=metrics,summary"});
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_THAT(result.err, HasSubstr("sample_summary.json"));
  EXPECT_THAT(read_file(folder_.path() / "sample_metrics.csv"), StartsWith("ID,"));
  EXPECT_THAT(complaint({"--output_path", folder}), HasSubstr("--force"));
  EXPECT_EQ(run({"--output_path", folder, "--force"}).exit_code, 0);
  EXPECT_EQ(run({"--output_path", folder, "--base_name", "other"}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "other_metrics.csv"));
}

TEST_F(Report, SaysWhatIsWrongWithTheCaptureOnce) {
  std::filesystem::resize_file(capture_, std::filesystem::file_size(capture_) - 3);
  const test::VerbResult table = run({});
  EXPECT_THAT(table.out, HasSubstr("middle of a record"));
  EXPECT_THAT(table.err, IsEmpty());
  const test::VerbResult data = run({"--format=csv"});
  EXPECT_THAT(data.out, Not(HasSubstr("middle of a record")));
  EXPECT_THAT(data.err, HasSubstr("middle of a record"));
}

TEST_F(Report, RefusesBadUsage) {
  EXPECT_THAT(complaint({"--reports=metrik"}), HasSubstr("metrics"));
  EXPECT_THAT(complaint({"--format=xml"}), HasSubstr("--format"));
  EXPECT_THAT(complaint({"--format=csv", "--reports=metrics,summary"}), HasSubstr("one report"));
  EXPECT_THAT(complaint({"--section=stal"}), HasSubstr("stall"));
  EXPECT_THROW((void)test::run_verb(run_report, {"report"}), UsageError);
  EXPECT_THROW((void)test::run_verb(run_report, {"report", "/no/such/file"}), Error);
}

}  // namespace
}  // namespace dlkprof::cli::report_test
