#include "report/ops/reports.h"

#include <gtest/gtest.h>

#include "report/format/csv.h"
#include "support/golden.h"
#include "support/sample_fold.h"

namespace dlkprof::report::group_node_report_test {
namespace {

TEST(GroupNodeReport, OfTheSample) {
  const model::Profile sample = test::sample_fold();
  test::expect_golden("group_node.csv", to_csv(to_table(group_node_report(sample))));
}

}  // namespace
}  // namespace dlkprof::report::group_node_report_test
