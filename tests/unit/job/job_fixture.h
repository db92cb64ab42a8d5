// Simulated jobs from a recorded capture, merged and analysed.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job/analysis.h"
#include "job/merge.h"
#include "support/simulated_job.h"
#include "support/temporary_directory.h"

namespace dlkprof::job {

inline const std::vector<test::RecordedOp>& cifar10_ops() {
  static const std::vector<test::RecordedOp> kOps = [] {
    const std::vector<std::filesystem::path> capture{std::filesystem::path(DLKPROF_SOURCE_DIR) /
                                                     "samples/captures/cifar10_b512_iteration.dlkcap"};
    model::Profile profile;
    profile.timeline = model::load_timeline(capture);
    profile.fold = model::fold(profile.timeline);
    profile.aggregate = model::aggregate(profile.timeline, profile.fold);
    return test::recorded_ops(events_of(profile).front());
  }();
  return kOps;
}

// One of the longer ops of the recorded rank: what happens to it can be seen.
inline std::string long_op() {
  const auto longest = std::max_element(cifar10_ops().begin(), cifar10_ops().end(),
                                        [](const auto& a, const auto& b) { return a.gpu_ns < b.gpu_ns; });
  return longest->name.name;
}

class JobTest : public testing::Test {
 protected:
  std::vector<Rank> simulate(const test::SimulatedJob& job) {
    std::vector<Rank> ranks;
    test::JobSimulator(job, cifar10_ops()).run([&ranks](Rank rank) { ranks.push_back(std::move(rank)); });
    return ranks;
  }
  JobAnalysis analysis_of(const test::SimulatedJob& job) {
    write_job(path("job"), simulate(job));
    return analyse_job(path("job"));
  }
  [[nodiscard]] std::filesystem::path path(const std::string& name) const { return folder_.path() / (name + ".sqlite"); }

  test::TemporaryDirectory folder_;
};

}  // namespace dlkprof::job
