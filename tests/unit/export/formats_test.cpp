#include "export/formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "export/nsys_import.h"
#include "support/golden.h"
#include "support/sample_capture.h"
#include "support/sample_run.h"
#include "support/temporary_directory.h"
#include "support/timeline_builder.h"

namespace dlkprof::exports {
namespace formats_test {

constexpr const char* kMetric = "sm__throughput.avg.pct_of_peak_sustained_elapsed";

// Two iterations of an op with two kernels, a copy outside of all ops, a mark, ranges that overlap, and figures of one kernel.
model::Timeline small_timeline() {
  test::TimelineBuilder builder;
  for (const std::int64_t at : {1000, 2000}) {
    builder.range("step", at, at + 900);
    builder.range("aten::mm, seq = 3, sizes = [[4, 4], [4, 4]]", at + 100, at + 500);
    builder.launch("gemm", at + 110, at + 200, at + 300).launch("reduce", at + 120, at + 300, at + 340);
  }
  const std::uint32_t other = builder.thread();
  builder.range("crossing", 1500, 2500, other, {"", capture::RangeKind::start_end});
  builder.range("crossing too", 2400, 2950, other, {"", capture::RangeKind::start_end});
  builder.range("a mark", 1600, 1600, 0, {"", capture::RangeKind::mark});
  builder.activity(builder.call("cuMemcpyHtoDAsync_v2", 950, 960), "[CUDA memcpy HtoD]", 970, 990);
  builder.sampled("gemm", kMetric, {.samples = 12, .launches = 2, .mean = 50.5, .deviation = 2, .interval = 1.5});
  model::Timeline timeline = builder.build();
  timeline.processes[0].record = {.pid = 77, .host = "node", .arguments = {"python", "train.py"}};
  timeline.processes[0].clock = {500, 1'700'000'000'000'000'500};
  timeline.processes[0].devices[0] = 0;
  timeline.devices[0].record = test::h200();
  timeline.facts.push_back({"pytorch", "rank", "3"});
  return timeline;
}

model::Profile small_profile() {
  model::Profile profile;
  profile.timeline = small_timeline();
  profile.fold = model::fold(profile.timeline, {.key_node = "step"});
  profile.aggregate = model::aggregate(profile.timeline, profile.fold, {.start = 0});
  return profile;
}

std::string exported(const char* format, const std::vector<const model::Profile*>& profiles) {
  std::vector<Run> runs;
  for (const model::Profile* profile : profiles) {
    runs.push_back({profile, "small", [](const std::string& metric) { return metric == kMetric ? "%" : ""; }});
  }
  std::string text;
  find_format(format)->write(runs, [&text](std::string_view piece) { text += piece; });
  return text;
}

TEST(Formats, AreAsRecorded) {
  const model::Profile profile = small_profile();
  test::expect_golden("export.perfetto-trace", exported("perfetto", {&profile}));
  test::expect_golden("export.folded", exported("folded", {&profile}));
  test::expect_golden("export.speedscope.json", exported("speedscope", {&profile}));
  const std::regex version("\"dlkprof\":\"[^\"]*\",");
  test::expect_golden("export_kineto.json", std::regex_replace(exported("kineto", {&profile}), version, ""));
}

TEST(Formats, MeasuredLaunchesAreAsRecorded) {
  const model::Profile profile = test::sample_run();
  test::expect_golden("export_ncu.csv", exported("ncu-csv", {&profile}));
}

TEST(Formats, NsysFilesFoldAsTheRunDid) {
  const test::TemporaryDirectory folder;
  const std::filesystem::path path = folder.path() / "run.sqlite";
  std::ofstream(path).close();
  const model::Profile profile = small_profile();
  (void)write_nsys_sqlite({&profile, "small", nullptr}, path);
  ASSERT_TRUE(is_nsys_sqlite(path));
  const model::Timeline read = read_nsys_sqlite(path);
  const model::Fold fold = model::fold(read, {.key_node = "step"});
  ASSERT_EQ(fold.iterations.size(), profile.fold.iterations.size());
  ASSERT_EQ(fold.ops.size(), profile.fold.ops.size());
  for (std::size_t i = 0; i < fold.ops.size(); ++i) EXPECT_EQ(fold.ops[i].id, profile.fold.ops[i].id);
  EXPECT_EQ(read.activities.size(), profile.timeline.activities.size());
  EXPECT_FALSE(is_nsys_sqlite(folder.path() / "nothing"));
}

TEST(Formats, HaveNamesOfTheirOwnAndAnEnd) {
  for (const Format& format : formats()) {
    EXPECT_EQ(find_format(format.name), &format);
    EXPECT_NE(format.write == nullptr, format.write_file == nullptr);
    EXPECT_THAT(format.extension, testing::AnyOf(testing::StartsWith("."), testing::StartsWith("_")));
  }
  EXPECT_EQ(find_format("svg"), nullptr);
}

TEST(Formats, BearAnEmptyRun) {
  model::Profile profile;
  profile.timeline = test::TimelineBuilder().build();
  profile.fold = model::fold(profile.timeline);
  profile.aggregate = model::aggregate(profile.timeline, profile.fold);
  const test::TemporaryDirectory folder;
  for (const Format& format : formats()) {
    if (format.write == nullptr) {
      const std::filesystem::path path = folder.path() / format.name;
      std::ofstream(path).close();
      EXPECT_EQ(format.write_file({&profile, "empty", nullptr}, path).untimed, 0U);
    } else {
      EXPECT_NO_THROW((void)exported(format.name, {&profile})) << format.name;
    }
  }
}

TEST(Formats, RunsOfOtherMachinesGoByTheirWallClocks) {
  model::Profile profile = small_profile();
  model::Process far = profile.timeline.processes[0], near = far;
  far.record.host = "other";
  far.clock.monotonic_ns = 100;  // 400 ns younger than the first one's
  EXPECT_EQ(clock_shift(near, profile.timeline.processes[0]), 0);
  EXPECT_EQ(clock_shift(far, profile.timeline.processes[0]), 400);
}

TEST(Formats, OneProcessNumberOfTwoRunsBecomesTwo) {
  const model::Profile profile = small_profile();
  const std::string both = exported("perfetto", {&profile, &profile});
  EXPECT_GT(both.size(), 2 * exported("perfetto", {&profile}).size() - 200);
}

}  // namespace formats_test
}  // namespace dlkprof::exports
