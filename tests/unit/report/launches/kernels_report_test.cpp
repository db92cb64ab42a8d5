#include <gtest/gtest.h>

#include "report/format/csv.h"
#include "report/launches/reports.h"
#include "support/golden.h"
#include "support/sample_run.h"

namespace dlkprof::report::kernels_report_test {
namespace {

TEST(KernelsReport, HasARowAValueInBaseUnits) {
  const model::Profile run = test::load_records(test::one_launch());
  const Table table = to_table(kernels_report(run, test::sample_sections()));
  ASSERT_FALSE(table.rows.empty());
  EXPECT_EQ(table.rows[0], (std::vector<Cell>{std::uint64_t{3}, run.timeline.kernels[0].long_name, std::string("speed_of_light"),
                                              std::string("Duration"), std::string("gpu__time_duration.sum"), std::string("ns"),
                                              66656.0, std::uint64_t{4242}}));
  for (const auto& row : table.rows) EXPECT_NE(row[3], Cell{std::string("Never Measured")});
  test::expect_golden("kernels.csv", to_csv(table));
}

}  // namespace
}  // namespace dlkprof::report::kernels_report_test
