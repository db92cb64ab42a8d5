#include "report/diagnosis/diagnosis_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "support/sample_fold.h"
#include "support/table_cells.h"

namespace dlkprof::report {
namespace {

TEST(DiagnosisRows, AreEachOpAndItsKernels) {
  const model::Profile sample = test::sample_fold();
  const std::vector<DiagnosisRow> all = diagnosis_rows(sample, DiagnosisOf::all);
  ASSERT_EQ(all.size(), 6U);
  for (std::size_t i = 0; i < all.size(); i += 2) {
    EXPECT_EQ(all[i].kernel, nullptr);
    ASSERT_NE(all[i + 1].kernel, nullptr);
    EXPECT_EQ(all[i + 1].kernel->op, all[i].op->op);
  }
  const std::vector<DiagnosisRow> measured = diagnosis_rows(sample, DiagnosisOf::measured);
  ASSERT_EQ(measured.size(), 2U);
  EXPECT_EQ(measured[1].kernel->kernel, test::kGemmKernel);
}

TEST(DiagnosisRows, SayHowMuchWasMeasured) {
  const model::Profile sample = test::sample_fold();
  const auto rows = diagnosis_rows(sample, DiagnosisOf::all);
  const Table table = to_table(make_rows("test", diagnosis_fields(sample), rows));
  EXPECT_EQ(test::cell(table, 0, "Measured GPU Time (ns)"), Cell{std::int64_t{800}});
  EXPECT_EQ(test::cell(table, 0, "Direction"), Cell{"fprop"});
  EXPECT_EQ(test::cell(table, 2, "Samples Measured"), Cell{std::uint64_t{0}});
}

TEST(DiagnosisRows, NoNumberThatIsNone) {
  EXPECT_EQ(number_cell(std::nullopt), Cell{});
  EXPECT_EQ(number_cell(NAN), Cell{});
  EXPECT_EQ(number_cell(INFINITY), Cell{});
  EXPECT_EQ(number_cell(0.0), Cell{0.0});
}

}  // namespace
}  // namespace dlkprof::report
