#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "report/format/csv.h"
#include "report/format/json.h"
#include "report/launches/reports.h"
#include "support/golden.h"
#include "support/sample_run.h"

namespace dlkprof::report::metrics_report_test {
namespace {

std::string unit_of(const std::string& metric) { return metric == "gpu__time_duration.sum" ? "ns" : ""; }

std::size_t column(const Table& table, const std::string& name) {
  const auto found =
      std::find_if(table.columns.begin(), table.columns.end(), [&](const Column& one) { return one.name == name; });
  EXPECT_NE(found, table.columns.end()) << name;
  return static_cast<std::size_t>(found - table.columns.begin());
}

Table made(const std::vector<capture::Record>& records) { return to_table(metrics_report(test::load_records(records), unit_of)); }

TEST(MetricsReport, HasARowALaunchAndAColumnAMetric) {
  const Table table = made(test::sample_records());
  ASSERT_EQ(table.rows.size(), 3U);
  for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size());
  EXPECT_EQ(table.rows[0][column(table, "ID")], Cell{std::uint64_t{3}});
  EXPECT_EQ(table.rows[0][column(table, "Grid Size")], Cell{std::string("(64, 16, 1)")});
  EXPECT_EQ(table.rows[1][column(table, "Kernel Name")], Cell{std::string("gemm_simple")});
  EXPECT_EQ(table.rows[0][column(table, "gpu__time_duration.sum")], Cell{66656.0});
  EXPECT_EQ(table.rows[0][column(table, "occupancy_limiter")], Cell{std::string("registers")});
  EXPECT_EQ(table.columns[column(table, "gpu__time_duration.sum")].unit, "ns");
}

TEST(MetricsReport, LeavesEmptyWhatWasNotMeasured) {
  const Table table = made(test::sample_records());
  const std::size_t membar = column(table, "smsp__average_warps_issue_stalled_membar_per_issue_active.ratio");
  for (const auto& row : table.rows) EXPECT_EQ(row[membar], Cell{});
}

TEST(MetricsReport, ColumnsAreTheUnionInTheOrderAskedFor) {
  std::vector<capture::Record> records = test::sample_records();
  records.insert(records.begin() + 7, capture::MetricSetRecord{2, 0, 1, {"gpu__time_duration.sum", "aaa__first.sum"}, {}});
  for (capture::Record& record : records) {
    auto* launch = std::get_if<capture::LaunchRecord>(&record);
    if (launch == nullptr || launch->index != 7) continue;
    launch->metric_set = 2;
    launch->values = {NAN, 1.0};
  }
  model::Profile run = test::load_records(records);
  for (auto& [config, launches] : run.timeline.measured_launches) {
    if (launches.size() == 2) run.timeline.measured[config]["zzz__evaluated_besides.sum"] = {NAN, 2.0};
  }
  const Table table = to_table(metrics_report(run, unit_of));
  const std::size_t first = column(table, "gpu__time_duration.sum");
  EXPECT_EQ(column(table, "aaa__first.sum"), first + test::sample_metrics().size());
  EXPECT_EQ(column(table, "zzz__evaluated_besides.sum"), first + test::sample_metrics().size() + 1);
  EXPECT_EQ(table.rows[0][column(table, "aaa__first.sum")], Cell{});
}

TEST(MetricsReport, SurvivesLaunchesThatTheCaptureDoesNotDescribe) {
  std::vector<capture::Record> records = test::sample_records();
  std::erase_if(records, [](const capture::Record& record) {
    return std::holds_alternative<capture::FunctionRecord>(record) || std::holds_alternative<capture::DeviceRecord>(record);
  });
  const Table table = made(records);
  EXPECT_EQ(table.rows[0][column(table, "Kernel Name")], Cell{std::string("unknown function 1")});
  EXPECT_EQ(table.rows[0][column(table, "theoretical_occupancy_pct")], Cell{});
  EXPECT_EQ(table.rows[0][column(table, "gpu__time_duration.sum")], Cell{66656.0});
}

TEST(MetricsReport, SaysHowFarLaunchesOfAKeyLieApart) {
  std::vector<capture::Record> records = test::sample_records();
  const Table table = made(records);
  const auto duration = [&table](std::size_t row, const std::string& what) {
    return table.rows[row][column(table, "gpu__time_duration.sum (" + what + ")")];
  };
  EXPECT_EQ(table.rows[0][column(table, "Samples")], Cell{std::uint64_t{2}});
  EXPECT_EQ(duration(0, "n"), Cell{std::uint64_t{2}});
  EXPECT_EQ(duration(0, "min"), Cell{65920.0});
  EXPECT_EQ(duration(0, "max"), Cell{66656.0});
  EXPECT_NEAR(std::get<double>(duration(0, "stddev")), 520.43, 0.01);
  EXPECT_EQ(duration(1, "n"), Cell{std::uint64_t{1}});
  EXPECT_EQ(duration(1, "stddev"), Cell{});
  EXPECT_EQ(table.rows[0][column(table, "SM Clock (Hz)")], Cell{1.755e9});
  EXPECT_EQ(table.columns[column(table, "gpu__time_duration.sum (min)")].unit, "ns");
  EXPECT_EQ(table.columns[column(table, "gpu__time_duration.sum (n)")].unit, "");
  test::first<capture::LaunchRecord>(records).mode = capture::ReplayMode::iteration;
  const Table apart = made(records);
  EXPECT_EQ(apart.rows[0][column(apart, "Samples")], Cell{std::uint64_t{1}}) << "not mixed with another way";
}

TEST(MetricsReport, ReadsAsItAlwaysDid) {
  const Table table = made(test::sample_records());
  test::expect_golden("metrics.csv", to_csv(table));
  test::expect_golden("metrics.json", to_json(table));
}

}  // namespace
}  // namespace dlkprof::report::metrics_report_test
