#include "model/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>

#include "base/error.h"
#include "support/sample_capture.h"
#include "support/temporary_directory.h"

namespace dlkprof::model::run_test {
namespace {

using capture::Record;
using testing::Contains;
using testing::Each;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class LoadRun : public testing::Test {
 protected:
  model::Run load(const std::vector<Record>& records) {
    const LoadOptions options{.evaluate_raw = false, .cupti_path = {}, .metrics = {}};
    return load_run(test::write_capture(folder_.path(), records), options);
  }

  test::TemporaryDirectory folder_;
};

std::vector<std::string> words(const model::Run& run) {
  std::vector<std::string> all;
  for (const capture::NoticeRecord& notice : run.notices) all.push_back(notice.what + ": " + notice.detail);
  return all;
}

TEST_F(LoadRun, FoldsAWholeCapture) {
  const model::Run run = load(test::sample_records());
  EXPECT_THAT(words(run), IsEmpty());
  EXPECT_EQ(run.process.pid, 4242U);
  EXPECT_EQ(run.devices.at(0).chip, "GH100");
  EXPECT_EQ(run.functions.at(1).base_name, "gemm_tiled");
  EXPECT_THAT(run.functions.at(1).demangled, HasSubstr("lab::gemm_tiled<float, 128>"));
  ASSERT_EQ(run.launches.size(), 3U);
  EXPECT_EQ(run.launches[0].record.index, 3U);
  EXPECT_EQ(run.launches[0].values.at("gpu__time_duration.sum"), 66656);
  EXPECT_FALSE(run.launches[0].from_raw);
  EXPECT_TRUE(run.end.has_value());
}

TEST_F(LoadRun, LeavesOutWhatIsNoNumber) {
  const model::Run run = load(test::sample_records());
  EXPECT_FALSE(run.launches[0].values.contains("smsp__average_warps_issue_stalled_membar_per_issue_active.ratio"));
  EXPECT_EQ(run.launches[0].values.size(), test::sample_metrics().size() - 1);
}

TEST_F(LoadRun, SumsCoverageOverKeys) {
  const Coverage coverage = load(test::sample_records()).coverage;
  EXPECT_EQ(coverage.launches, 136U);
  EXPECT_EQ(coverage.matched, 44U);
  EXPECT_EQ(coverage.measured, 3U);
  EXPECT_EQ(coverage.skipped, 3U);
  EXPECT_EQ(coverage.near_missed, 12U);
  EXPECT_EQ(coverage.timed, 130U);
  EXPECT_EQ(coverage.timed_gpu_ns, 5'000'000U);
  EXPECT_EQ(coverage.unmatched_gpu_ns, 2'500'000U);  // Kernel2 and relu
  EXPECT_EQ(coverage.near_missed_gpu_ns, 1'500'000U);
  EXPECT_EQ(coverage.graph_launches, 5U);
  EXPECT_EQ(coverage.graph_gpu_ns, 700'000U);
  EXPECT_TRUE(coverage.timing_complete);
}

TEST_F(LoadRun, TheLastFiguresOfAKeyCount) {
  std::vector<Record> records = test::sample_records();
  capture::KeyStatsRecord later;
  later.keys = {test::stats(test::key(4, {1024, 1, 1}, {256, 1, 1}), 100, 3'000'000)};
  records.insert(records.end() - 1, later);
  const model::Run run = load(records);
  EXPECT_EQ(run.coverage.launches, 156U);  // 80 of relu became 100; the other keys are as they were
  EXPECT_EQ(run.coverage.timed_gpu_ns, 7'000'000U);
  EXPECT_FALSE(run.coverage.timing_complete);
}

TEST_F(LoadRun, SaysThatTheEndIsMissing) {
  std::vector<Record> records = test::sample_records();
  records.pop_back();
  const model::Run run = load(records);
  EXPECT_THAT(words(run), Contains(HasSubstr("without closing the capture")));
  EXPECT_EQ(run.launches.size(), 3U);
}

TEST_F(LoadRun, CountsMeasuredLaunchesThatStatisticsDoNotKnowYet) {
  std::vector<Record> records = test::sample_records();
  records.resize(records.size() - 2);  // neither statistics nor end
  const Coverage coverage = load(records).coverage;
  EXPECT_EQ(coverage.measured, 3U);
  EXPECT_EQ(coverage.matched, 3U);
  EXPECT_EQ(coverage.launches, 3U);
}

TEST_F(LoadRun, ReadsACutFileUpToTheCut) {
  const std::filesystem::path path = test::write_capture(folder_.path(), test::sample_records());
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 5);
  const model::Run run = load_run(path, {.evaluate_raw = false, .cupti_path = {}, .metrics = {}});
  EXPECT_THAT(words(run), Contains(HasSubstr("middle of a record")));
  EXPECT_EQ(run.launches.size(), 3U);
}

TEST_F(LoadRun, SkipsDamagedRecords) {
  const std::filesystem::path path = test::write_capture(folder_.path(), test::sample_records());
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(file), {});
  const std::size_t name = bytes.find(test::kRelu);
  ASSERT_NE(name, std::string::npos);
  file.clear();
  file.seekp(static_cast<std::streamoff>(name));
  file.put('X');
  file.close();
  const model::Run run = load_run(path, {.evaluate_raw = false, .cupti_path = {}, .metrics = {}});
  EXPECT_THAT(words(run), Contains(HasSubstr("damaged records")));
  EXPECT_FALSE(run.functions.contains(4));
}

TEST_F(LoadRun, RefusesWhatIsNoCapture) {
  std::ofstream(folder_.path() / "text") << "no capture";
  EXPECT_THROW((void)load_run(folder_.path() / "text"), Error);
  EXPECT_THROW((void)load_run(folder_.path() / "absent"), Error);
}

TEST_F(LoadRun, AnEmptyCaptureIsARun) {
  const model::Run run = load({});
  EXPECT_THAT(run.launches, IsEmpty());
  EXPECT_EQ(run.coverage.launches, 0U);
}

TEST_F(LoadRun, SurvivesRecordsThatContradictOneAnother) {
  std::vector<Record> records = test::sample_records();
  const std::vector<Record> again = records;
  records.insert(records.end(), again.begin(), again.end());  // everything twice
  capture::LaunchRecord stray =
      test::sample_launch(1000, test::key(77, {0, 0, 0}, {UINT32_MAX, UINT32_MAX, 1}), UINT32_MAX, INFINITY);
  stray.key.device = 55;
  stray.metric_set = 66;
  records.emplace_back(stray);
  stray.index = UINT64_MAX;
  records.emplace_back(stray);
  capture::LaunchRecord uneven = test::sample_launch(1001, test::key(1, {1, 1, 1}, {1, 1, 1}), 0, 1);
  uneven.values.pop_back();
  records.emplace_back(uneven);
  capture::KeyStatsRecord huge;
  huge.keys = {test::stats(test::key(1, {5, 5, 5}, {1, 1, 1}), UINT64_MAX, UINT64_MAX)};
  records.emplace_back(huge);

  const model::Run run = load(records);
  EXPECT_EQ(run.launches.size(), 6U);
  EXPECT_THAT(run.launches.back().values, IsEmpty());
  const std::vector<std::string> notices = words(run);
  EXPECT_THAT(notices, Contains(HasSubstr("3 launches that the capture holds twice")));
  EXPECT_THAT(notices, Contains(HasSubstr("2 launches of an unknown function")));
  EXPECT_THAT(notices, Contains(HasSubstr("2 launches on an unknown device")));
  EXPECT_THAT(notices, Contains(HasSubstr("2 launches measured with an unknown metric set")));
  EXPECT_THAT(notices, Contains(HasSubstr("1 launches with more or fewer values")));
  EXPECT_THAT(notices, Contains(HasSubstr("1 process records besides the first")));
}

TEST_F(LoadRun, RepeatedNoticesAreGivenOnce) {
  std::vector<Record> records = test::sample_records();
  for (int i = 0; i < 3; ++i)
    records.emplace_back(capture::NoticeRecord{capture::Severity::warning, "counters are busy", "d", "r"});
  EXPECT_EQ(load(records).notices.size(), 1U);
}

}  // namespace
}  // namespace dlkprof::model::run_test
