#include "job/analysis.h"

#include "job/collective_rounds.h"
#include "job/op_columns.h"
#include "job_fixture.h"

namespace dlkprof::job::analysis_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

class PlantedCauses : public JobTest, public testing::WithParamInterface<std::uint32_t> {
 protected:
  // The one finding of a job with one fault.
  void expect(const test::PlantedFault& fault, const std::string& rule, const std::string& op, const std::string& words = "") {
    const JobAnalysis job = analysis_of({.ranks = GetParam(), .faults = {fault}});
    EXPECT_THAT(job.findings, ElementsAre(AllOf(Field(&JobFinding::rule, rule), Field(&JobFinding::rank, fault.rank),
                                                Field(&JobFinding::headline, HasSubstr(words)))));
    if (!op.empty()) {
      EXPECT_THAT(job.findings, ElementsAre(Field(&JobFinding::op, op)));
    }
  }
};

TEST_P(PlantedCauses, AThrottledClock) { expect({.rank = 5, .clock = 0.8}, "slow_gpu", long_op(), "1404 MHz"); }
TEST_P(PlantedCauses, ALargerShard) { expect({.rank = 3, .work = 1.3}, "uneven_shards", long_op(), "more instructions"); }
TEST_P(PlantedCauses, AnOpThatTakesLonger) {
  expect({.rank = 2, .op = long_op(), .op_takes = 1.6}, "slow_gpu", long_op(), "same work, slower");
}
TEST_P(PlantedCauses, DataThatComesLate) {
  expect({.rank = 6, .input_ns = 2'000'000}, "late_input", cifar10_ops().front().name.name);
}
TEST_P(PlantedCauses, AHostThatSleeps) { expect({.rank = 4, .op = long_op(), .sleep_ns = 1'000'000}, "straggler", long_op()); }
TEST_P(PlantedCauses, AHostThatSleepsNowAndThen) {
  expect({.rank = 1, .op = long_op(), .sleep_ns = 10'000'000, .sleeps_in = 7}, "straggler", long_op());
}
INSTANTIATE_TEST_SUITE_P(Ranks, PlantedCauses, testing::Values(8, 64));

// Of simulated jobs. Sanitizers make the simulator slow, and find the same in fewer.
#ifdef DLKPROF_SANITIZED
constexpr std::uint32_t kSeeds = 4;
#else
constexpr std::uint32_t kSeeds = 20;
#endif

class HealthyJobs : public JobTest {};

TEST_F(HealthyJobs, HaveNoFinding) {
  for (std::uint32_t seed = 1; seed <= kSeeds; ++seed)
    EXPECT_THAT(analysis_of({.ranks = 64, .iterations = 10, .seed = seed}).findings, IsEmpty()) << seed;
}

class Jobs : public JobTest {};

TEST_F(Jobs, NameAHostOfWhichAllGpusAreSlow) {
  test::SimulatedJob job{.ranks = 32};
  for (std::uint32_t rank = 8; rank < 16; ++rank) job.faults.push_back({.rank = rank, .clock = 0.85});
  EXPECT_THAT(analysis_of(job).findings,
              ElementsAre(AllOf(Field(&JobFinding::rule, "slow_host"), Field(&JobFinding::headline, HasSubstr("node0001")))));
}

TEST_F(Jobs, NameTheRankThatComesLast) {
  const JobAnalysis job = analysis_of({.ranks = 8, .faults = {{.rank = 4, .op = long_op(), .sleep_ns = 3'000'000}}});
  ASSERT_FALSE(job.collectives.empty());
  const CollectiveRow& worst = job.collectives.front();
  EXPECT_EQ(worst.last_rank, 4U);
  EXPECT_EQ(job.ops[worst.op].name, long_op());
  EXPECT_NEAR(worst.waited_ns, 3e6, 3e5);
  EXPECT_NEAR(worst.op_excess_ns, 3e6, 3e5);
}

TEST_F(Jobs, OfTwoRanksNameTheLateOneToo) {
  EXPECT_THAT(analysis_of({.ranks = 2}).findings, IsEmpty());
  EXPECT_THAT(
      analysis_of({.ranks = 2, .faults = {{.rank = 1, .op = long_op(), .sleep_ns = 3'000'000}}}).findings,
      ElementsAre(AllOf(Field(&JobFinding::rule, "straggler"), Field(&JobFinding::rank, 1), Field(&JobFinding::op, long_op()))));
}

