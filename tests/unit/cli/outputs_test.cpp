#include "cli/outputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "base/file.h"
#include "support/run_verb.h"
#include "support/sample_run.h"

namespace dlkprof::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class OutputFiles : public testing::Test {
 protected:
  Outputs outputs(std::vector<std::string> reports, std::vector<std::string> formats) {
    return {folder_.path(), "run", std::move(reports), std::move(formats), false};
  }
  static std::string complaint(const Outputs& outputs) {
    return test::message_of<UsageError>([&] { check_outputs(outputs); });
  }

  test::TemporaryDirectory folder_;
  ReportInputs inputs_{test::sample_sections(), [](const std::string&) { return std::string(); }};
};

TEST_F(OutputFiles, AreNamedAfterReportAndFormat) {
  EXPECT_THAT(output_files(outputs({"metrics", "summary"}, {"csv", "json"})),
              ElementsAre(folder_.path() / "run_metrics.csv", folder_.path() / "run_metrics.json",
                          folder_.path() / "run_summary.csv", folder_.path() / "run_summary.json"));
  EXPECT_THAT(output_files(outputs({"metrics"}, {})), IsEmpty());
}

TEST_F(OutputFiles, HoldTheReports) {
  const Outputs asked = outputs({"metrics", "kernels", "summary"}, {"csv", "json"});
  const auto files = write_reports(test::sample_run(), asked, inputs_);
  ASSERT_EQ(files, output_files(asked));
  EXPECT_THAT(read_file(folder_.path() / "run_metrics.csv"), HasSubstr("Kernel Name"));
  EXPECT_THAT(read_file(folder_.path() / "run_kernels.csv"), HasSubstr("Stall Barrier"));
  EXPECT_THAT(read_file(folder_.path() / "run_summary.json"), HasSubstr("\"launches\": 136"));
}

TEST_F(OutputFiles, AreNotOverwrittenUnasked) {
  std::ofstream(folder_.path() / "run_summary.json") << "mine";
  Outputs asked = outputs({"metrics", "summary"}, {"csv", "json"});
  EXPECT_THROW((void)write_reports(test::sample_run(), asked, inputs_), UsageError);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "run_metrics.csv")) << "checked before anything is written";
  EXPECT_THAT(complaint(asked), HasSubstr("--force"));
  asked.force = true;
  (void)write_reports(test::sample_run(), asked, inputs_);
  EXPECT_THAT(read_file(folder_.path() / "run_summary.json"), HasSubstr("launches"));
}

TEST_F(OutputFiles, DanglingLinksAreThereToo) {
  std::filesystem::create_symlink("/nowhere", folder_.path() / "run_metrics.csv");
  EXPECT_THAT(complaint(outputs({"metrics"}, {"csv"})), HasSubstr("is there already"));
}

TEST_F(OutputFiles, BadNamesAreUsageErrors) {
  EXPECT_THAT(complaint(outputs({"metric"}, {"csv"})), HasSubstr("Did you mean metrics?"));
  EXPECT_THAT(complaint(outputs({"metrics"}, {"html"})), HasSubstr("csv"));
  Outputs slashed = outputs({"metrics"}, {"csv"});
  slashed.base_name = "../x";
  EXPECT_THAT(complaint(slashed), HasSubstr("--base_name"));
  Outputs nowhere = outputs({"metrics"}, {"csv"});
  nowhere.directory = folder_.path() / "absent";
  EXPECT_THAT(complaint(nowhere), HasSubstr("--output_path"));
}

}  // namespace
}  // namespace dlkprof::cli
