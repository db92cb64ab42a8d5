#include "report/compare/compare_sentences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/sample_runs.h"

namespace dlkprof::report {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> said_of(const std::vector<advise::RunFigures>& runs) {
  return compare_sentences(advise::compare(runs[0], runs[1]));
}

TEST(CompareSentencesTest, SaysWhatTheWholeDoes) {
  const auto said = said_of(test::sample_runs());
  EXPECT_THAT(said, Contains("An iteration takes 4.80 ms with b4 and 4 ms with b512: 0.833x at 128x the samples (p < 0.001)."));
  EXPECT_THAT(said, Contains("Throughput is 833 samples/s with b4 and 128,000 with b512: 154x."));
  EXPECT_THAT(
      said,
      Contains("The GPU works for a median of 0.3 % of an iteration with b4 and of 7.6 % with b512: with both the GPU waits "
               "for longer than it works, so the CPU sets the time of an iteration."));
  EXPECT_THAT(said,
              Contains("Kernels that fill less than one wave of the GPU take 100.0 % of the GPU time with b4 and 0.0 % with "
                       "b512."));
  EXPECT_THAT(said, Contains("Weighted by GPU time, 88.0 % of the SMs get no block with b4 and 0.0 % with b512."));
  EXPECT_THAT(said,
              Contains("Achieved occupancy is 9.5 and 30.5 %, tensor pipe use is 3.0 and 20.0 %, DRAM throughput is 2.5 and "
                       "19.5 % with b4 and b512, of the 100.0 % and 100.0 % of the kernels' GPU time that were measured."));
}

TEST(CompareSentencesTest, SaysWhyAnOpChanged) {
  EXPECT_THAT(
      said_of(test::sample_runs()),
      Contains("aten::convolution_backward (bprop) of /net/conv1 takes 30.0x the GPU time at 128x the samples (300 us, was "
               "10 us); its grids give a block to 12.0 % of the SMs with b4 and to 100.0 % with b512; achieved occupancy "
               "is 9.5 and 30.5 %; its longest kernel is wgrad_large, was wgrad_small."));
}

TEST(CompareSentencesTest, SaysWhatScales) {
  EXPECT_THAT(said_of(test::sample_runs()),
              Contains("How ops scale with the batch: 1 at a fixed cost (same time per iteration), 33.3 % of the GPU time with "
                       "b4 and 1.7 % with b512; 1 cheaper per sample at the larger batch, 66.7 % of the GPU time with b4 and "
                       "98.3 % with b512."));
}

TEST(CompareSentencesTest, NoiseIsSaidToBeNoise) {
  auto runs = test::sample_runs();
  runs[1] = runs[0];
  runs[1].label = "again";
  const auto said = said_of(runs);
  EXPECT_THAT(said, Contains(AllOf(StartsWith("An iteration takes 4.80 ms with b4 and 4.80 ms with again"),
                                   HasSubstr("the spread of the iterations explains the difference (p = 1.000)"))));
  EXPECT_THAT(said,
              Contains("GPU time per iteration with again is higher for 0 of 2 ops and lower for 0; for 2 the spread of the "
                       "iterations explains the difference."));
  EXPECT_THAT(said, Each(Not(HasSubstr("the samples"))));
  EXPECT_THAT(said, Each(Not(HasSubstr("was 10 us"))));
}

TEST(CompareSentencesTest, SaysWhatIsMissing) {
  auto runs = test::sample_runs();
  runs[0].batch_size.reset();
  runs[0].measured = {};
  runs[1].has_iterations = false;
  const auto said = said_of(runs);
  EXPECT_THAT(said, Contains(StartsWith("In b512 no whole iterations were found")));
  EXPECT_THAT(said, Contains(StartsWith("The batch size of b4 is not known")));
  EXPECT_THAT(said, Contains("Counters are missing: none were measured with b4."));
  EXPECT_THAT(said, Each(Not(HasSubstr("Throughput"))));
  EXPECT_THAT(said, Each(Not(HasSubstr("p <"))));
}

TEST(CompareSentencesTest, SaysWhereIterationsAreTooFew) {
  auto runs = test::sample_runs();
  runs[1].iteration_ns.resize(5);
  runs[1].iteration = advise::spread_of(runs[1].iteration_ns);
  EXPECT_THAT(said_of(runs),
              Contains("b512 has 5 whole iterations, and telling a change from noise takes 8: ratios are shown, and "
                       "not judged."));
}

TEST(CompareSentencesTest, SaysThatMachinesAndFrameworksDiffer) {
  auto runs = test::sample_runs();
  runs[1].gpus = {"NVIDIA A100"};
  runs[1].frameworks = {};
  const auto said = said_of(runs);
  EXPECT_THAT(said, Contains("The GPUs differ: b4 has NVIDIA H200, b512 has NVIDIA A100."));
  EXPECT_THAT(said, Contains("The frameworks differ: b4 has PyTorch, b512 has none."));
}

TEST(CompareSentencesTest, SaysThatIterationsMayNotBeTheSame) {
  auto runs = test::sample_runs();
  runs[1].key_node.clear();
  EXPECT_THAT(said_of(runs),
              Contains("Iterations end with zero_grad in b4 and with what the launches repeat in b512: they may not "
                       "be the same step."));
}

TEST(CompareSentencesTest, SaysWhoseBatchSizeItIs) {
  auto runs = test::sample_runs();
  runs[0].processes = 8;
  runs[1].processes = 2;
  runs[1].batch_size_recorded = false;
  EXPECT_THAT(said_of(runs), Each(Not(HasSubstr("b512 has 2 processes"))));
  EXPECT_THAT(said_of(runs), Contains("b4 has 8 processes, and 4 is taken for the batch size of all of them together: give "
                                      "--batch_sizes where it is not."));
}

TEST(CompareSentencesTest, SaysWhichOpsOneRunLacks) {
  auto runs = test::sample_runs();
  runs[0].ops[1].name = "/only/here";
  runs[1].ops[0].name = "/only/there";
  runs[1].ops.resize(1);
  runs[0].ops.erase(runs[0].ops.begin());
  const auto said = said_of(runs);
  EXPECT_THAT(said, Contains("Only b4 has aten::convolution_backward (bprop) of /only/here: 5 us per iteration."));
  EXPECT_THAT(said, Contains("Only b512 has aten::convolution_backward (bprop) of /only/there: 300 us per iteration."));
  EXPECT_THAT(said, Contains("The runs have no op in common: only the whole can be compared."));
}

TEST(CompareSentencesTest, NothingOfAnEmptyRunIsMadeUp) {
  const auto said = said_of({advise::RunFigures{}, advise::RunFigures{}});
  EXPECT_THAT(said, Each(Not(HasSubstr("nan"))));
  EXPECT_THAT(said, Each(Not(HasSubstr("inf"))));
  EXPECT_THAT(said, Each(Not(HasSubstr("0x"))));
}

}  // namespace
}  // namespace dlkprof::report
