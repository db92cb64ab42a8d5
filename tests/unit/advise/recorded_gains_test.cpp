// The captures that ship with dlkprof: nothing that is said to be gained may be more than an iteration takes.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "advise/rules.h"
#include "advise/verdict.h"

namespace dlkprof::advise::recorded_gains_test {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> shipped_captures() {
  const fs::directory_iterator files(fs::path(DLKPROF_SOURCE_DIR) / "samples" / "captures");
  std::vector<fs::path> captures;
  for (const fs::directory_entry& file : files) {
    if (file.path().extension() == ".dlkcap") captures.push_back(file.path());
  }
  std::sort(captures.begin(), captures.end());
  return captures;
}

class RecordedGains : public testing::TestWithParam<fs::path> {
 protected:
  RecordedGains() {
    profile_.timeline = model::load_timeline(std::vector{GetParam()});
    profile_.fold = model::fold(profile_.timeline);
    profile_.aggregate = aggregate();
  }
  [[nodiscard]] model::Aggregate aggregate(const model::IterationRange& range = {}) const {
    return model::aggregate(profile_.timeline, profile_.fold, range);
  }

  model::Profile profile_;
};

TEST_P(RecordedGains, AreOfTheSteadyRangeAndNeverMoreThanItsIterations) {
  const model::Aggregate& made = profile_.aggregate;
  ASSERT_EQ(made.range_source, model::RangeSource::found);
  EXPECT_GE(made.first_iteration, 1U);
  EXPECT_LT(made.last_iteration + 1, profile_.fold.iterations.size());
  const std::int64_t wall_ns = made.summary.wall_ns;
  ASSERT_GT(wall_ns, 0);
  EXPECT_LT(made.summary.mean_iteration_ns, 2 * made.summary.median_iteration_ns) << "warm-up is part of the mean";
  for (const Finding& finding : diagnose(profile_)) EXPECT_LE(finding.bound_ns.value_or(0), wall_ns) << finding.problem;
  const EvidenceTable evidence = gather_evidence(profile_);
  for (std::size_t i = 0; i < made.ops.size(); ++i) {
    EXPECT_LE(judge(evidence.ops[i], made.ops[i].counters).bound_ns.value_or(0), wall_ns)
        << profile_.fold.ops[made.ops[i].op].name;
  }
  for (std::size_t i = 0; i < made.kernels.size(); ++i) {
    EXPECT_LE(judge(evidence.kernels[i], made.kernels[i].counters).bound_ns.value_or(0), wall_ns) << i;
  }
}

TEST_P(RecordedGains, AllIterationsAreThereWhereAskedFor) {
  const model::Summary all = aggregate({0, {}}).summary;
  const model::Summary& steady = profile_.aggregate.summary;
  EXPECT_EQ(all.aggregated_iterations, profile_.fold.iterations.size());
  EXPECT_EQ(steady.before.wall_ns + steady.wall_ns + steady.after.wall_ns, all.wall_ns);
  EXPECT_EQ(steady.before.gpu_ns + steady.all_ops.gpu_ns + steady.after.gpu_ns, all.all_ops.gpu_ns);
}

INSTANTIATE_TEST_SUITE_P(Shipped, RecordedGains, testing::ValuesIn(shipped_captures()),
                         [](const auto& capture) { return capture.param.stem().string(); });

}  // namespace
}  // namespace dlkprof::advise::recorded_gains_test
