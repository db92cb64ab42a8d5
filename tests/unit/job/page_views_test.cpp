#include "job/page_views.h"

#include "base/new_file.h"
#include "job/reports.h"
#include "job_fixture.h"

namespace dlkprof::job::page_views_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class PageViewsTest : public JobTest {
 protected:
  PageViews write(const test::SimulatedJob& job, const PageBounds& bounds = {}) {
    const JobAnalysis analysis = analysis_of(job);
    reports_.clear();
    for (const JobReport& report : job_reports()) reports_[report.name] = report.table(analysis).rows.size();
    return write_page_views(page_, path("job"), analysis, bounds);
  }
  [[nodiscard]] std::int64_t number(const std::string& sql) const { return page_.number(sql); }

  std::map<std::string, std::size_t> reports_;  // their rows
  test::TemporaryDirectory pages_;
  NewFile file_{pages_.path() / "page.sqlite"};
  store::Connection page_{file_.path(), store::Access::build};
};

TEST_F(PageViewsTest, HoldEachReportAndEachRank) {
  const PageViews views = write({.ranks = 8, .iterations = 5});
  EXPECT_THAT(views.notices, IsEmpty());
  for (const auto& [name, rows] : reports_)
    EXPECT_EQ(static_cast<std::size_t>(number("SELECT count(*) FROM " + name)), rows) << name;
  EXPECT_EQ(number("SELECT count(*) FROM rank_iterations"), 8 * 5);
  EXPECT_EQ(number("SELECT count(*) FROM rank_iterations WHERE own_time_ns + waited_ns <> length_ns"), 0);
  EXPECT_EQ(number("SELECT count(DISTINCT rank) FROM rank_ops"), 8);
  for (const store::View& view : views.views) {
    for (const store::ViewColumn& column : view.columns)
      EXPECT_GE(number("SELECT count(\"" + column.name + "\") FROM " + view.name), 0) << view.name;
  }
}

TEST_F(PageViewsTest, KeepWhatDiffersMostWhereThereIsMoreThanRoom) {
  const std::uint32_t late = 5;
  const PageViews views =
      write({.ranks = 8, .iterations = 20, .faults = {{.rank = late, .op = long_op(), .sleep_ns = 9'000'000, .sleeps_in = 7}}},
            {.cells = 16, .most_ops = 2, .fewest = 2, .rows = 3});
  EXPECT_EQ(number("SELECT count(DISTINCT iteration) FROM rank_iterations"), 2);
  EXPECT_EQ(number("SELECT count(*) FROM rank_iterations WHERE iteration % 7 = 0"), 16) << "those in which the rank is late";
  EXPECT_EQ(number("SELECT count(DISTINCT op_name || ' ' || direction || ' ' || op_type) FROM rank_ops"), 2);
  EXPECT_GT(number("SELECT count(*) FROM rank_ops WHERE op_name = '" + long_op() + "' AND rank = 5 AND excess_ns > 1000000"), 0);
  EXPECT_EQ(number("SELECT count(*) FROM stragglers"), 3);
  EXPECT_EQ(number("SELECT count(*) FROM ranks"), 8);
  EXPECT_THAT(views.notices, testing::Contains(HasSubstr("View stragglers has the first 3 of 80 rows.")));
  EXPECT_THAT(views.notices, testing::Contains(HasSubstr("has the 2 iterations of 20")));
}

TEST(PageColumns, AreNamedAfterThoseOfReports) {
  EXPECT_EQ(column_of_view("Iteration (ns)"), "iteration_ns");
  EXPECT_EQ(column_of_view("GPU (%)"), "gpu_pct");
  EXPECT_EQ(column_of_view("5 % (ns)"), "at_5_pct_ns");
  EXPECT_EQ(column_of_view("Clock Drift (ppm)"), "clock_drift_ppm");
}

}  // namespace
}  // namespace dlkprof::job::page_views_test
