#include "cli/outputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "support/run_verb.h"
#include "support/sample_fold.h"
#include "support/sample_run.h"

namespace dlkprof::cli::outputs_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class OutputFiles : public testing::Test {
 protected:
  OutputFiles() {
    profile_.timeline.metric_sets.resize(1);
    profile_.timeline.measured_launches[0].resize(2);
    profile_.timeline.counts = test::sample_run().timeline.counts;
  }
  Outputs outputs(std::vector<std::string> reports, std::vector<std::string> formats) {
    Outputs made;
    made.directory = folder_.path();
    made.base_name = "run";
    made.reports = std::move(reports);
    made.formats = std::move(formats);
    return made;
  }
  static std::string complaint(const Outputs& outputs) {
    return test::message_of<UsageError>([&] { check_outputs(outputs); });
  }
  [[nodiscard]] report::Inputs inputs() const {
    return {.profile = profile_, .profile_name = "run", .sections = test::sample_sections()};
  }
  [[nodiscard]] std::string written(const std::string& name) const { return read_file(folder_.path() / name); }

  test::TemporaryDirectory folder_;
  model::Profile profile_ = test::sample_fold();
};

TEST_F(OutputFiles, AreNamedAfterReportAndFormat) {
  EXPECT_THAT(output_files(outputs({"metrics", "summary"}, {"csv", "json"})),
              ElementsAre(folder_.path() / "run_metrics.csv", folder_.path() / "run_metrics.json",
                          folder_.path() / "run_summary.csv", folder_.path() / "run_summary.json"));
  EXPECT_THAT(output_files(outputs({"metrics"}, {})), IsEmpty());
  Outputs more = outputs({}, {});
  more.database = more.model_data = true;
  EXPECT_THAT(output_files(more), ElementsAre(folder_.path() / "run_dldb.sqlite", folder_.path() / "run_model.json"));
}

TEST_F(OutputFiles, HoldTheReports) {
  Outputs asked = outputs({"metrics", "kernels", "summary", "detail", "iteration"}, {"csv", "json"});
  EXPECT_EQ(write_reports(asked, inputs()), output_files(asked));
  EXPECT_THAT(written("run_metrics.csv"), HasSubstr("Kernel Name"));
  EXPECT_THAT(written("run_kernels.csv"), HasSubstr("Achieved Occupancy"));
  EXPECT_THAT(written("run_summary.json"), HasSubstr("\"launches\": 136"));
  EXPECT_THAT(written("run_detail.csv"), HasSubstr("aten::mm_bprop_1"));
  EXPECT_THAT(written("run_iteration.json"), HasSubstr("\"Kernel Name\": \"gemm_h884\""));
  asked = outputs({}, {});
  asked.model_data = true;
  EXPECT_EQ(write_reports(asked, inputs()).size(), 1U);
  EXPECT_THAT(written("run_model.json"), HasSubstr("\"iterations\""));
}

TEST_F(OutputFiles, OnlyTheRooflineHasAPicture) {
  const Outputs asked = outputs({"roofline", "stall"}, {"csv", "svg"});
  EXPECT_THAT(write_reports(asked, inputs()), ElementsAre(folder_.path() / "run_roofline.csv",
                                                          folder_.path() / "run_roofline.svg", folder_.path() / "run_stall.csv"));
  EXPECT_THAT(written("run_roofline.svg"), HasSubstr("<svg"));
  EXPECT_THAT(complaint(outputs({"stall"}, {"svg"})), HasSubstr("--reports=roofline"));
  EXPECT_THROW(check_format("detail", "svg"), UsageError);
  EXPECT_NO_THROW(check_format("detail", "json"));
}

TEST_F(OutputFiles, AreNotOverwrittenUnasked) {
  std::ofstream(folder_.path() / "run_summary.json") << "mine";
  Outputs asked = outputs({"metrics", "summary"}, {"csv", "json"});
  EXPECT_THROW((void)write_reports(asked, inputs()), UsageError);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "run_metrics.csv")) << "checked before anything is written";
  EXPECT_THAT(complaint(asked), HasSubstr("--force"));
  asked.force = true;
  (void)write_reports(asked, inputs());
  EXPECT_THAT(written("run_summary.json"), HasSubstr("launches"));
}

TEST_F(OutputFiles, ADatabaseInTheWayIsRefused) {
  std::ofstream(folder_.path() / "run_dldb.sqlite") << "mine";
  Outputs asked = outputs({}, {});
  EXPECT_NO_THROW(check_outputs(asked));
  asked.database = true;
  EXPECT_THAT(complaint(asked), HasSubstr("run_dldb.sqlite"));
}

TEST_F(OutputFiles, DanglingLinksAreThereToo) {
  std::filesystem::create_symlink("/nowhere", folder_.path() / "run_metrics.csv");
  EXPECT_THAT(complaint(outputs({"metrics"}, {"csv"})), HasSubstr("is there already"));
}

TEST_F(OutputFiles, WhatIsReadIsNotWritten) {
  const auto input = folder_.path() / "a.dlkcap", link = folder_.path() / "link";
  std::ofstream(input) << "a recording";
  std::filesystem::create_symlink(input, link);
  for (const auto& output : {input, link})
    EXPECT_THAT(test::message_of<UsageError>([&] { check_output(output, {"other", input}, true); }), HasSubstr("is read"));
  EXPECT_NO_THROW(check_output(folder_.path() / "free", {input}, false));
}

TEST_F(OutputFiles, WhatOutputNamesIsFreeAndAFile) {
  const auto message = [](const std::filesystem::path& file, bool force) {
    return test::message_of<UsageError>([&] { check_output(file, {}, force); });
  };
  std::ofstream(folder_.path() / "file") << "mine";
  std::filesystem::create_symlink("/nowhere", folder_.path() / "link");
  for (const char* name : {"file", "link"}) {
    EXPECT_THAT(message(folder_.path() / name, false), HasSubstr("is there already"));
    EXPECT_NO_THROW(check_output(folder_.path() / name, {}, true));
  }
  EXPECT_THAT(message("/dev/null", true), HasSubstr("is a device"));
  EXPECT_THAT(message(folder_.path() / "file/below", true), HasSubstr("is no folder"));
}

TEST_F(OutputFiles, BadNamesAreUsageErrors) {
  EXPECT_THAT(complaint(outputs({"metric"}, {"csv"})), HasSubstr("Did you mean metrics?"));
  EXPECT_THAT(complaint(outputs({"metrics"}, {"html"})), HasSubstr("csv"));
  Outputs slashed = outputs({"metrics"}, {"csv"});
  slashed.base_name = "../x";
  EXPECT_THAT(complaint(slashed), HasSubstr("--base_name"));
  Outputs nowhere = outputs({"metrics"}, {"csv"});
  nowhere.directory = folder_.path() / "absent";
  EXPECT_NO_THROW(check_outputs(nowhere)) << "it is made";
  std::ofstream(nowhere.directory) << "a file";
  EXPECT_THAT(complaint(nowhere), HasSubstr("--output_path"));
}

}  // namespace
}  // namespace dlkprof::cli::outputs_test
