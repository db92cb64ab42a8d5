#include "report/ops/reports.h"

#include <gtest/gtest.h>

#include "report/format/csv.h"
#include "support/golden.h"
#include "support/sample_fold.h"

namespace dlkprof::report::op_type_report_test {
namespace {

TEST(OpTypeReport, OfTheSample) {
  const model::Profile sample = test::sample_fold();
  test::expect_golden("op_type.csv", to_csv(to_table(op_type_report(sample))));
}

}  // namespace
}  // namespace dlkprof::report::op_type_report_test
