#include "cli/jobs/job_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "export/formats.h"
#include "job/database.h"
#include "support/simulated_job.h"
#include "support/temporary_directory.h"

namespace dlkprof::cli::job_export_test {
namespace {

class JobExportTest : public testing::Test {
 protected:
  void write(const test::SimulatedJob& job) {
    const auto capture = std::filesystem::path(DLKPROF_SOURCE_DIR) / "samples/captures/cifar10_b512_iteration.dlkcap";
    ranks_ = test::simulate(job, test::recorded_ops(capture));
    job::write_job(path_, ranks_);
  }

  test::TemporaryDirectory folder_;
  std::filesystem::path path_ = folder_.path() / "job.sqlite";
  std::vector<job::Rank> ranks_;
};

// All ranks of a collective end within a microsecond or so, on clocks that are 50 ms apart.
TEST_F(JobExportTest, PutsRanksOnOneClock) {
  test::SimulatedJob job{.ranks = 4, .iterations = 20, .ranks_a_host = 1};
  job.offset_ns = {{"node0001", 50e6}, {"node0002", -50e6}};
  job.drift_ppm = {{"node0003", 50}};
  write(job);
  const exports::JobRun run = job_run_of(path_, "job");
  std::map<std::uint64_t, std::pair<std::int64_t, std::int64_t>> ends;  // least, most; by the order of the collective
  std::size_t ranks = 0;
  run.each_rank([&](const exports::RankTrace& rank) {
    ++ranks;
    ASSERT_EQ(rank.tracks.size(), 2U);
    EXPECT_EQ(rank.tracks[0].slices.size(), 20U);
    ASSERT_EQ(rank.tracks[1].slices.size(), 20U * 4);
    for (std::size_t i = 0; i < 80; ++i) {
      const std::int64_t end = rank.tracks[1].slices[i].end_ns;
      auto& [least, most] = ends.try_emplace(i, end, end).first->second;
      least = std::min(least, end);
      most = std::max(most, end);
    }
  });
  EXPECT_EQ(ranks, 4U);
  for (const auto& [i, end] : ends) EXPECT_LT(end.second - end.first, 10'000) << i;
}

TEST_F(JobExportTest, SumsOpsOverRanks) {
  write({.ranks = 3, .iterations = 4});
  std::int64_t expected = 0, found = 0, collectives = 0;
  for (const job::Rank& rank : ranks_) {
    for (const job::OpTimes& one : rank.times) expected += static_cast<std::int64_t>(one.gpu_ns.sum);
    for (const job::RankCollective& one : rank.collectives) collectives += one.end_ns - one.start_ns;
  }
  std::int64_t found_collectives = 0;
  for (const exports::Stack& stack : job_run_of(path_, "job").stacks())
    (stack.frames.front() == "(collectives)" ? found_collectives : found) += stack.gpu_ns;
  EXPECT_EQ(found, expected);
  EXPECT_EQ(found_collectives, collectives);
}

// Databases come from anywhere.
TEST_F(JobExportTest, SurvivesAnyTimes) {
  for (const char* change : {"UPDATE rank_iteration SET start_ns = -9223372036854775807, length_ns = 9223372036854775807, gpu_ns "
                             "= -9223372036854775807",
                             "UPDATE rank_collective SET start_ns = 9223372036854775807, end_ns = -9223372036854775807",
                             "UPDATE rank_collective SET end_ns = end_ns + rank * 1000000000000000000", "DELETE FROM rank_op"}) {
    write({.ranks = 3, .iterations = 4});
    store::Connection(path_, store::Access::build).run(change);
    const exports::JobRun run = job_run_of(path_, "job");
    std::string trace, folded, speedscope;
    exports::write_perfetto_job(run, [&trace](std::string_view piece) { trace += piece; });
    exports::write_folded_job(run, [&folded](std::string_view piece) { folded += piece; });
    exports::write_speedscope_job(run, [&speedscope](std::string_view piece) { speedscope += piece; });
    EXPECT_GT(trace.size(), 1000U) << change;
    EXPECT_FALSE(speedscope.empty()) << change;
  }
}

}  // namespace
}  // namespace dlkprof::cli::job_export_test
