#include "job/compare/compare_jobs.h"

#include <algorithm>

#include "../job_fixture.h"
#include "advise/compare/gate.h"
#include "job/compare/compare_jobs_report.h"

namespace dlkprof::job::compare_jobs_test {
namespace {

using advise::ChangeVerdict;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class CompareJobs : public JobTest {
 protected:
  // Of jobs of other seeds, so that they differ as two runs of one program do.
  const JobComparison& compare(test::SimulatedJob base, test::SimulatedJob other, double op_takes = 1) {
    base.seed = seed_++;
    other.seed = seed_++;
    write_job(path("base"), simulate(base));
    std::vector<test::RecordedOp> ops = cifar10_ops();
    for (test::RecordedOp& op : ops) {
      if (op.name.name == long_op()) op.gpu_ns = static_cast<std::int64_t>(static_cast<double>(op.gpu_ns) * op_takes);
    }
    write_job(path("other"), test::simulate(other, ops));
    compared_ = compare_jobs({{"base", path("base")}, {"other", path("other")}}, true);
    return compared_.pairs.at(0);
  }
  [[nodiscard]] std::vector<std::string> sentences() const { return compare_jobs_sentences(compared_.pairs.at(0)); }
  [[nodiscard]] std::vector<advise::GateResult> gate(const std::vector<advise::GateRule>& rules) const {
    return advise::check_gate(rules, compared_.pairs.at(0).figures);
  }

  std::uint32_t seed_ = 1;
  ComparedJobs compared_;
};

std::vector<std::string> slower_ops(const JobComparison& comparison) {
  std::vector<std::string> names;
  for (const advise::OpPair& pair : comparison.figures.ops) {
    if (pair.change.verdict == ChangeVerdict::slower) names.push_back(pair.other->name);
  }
  return names;
}

TEST_F(CompareJobs, FindNothingBetweenTwoRunsOfOneJob) {
  for (int i = 0; i < 3; ++i) {
    const JobComparison& found = compare({.ranks = 16}, {.ranks = 16});
    EXPECT_THAT(slower_ops(found), IsEmpty());
    EXPECT_TRUE(std::none_of(found.ranks.begin(), found.ranks.end(), [](const RankChange& rank) { return rank.became_slow(); }));
    EXPECT_THAT(sentences(), Contains("On the median rank GPU time is higher for 0 of 59 ops and lower for 0."));
  }
}

TEST_F(CompareJobs, NameTheOpThatGrewOnAllRanks) {
  const JobComparison& found = compare({.ranks = 16}, {.ranks = 16}, 1.3);
  ASSERT_THAT(slower_ops(found), Contains(long_op()));
  EXPECT_THAT(slower_ops(found), testing::Each(long_op())) << "ops of other names are as they were";
  EXPECT_THAT(sentences(), Contains(AllOf(HasSubstr(long_op()), HasSubstr("(same work, slower)"))));
  EXPECT_THAT(sentences(), Contains(HasSubstr("computation takes")));
}

TEST_F(CompareJobs, NameTheRankThatBecameSlow) {
  const JobComparison& found = compare({.ranks = 16}, {.ranks = 16, .faults = {{.rank = 5, .clock = 0.8}}});
  const RankChange& worst = found.ranks.front();
  EXPECT_EQ(worst.other->number, 5U);
  EXPECT_TRUE(worst.became_slow());
  EXPECT_EQ(worst.rule, "slow_gpu");
  EXPECT_EQ(worst.op, long_op());
  EXPECT_EQ(worst.cause, Cause::same_work_slower);
  EXPECT_THAT(sentences(), Contains(HasSubstr("Rank 5 on node0000 became slow (slow_gpu)")));
  EXPECT_THAT(sentences(), Contains(HasSubstr("waiting for others in collectives takes")));
  EXPECT_EQ(std::count_if(found.ranks.begin(), found.ranks.end(), [](const RankChange& rank) { return rank.became_slow(); }), 1);
}

TEST_F(CompareJobs, NameTheRankThatIsNoLongerSlow) {
  compare({.ranks = 8, .faults = {{.rank = 2, .op = long_op(), .sleep_ns = 3'000'000}}}, {.ranks = 8});
  EXPECT_THAT(sentences(), Contains("Ranks that are no longer slow: 2."));
}

TEST_F(CompareJobs, TellCollectivesThatTakeLonger) {
  const std::uint32_t bytes = 1U << 20U;
  const JobComparison& found = compare({.ranks = 8, .collective_bytes = bytes, .end_jitter_ns = 0},
                                       {.ranks = 8, .collective_ns = 40'000, .collective_bytes = bytes, .end_jitter_ns = 0});
  const std::vector<CollectivePair> pairs = collective_pairs(found);
  ASSERT_THAT(pairs, SizeIs(1));
  EXPECT_NEAR(pairs[0].other->alone_ns / pairs[0].base->alone_ns, 2, 0.01);
  EXPECT_NEAR(*pairs[0].base->bus_bytes_per_s / *pairs[0].other->bus_bytes_per_s, 2, 0.01);
  EXPECT_THAT(sentences(), Contains(HasSubstr("of 1048576 bytes takes 40 us alone, was 20 us")));
}

TEST_F(CompareJobs, SayWhichRanksOneJobLacks) {
  const JobComparison& found = compare({.ranks = 8}, {.ranks = 8, .missing = {3, 4}});
  EXPECT_THAT(found.only_base, ElementsAre(3, 4));
  EXPECT_THAT(sentences(), Contains("Ranks of base alone: 3, 4."));
}

TEST_F(CompareJobs, JudgeNoOpsOfFewRanks) {
  const JobComparison& found = compare({.ranks = 4}, {.ranks = 4}, 1.5);
  EXPECT_THAT(slower_ops(found), IsEmpty());
  EXPECT_THAT(sentences(), Contains(HasSubstr("which takes 8 of them on either side")));
  EXPECT_THAT(sentences(), Contains(HasSubstr("aten::convolution_backward (bprop) of " + long_op() + " takes")));
}

// One rule of each kind.
std::vector<advise::GateRule> gate_rules() {
  advise::GateRule iteration{.kind = advise::GateRule::Kind::iteration_time, .most_percent = 5};
  advise::GateRule ops{.kind = advise::GateRule::Kind::gpu_time, .most_percent = 5};
  ops.ops = [](const std::string& name) { return name == long_op(); };
  advise::GateRule counter{.kind = advise::GateRule::Kind::counter, .counter = "smsp__inst_executed.sum", .most_percent = 1};
  return {iteration, ops, counter};
}

std::vector<bool> broken(const std::vector<advise::GateResult>& results) {
  std::vector<bool> all;
  for (const advise::GateResult& one : results) all.push_back(one.breaks());
  return all;
}

TEST_F(CompareJobs, PassAndBreakGates) {
  const std::vector<advise::GateRule> rules = gate_rules();
  compare({.ranks = 16}, {.ranks = 16});
  EXPECT_THAT(broken(gate(rules)), ElementsAre(false, false, false));
  compare({.ranks = 16}, {.ranks = 16}, 1.3);
  EXPECT_THAT(broken(gate(rules)), ElementsAre(true, true, false));
  compare({.ranks = 16}, {.ranks = 16, .faults = {{.rank = 5, .work = 2}}});
  EXPECT_THAT(broken(gate(rules)), ElementsAre(true, false, true)) << "others wait for the rank, whose instructions doubled";
  compare({.ranks = 4}, {.ranks = 4});
  EXPECT_THAT(gate(rules).at(1).why, HasSubstr("too few ranks to test, 4 and 4"));
}

// Databases come from anywhere.
TEST_F(CompareJobs, SurviveAnyRows) {
  for (const char* change : {"DELETE FROM rank_op", "DELETE FROM rank_iteration", "DELETE FROM rank_collective",
                             "UPDATE rank_op SET n = -1, launches = -5",
                             "UPDATE rank_iteration SET start_ns = -9223372036854775807, length_ns = 9223372036854775807, gpu_ns "
                             "= -9223372036854775807",
                             "UPDATE rank_collective SET start_ns = 9223372036854775807, end_ns = -9223372036854775807, "
                             "exposed_ns = -9223372036854775807",
                             "UPDATE rank_collective SET sequence = sequence + 4294960000, iteration = 4294967290",
                             "UPDATE rank_counter SET value = -1e308", "UPDATE rank SET launches = -1"}) {
    write_job(path("base"), simulate({.ranks = 8, .iterations = 3, .collective_bytes = 4096}));
    write_job(path("other"), simulate({.ranks = 8, .iterations = 3, .collective_bytes = 4096}));
    store::Connection(path("other"), store::Access::build).run(change);
    for (const char* base : {"base", "other"}) {
      compared_ = compare_jobs({{"base", path(base)}, {"other", path("other")}}, true);
      EXPECT_THAT(compare_jobs_tables(compared_), SizeIs(5)) << change;
      EXPECT_THAT(report::compare_text(compare_jobs_view(compared_, 5)), Not(HasSubstr("nan"))) << change;
      EXPECT_THAT(gate(gate_rules()), SizeIs(3)) << change;
    }
  }
}

TEST_F(CompareJobs, GiveTheSameInAllFormats) {
  const JobComparison& found = compare({.ranks = 16}, {.ranks = 16}, 1.3);
  const std::vector<report::Table> tables = compare_jobs_tables(compared_);
  std::vector<std::string> names;
  for (const report::Table& table : tables) {
    names.push_back(table.name);
    for (const auto& row : table.rows) EXPECT_THAT(row, SizeIs(table.columns.size())) << table.name;
  }
  EXPECT_THAT(names, ElementsAre("jobs", "ops", "ranks", "collectives", "findings"));
  EXPECT_THAT(tables[1].rows, SizeIs(found.figures.ops.size()));
  EXPECT_THAT(tables[2].rows, SizeIs(16));
  const std::string text = report::compare_text(compare_jobs_view(compared_, 5));
  EXPECT_THAT(text, AllOf(HasSubstr("other compared with base"), HasSubstr("and 54 more ops"), HasSubstr("and 11 more ranks")));
  EXPECT_THAT(text, Not(HasSubstr("nan")));
}

}  // namespace
}  // namespace dlkprof::job::compare_jobs_test
