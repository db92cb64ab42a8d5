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
  static const std::vector<test::RecordedOp> kOps =
      test::recorded_ops(std::filesystem::path(DLKPROF_SOURCE_DIR) / "samples/captures/cifar10_b512_iteration.dlkcap");
  return kOps;
}

inline std::string long_op() { return test::longest_op(cifar10_ops()); }

class JobTest : public testing::Test {
 protected:
  std::vector<Rank> simulate(const test::SimulatedJob& job) { return test::simulate(job, cifar10_ops()); }
  JobAnalysis analysis_of(const test::SimulatedJob& job) {
    write_job(path("job"), simulate(job));
    return analyse_job(path("job"));
  }
  [[nodiscard]] std::filesystem::path path(const std::string& name) const { return folder_.path() / (name + ".sqlite"); }

  test::TemporaryDirectory folder_;
};

}  // namespace dlkprof::job