TEST_F(Jobs, TellMoreWorkFromTheSameWorkSlower) {
  const auto cause = [this](const test::PlantedFault& fault) {
    const JobAnalysis job = analysis_of({.ranks = 8, .faults = {fault}});
    EXPECT_EQ(job.spreads.front().rank_of_most, fault.rank);
    return job.spreads.front().cause;
  };
  EXPECT_EQ(cause({.rank = 3, .work = 1.3}), Cause::more_work);
  EXPECT_EQ(cause({.rank = 3, .clock = 0.75}), Cause::same_work_slower);
}

TEST_F(Jobs, SumCountersOfRanks) {
  const JobAnalysis job = analysis_of({.ranks = 4, .iterations = 3, .faults = {{.rank = 3, .work = 1.5}}});
  EXPECT_GT(job.ranks[0].instructions, 0);
  EXPECT_NEAR(job.ranks[3].instructions / job.ranks[0].instructions, 1.5, 1e-3);
  EXPECT_NEAR(job.ranks[3].dram_bytes / job.ranks[0].dram_bytes, 1.5, 1e-3);
}

TEST_F(Jobs, NameTheCriticalRankOfEachIteration) {
  const JobAnalysis job = analysis_of(
      {.ranks = 8, .iterations = 14, .faults = {{.rank = 4, .op = long_op(), .sleep_ns = 9'000'000, .sleeps_in = 7}}});
  ASSERT_THAT(job.critical, testing::SizeIs(14));
  for (const CriticalRow& row : job.critical) {
    EXPECT_EQ(row.collectives, 4U);
    EXPECT_LE(row.waited_ns, row.all_waited_ns);
    if (row.iteration % 7 != 0) continue;
    EXPECT_EQ(row.critical_rank, 4U);
    EXPECT_EQ(job.ops[row.op].name, long_op());
    EXPECT_NEAR(row.waited_ns, 9e6, 3e5);
  }
}

// How many of the offsets and drifts stated are within the errors stated, of all hosts in jobs of so many seeds.
class Clocks : public JobTest {
 protected:
  void see(std::uint32_t seed) {
    test::SimulatedJob job{.ranks = 16, .iterations = 50, .seed = seed, .ranks_a_host = 2};
    job.offset_ns = {{"node0001", 50e6}, {"node0002", -50e6}, {"node0003", 50e6}, {"node0004", -50e6}};
    job.drift_ppm = {{"node0001", 50}, {"node0003", -50}, {"node0004", 50}};
    for (const RankRow& rank : analysis_of(job).ranks) {
      if (rank.number == 0) continue;  // the reference
      ASSERT_TRUE(rank.clock_offset_ns) << rank.number;
      const auto planted = [&rank](const std::map<std::string, double>& of) {
        const auto found = of.find(rank.head->identity.host);
        return found == of.end() ? 0 : found->second;
      };
      const double drift = planted(job.drift_ppm);
      const double offset = planted(job.offset_ns) + drift * 1e-6 * (rank.clock_middle_ns - test::kSimulatedStart);
      seen_ += 2;
      within_ += std::abs(*rank.clock_offset_ns - offset) <= *rank.clock_error_ns ? 1 : 0;
      within_ += std::abs(*rank.clock_drift_ppm - drift) <= *rank.clock_drift_error_ppm ? 1 : 0;
      EXPECT_LT(*rank.clock_error_ns, 2000) << "microseconds: all-reduces end within 1";
      EXPECT_LT(*rank.clock_drift_error_ppm, 50);
    }
  }
  std::uint32_t seen_ = 0, within_ = 0;
};

TEST_F(Clocks, AreRecoveredWithinTheErrorsStated) {
  for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) see(seed);
  EXPECT_EQ(seen_, kSeeds * 15 * 2);
  EXPECT_EQ(within_, seen_);
}

