#include "report/ops/counter_fields.h"

#include <gtest/gtest.h>

#include "support/sample_fold.h"

namespace dlkprof::report::counter_fields_test {
namespace {

Cell value(const model::Counters& counters, const std::string& column) {
  for (const Field<model::Counters>& field : counter_fields()) {
    if (field.name == column) return field.cell(counters);
  }
  ADD_FAILURE() << "there is no column " << column;
  return {};
}

TEST(CounterFields, WithoutCountersAreEmptyButTheNumberOfSamples) {
  for (const Field<model::Counters>& field : counter_fields()) {
    EXPECT_EQ(field.cell({}), field.name == "Samples Measured" ? Cell{std::uint64_t{0}} : Cell{}) << field.name;
  }
}

TEST(CounterFields, TakeWhatTheChipOffers) {
  model::Counters counters;
  counters.values["sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"] = 10;
  EXPECT_EQ(value(counters, "Tensor Pipe (%)"), Cell{10.0});
  counters.values["sm__pipe_tensor_cycles_active_v2.avg.pct_of_peak_sustained_active"] = 20;
  EXPECT_EQ(value(counters, "Tensor Pipe (%)"), Cell{20.0});
}

TEST(CounterFields, BytesAreReadAndWritten) {
  model::Counters counters;
  counters.values["dram__bytes_read.sum"] = 100;
  EXPECT_EQ(value(counters, "DRAM Bytes"), Cell{}) << "half of it is not it";
  counters.values["dram__bytes_write.sum"] = 50;
  EXPECT_EQ(value(counters, "DRAM Bytes"), Cell{150.0});
  counters.values["dram__bytes.sum"] = 151;
  EXPECT_EQ(value(counters, "DRAM Bytes"), Cell{151.0});
}

TEST(CounterFields, TopStallIsAWait) {
  const model::Counters counters = test::sample_counters();
  EXPECT_EQ(value(counters, "Top Stall"), Cell{"long_scoreboard"}) << "not selected, which is the issue itself";
  EXPECT_EQ(value(counters, "Top Stall (%)"), Cell{25.0});
}

TEST(CounterFields, OddFiguresGiveNoStall) {
  model::Counters counters;
  const std::string prefix = "smsp__average_warps_issue_stalled_";
  counters.values[prefix + "wait_per_issue_active.ratio"] = 0;
  counters.values[prefix + "barrier_per_issue_active.ratio"] = std::numeric_limits<double>::quiet_NaN();
  counters.values[prefix + "_per_issue_active.ratio"] = 3;
  counters.values[prefix + "long_scoreboard_not_issued.sum"] = 3;
  EXPECT_EQ(value(counters, "Top Stall"), Cell{});
  counters.values["sm__throughput.avg.pct_of_peak_sustained_elapsed"] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(value(counters, "SM Throughput (%)"), Cell{});
}

}  // namespace
}  // namespace dlkprof::report::counter_fields_test
