// Simulated jobs (tests/support/simulated_job.h) of any size, from a recorded capture:
//   job_bench find <capture> <ranks>            plants a fault of each kind, each in a job of its own, and says which were found
//   job_bench write <capture> <folder> <ranks>  writes ranks of 300,000 launches, already folded, a file each: 1,000 ops in 300
//                                               iterations. Sixteen ranks are simulated; others are these under other numbers.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "job/analysis.h"
#include "job/merge.h"
#include "support/simulated_job.h"

namespace dlkprof {
namespace {

namespace fs = std::filesystem;

struct Expected {
  const char* rule;
  std::string op;
  test::PlantedFault fault;
};

int find(const std::vector<test::RecordedOp>& ops, std::uint32_t ranks) {
  const std::string op = test::longest_op(ops);
  const std::uint32_t rank = ranks / 2 + 1;
  const std::vector<Expected> all{
      {"", "", {.rank = rank}},
      {"slow_gpu", op, {.rank = rank, .clock = 0.8}},
      {"uneven_shards", op, {.rank = rank, .work = 1.3}},
      {"slow_gpu", op, {.rank = rank, .op = op, .op_takes = 1.6}},
      {"late_input", ops.front().name.name, {.rank = rank, .input_ns = 2'000'000}},
      {"straggler", op, {.rank = rank, .op = op, .sleep_ns = 1'000'000}},
  };
  int wrong = 0;
  const fs::path path = fs::temp_directory_path() / fmt::format("job_bench_{}.sqlite", ranks);
  for (const Expected& one : all) {
    job::write_job(path, test::simulate({.ranks = ranks, .iterations = 10, .faults = {one.fault}}, ops));
    const job::JobAnalysis found = job::analyse_job(path);
    const bool none = *one.rule == '\0';
    const bool right = none ? found.findings.empty()
                            : found.findings.size() == 1 && found.findings[0].rule == one.rule &&
                                  found.findings[0].rank == rank && found.findings[0].op == one.op;
    fmt::print("{:>6} ranks, {:14} {}\n", ranks, none ? "no fault" : one.rule,
               right ? "found, and nothing else" : fmt::format("WRONG: {} findings", found.findings.size()));
    wrong += right ? 0 : 1;
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

}  // namespace
}  // namespace dlkprof

int main(int argc, char** argv) {
  const std::string verb = argc > 1 ? argv[1] : "";
  if (verb == "find" && argc == 4) {
    return dlkprof::find(dlkprof::test::recorded_ops(argv[2]), static_cast<std::uint32_t>(std::atoi(argv[3]))) == 0 ? 0 : 1;
  }
  if (verb == "write" && argc == 5) {
    dlkprof::write(dlkprof::test::recorded_ops(argv[2]), argv[3], static_cast<std::uint32_t>(std::atoi(argv[4])));
    return 0;
  }
  fmt::print(stderr, "job_bench find <capture> <ranks>, or job_bench write <capture> <folder> <ranks>\n");
  return 2;
}