TEST_F(Jobs, CompareRanksWithinTheirRole) {
  std::vector<Rank> ranks = simulate({.ranks = 8});
  test::SimulatedJob other{.ranks = 16, .missing = {0, 1, 2, 3, 4, 5, 6, 7}};
  std::vector<test::RecordedOp> ops(cifar10_ops().begin(), cifar10_ops().end());
  for (test::RecordedOp& op : ops) {
    op.name.name += "_of_another_stage";
    op.gpu_ns *= 3;
  }
  test::JobSimulator(other, ops).run([&ranks](Rank rank) { ranks.push_back(std::move(rank)); });
  write_job(path("job"), ranks);
  const JobAnalysis job = analyse_job(path("job"));
  EXPECT_EQ(job.roles, 2U);
  for (const CollectiveKindRow& row : job.kind_rows)
    EXPECT_NEAR(row.alone_ns, static_cast<double>(other.collective_ns), 4000) << row.role;
  EXPECT_THAT(job.findings, ElementsAre(AllOf(Field(&JobFinding::rule, "uneven_stages"), Field(&JobFinding::rank, 8))));
}

TEST_F(Jobs, TellBusBandwidthWhereSizesAreKnown) {
  const std::uint32_t bytes = 1U << 20U;
  const JobAnalysis job = analysis_of({.ranks = 8, .collective_bytes = bytes, .end_jitter_ns = 0});
  ASSERT_THAT(job.kind_rows, testing::SizeIs(1));
  EXPECT_EQ(job.kind_rows[0].bytes, bytes);
  // All-reduce: 2 (n - 1) / n of the message in 20 us.
  EXPECT_NEAR(*job.kind_rows[0].bus_bytes_per_s, 2.0 * 7 / 8 * bytes / 20e-6, 1e6);
  EXPECT_EQ(job.kind_rows[0].calls, 4 * 20 * 8);
  EXPECT_EQ(job.kind_rows[0].rank_iterations, 20 * 8);
  EXPECT_EQ(job.kind_rows[0].exposed_ns, static_cast<double>(job.kind_rows[0].length_ns.sum)) << "nothing runs beside them";
  EXPECT_NEAR(job.kind_rows[0].exposed_ns - job.kind_rows[0].waited_ns, 4 * 20 * 8 * 20e3, 1e5);
  const JobAnalysis unknown = analysis_of({.ranks = 8});
  ASSERT_THAT(unknown.kind_rows, testing::SizeIs(1));
  EXPECT_FALSE(unknown.kind_rows[0].bytes || unknown.kind_rows[0].bus_bytes_per_s);
}

// What is read by parts does not depend on how large these are.
TEST_F(Jobs, AreReadByParts) {
  std::vector<Rank> ranks = simulate({.ranks = 5, .iterations = 3});
  ranks[1].collectives.pop_back();
  ranks[2].collectives.clear();
  ranks[3].times.erase(ranks[3].times.begin());
  write_job(path("job"), ranks);
  JobDatabase database(path("job"));
  const JobAnalysis job = analyse_job(database);
  const auto collectives = [&](std::size_t at_once) {
    std::vector<std::tuple<std::uint32_t, std::uint32_t, std::int64_t>> all;
    CollectiveRounds rounds(database, job.ranks, at_once);
    for (std::vector<CollectiveOfRank> round; rounds.next(round);) {
      for (const CollectiveOfRank& one : round) all.emplace_back(one.what.sequence, one.rank, one.what.start_ns);
    }
    return all;
  };
  const auto ops = [&](std::size_t at_once) {
    std::vector<std::tuple<std::uint32_t, std::uint32_t, double>> all;
    for (OpColumns columns(database, at_once); columns.next();) {
      for (const OpOfRank& one : columns.ranks()) all.emplace_back(columns.op(), one.rank, one.gpu_ns);
    }
    return all;
  };
  EXPECT_THAT(collectives(1), testing::SizeIs(3 * 12 + 11));
  EXPECT_THAT(ops(1), testing::SizeIs(5 * ranks[0].times.size() - 1));
  for (const std::size_t at_once : {5U, 17U, 40U}) {
    EXPECT_EQ(collectives(at_once), collectives(100'000));
    EXPECT_EQ(ops(at_once), ops(100'000));
  }
}

TEST_F(Jobs, SayWhereCommunicationRunsAlone) {
  EXPECT_THAT(analysis_of({.ranks = 8, .collective_ns = 1'500'000}).findings,
              Contains(Field(&JobFinding::rule, "exposed_communication")));
}

}  // namespace
}  // namespace dlkprof::job::analysis_test
