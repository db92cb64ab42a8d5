// simulated_job <capture> <job database> <ranks> [healthy]: a job in which the host of one rank sleeps before an op, and another
// rank's GPU is slow; prints as JSON what is wrong with which. A healthy job has neither.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "base/error.h"
#include "job/database.h"
#include "support/simulated_job.h"

namespace {

void write(const std::filesystem::path& capture, const std::filesystem::path& job, std::uint32_t ranks, bool healthy) {
  using namespace dlkprof;  // NOLINT(google-build-using-namespace)
  const std::vector<test::RecordedOp> ops = test::recorded_ops(capture);
  const std::string op = test::longest_op(ops);
  const std::uint32_t sleeps = ranks / 2 + 1;
  const test::PlantedFault asleep{.rank = sleeps, .op = op, .sleep_ns = 5'000'000};
  const test::PlantedFault slow{.rank = 1, .clock = 0.8};
  test::SimulatedJob simulated{.ranks = ranks, .seed = healthy ? 2U : 1U};
  if (!healthy) simulated.faults = {asleep, slow};
  job::write_job(job, test::simulate(simulated, ops));
  fmt::print("{{\"sleeps\": {}, \"op\": \"{}\", \"slow\": 1}}\n", sleeps, op);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 4 && argc != 5) {
    std::fputs("simulated_job <capture> <job database> <ranks> [healthy]\n", stderr);
    return 2;
  }
  write(argv[1], argv[2], static_cast<std::uint32_t>(std::atoi(argv[3])), argc == 5);
  return 0;
} catch (const dlkprof::Error& error) {
  std::fprintf(stderr, "%s\n", error.message().c_str());
  return 1;
}
