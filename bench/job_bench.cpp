// Simulated jobs (tests/support/simulated_job.h) of any size, from a recorded capture:
//   job_bench find <capture> <ranks> <seeds>    plants a fault of each kind, each in jobs of its own, a seed each, and prints
//   rows of a
//                                               table: in how many the fault alone was found, with its op and rank
//   job_bench write <capture> <folder> <ranks>  writes ranks of 300,000 launches, already folded, a file each: 1,000 ops in 300
//                                               iterations. Sixteen ranks are simulated; others are these under other numbers.
//   job_bench captures <folder> <ranks> <launches>  writes captures of made-up ranks, not folded yet
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "job/analysis.h"
#include "job/merge.h"
#include "support/made_up_run.h"
#include "support/simulated_job.h"

namespace dlkprof {
namespace {

namespace fs = std::filesystem;

struct Expected {
  const char* planted;
  const char* rule;
  std::string op;
  test::PlantedFault fault;
};

std::vector<Expected> expected_of(const std::vector<test::RecordedOp>& ops, std::uint32_t rank) {
  const std::string op = test::longest_op(ops);
  return {
      {"nothing", "", "", {.rank = rank}},
      {"a GPU at 80 % of its clock", "slow_gpu", op, {.rank = rank, .clock = 0.8}},
      {"a shard larger by 30 %", "uneven_shards", op, {.rank = rank, .work = 1.3}},
      {"an op that takes 1.6 times as long", "slow_gpu", op, {.rank = rank, .op = op, .op_takes = 1.6}},
      {"data 2 ms late", "late_input", ops.front().name.name, {.rank = rank, .input_ns = 2'000'000}},
      {"a host that sleeps 1 ms before an op", "straggler", op, {.rank = rank, .op = op, .sleep_ns = 1'000'000}},
      {"one that sleeps 10 ms in every 7th iteration",
       "straggler",
       op,
       {.rank = rank, .op = op, .sleep_ns = 10'000'000, .sleeps_in = 7}},
  };
}

bool is_right(const job::JobAnalysis& found, const Expected& expected) {
  if (*expected.rule == '\0') return found.findings.empty();
  return found.findings.size() == 1 && found.findings[0].rule == expected.rule && found.findings[0].rank == expected.fault.rank &&
         found.findings[0].op == expected.op;
}

int find(const std::vector<test::RecordedOp>& ops, std::uint32_t ranks, std::uint32_t seeds) {
  constexpr std::uint32_t kIterations = 14;
  int wrong = 0;
  const fs::path path = fs::temp_directory_path() / fmt::format("job_bench_{}.sqlite", ranks);
  for (const Expected& one : expected_of(ops, ranks / 2 + 1)) {
    std::uint32_t right = 0;
    for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
      job::write_job(path, test::simulate({.ranks = ranks, .iterations = kIterations, .seed = seed, .faults = {one.fault}}, ops));
      right += is_right(job::analyse_job(path), one) ? 1 : 0;
    }
    fmt::print("| {} | {} | {} | {} of {} |\n", ranks, one.planted, *one.rule == '\0' ? "none" : one.rule, right, seeds);
    std::fflush(stdout);
    wrong += right == seeds ? 0 : 1;
  }
  fs::remove(path);
  return wrong;
}

void write(const std::vector<test::RecordedOp>& recorded, const fs::path& folder, std::uint32_t ranks) {
  constexpr std::uint32_t kSimulated = 16, kIterations = 300;
  constexpr std::size_t kOps = 1000;
  std::vector<test::RecordedOp> ops;
  for (std::size_t i = 0; i < kOps; ++i) {
    ops.push_back(recorded[i % recorded.size()]);
    ops.back().name.name = fmt::format("/layers.{}{}", i / recorded.size(), ops.back().name.name);
  }
  const std::vector<job::Rank> some = test::simulate({.ranks = kSimulated, .iterations = kIterations}, ops);
  fs::create_directories(folder);
  for (std::uint32_t number = 0; number < ranks; ++number) {
    job::Rank rank = some[number % kSimulated];
    rank.identity = {number, fmt::format("node{:04}", number / 8), 1000 + number, rank.identity.start_unix_ns};
    rank.world_size = ranks;
    job::write_job(folder / fmt::format("rank{:05}.sqlite", number), {rank});
  }
}

void write_captures(const fs::path& folder, std::uint32_t ranks, std::uint32_t launches) {
  fs::create_directories(folder);
  for (std::uint32_t number = 0; number < ranks; ++number) {
    test::MadeUpRun run = test::made_up_run_of(launches);
    run.seed = run.rank = number;
    run.world_size = ranks;
    (void)test::write_made_up_run(folder, run, fmt::format("rank{:05}", number));
  }
}

}  // namespace
}  // namespace dlkprof

int main(int argc, char** argv) {
  const std::string verb = argc > 1 ? argv[1] : "";
  const auto number = [argv](int argument) { return static_cast<std::uint32_t>(std::atoi(argv[argument])); };
  if (verb == "find" && argc == 5) return dlkprof::find(dlkprof::test::recorded_ops(argv[2]), number(3), number(4)) == 0 ? 0 : 1;
  if (verb == "write" && argc == 5) {
    dlkprof::write(dlkprof::test::recorded_ops(argv[2]), argv[3], number(4));
    return 0;
  }
  if (verb == "captures" && argc == 5) {
    dlkprof::write_captures(argv[2], number(3), number(4));
    return 0;
  }
  fmt::print(stderr,
             "job_bench find <capture> <ranks> <seeds>, or job_bench write <capture> <folder> <ranks>, or "
             "job_bench captures <folder> <ranks> <launches>\n");
  return 2;
}
