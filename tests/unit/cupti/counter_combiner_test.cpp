#include "cupti/counter_combiner.h"

#include <gtest/gtest.h>

namespace dlkprof::cupti::counter_combiner_test {
namespace {

// Adding counters up takes images that only a GPU's profiler initializes: tests/e2e does it with the fakes, tests/gpu on GPUs.
TEST(NvPerf, IsBesideTheCuptiInUse) {
  const NvPerf& nvperf = NvPerf::open(Library::open());
  EXPECT_NE(nvperf.NVPW_CounterDataCombiner_SumIntoRange, nullptr);
  EXPECT_EQ(&NvPerf::open(Library::open()), &nvperf);
}

}  // namespace
}  // namespace dlkprof::cupti::counter_combiner_test
