// Rules about how GPUs are used as a whole.
#include <fmt/format.h>

#include <charconv>
#include <numeric>
#include <utility>

#include "advise/rule_parts.h"
#include "model/fold/time_arithmetic.h"

namespace dlkprof::advise {
namespace {

constexpr double kLeastOfBusiest = 50;    // % of the busy time of the busiest GPU
constexpr double kLeastUtilization = 50;  // %

// Time in which each GPU did anything.
std::vector<std::int64_t> busy_times(const Case& run) {
  const model::Timeline& timeline = run.profile.timeline;
  std::vector<model::Flattened> busy(timeline.devices.size());
  for (std::size_t i = 0; i < timeline.activities.size(); ++i) {
    const model::Activity& activity = timeline.activities[i];
    if (model::is_timed(activity) && is_aggregated(run.profile, i)) busy[activity.device].add(activity.start_ns, activity.end_ns);
  }
  std::vector<std::int64_t> times(busy.size());
  std::transform(busy.begin(), busy.end(), times.begin(), [](const model::Flattened& one) { return one.covered_ns(); });
  return times;
}

void find_imbalance(const Case& run, Findings& findings) {
  const std::vector<std::int64_t> busy = busy_times(run);
  if (busy.size() < 2) return;
  const auto [least, most] = std::minmax_element(busy.begin(), busy.end());
  if (*most == 0 || 100 * static_cast<double>(*least) / static_cast<double>(*most) >= kLeastOfBusiest) return;
  const double mean = std::accumulate(busy.begin(), busy.end(), 0.0) / static_cast<double>(busy.size());
  findings.push_back(of_run(run,
                            fmt::format("GPU {} was busy for {:.3g} % of the time that GPU {} was.", least - busy.begin(),
                                        100 * static_cast<double>(*least) / static_cast<double>(*most), most - busy.begin()),
                            model::whole_ns(static_cast<double>(*most) - mean)));
}

std::optional<std::uint64_t> visible_gpus(const Case& run) {
  const auto text = run.fact("gpus.visible");
  if (!text) return std::nullopt;
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), count);
  return error == std::errc() && end == text->data() + text->size() ? std::optional(count) : std::nullopt;
}

void find_unused_gpus(const Case& run, Findings& findings) {
  const std::vector<std::int64_t> busy = busy_times(run);
  const auto used = static_cast<std::uint64_t>(std::count_if(busy.begin(), busy.end(), [](std::int64_t ns) { return ns > 0; }));
  const std::uint64_t there = std::max<std::uint64_t>(busy.size(), visible_gpus(run).value_or(0));
  if (used == 0 || used >= there) return;
  findings.push_back(of_run(run, fmt::format("Of {} GPUs that the program saw {} did anything.", there, used), std::nullopt));
  findings.back().recommendation =
      "Spread the work over all GPUs, or leave those not needed to others with CUDA_VISIBLE_DEVICES.";
}

// Launches that the GPU waited for, and how long it was idle before them.
struct WaitedFor {
  std::uint64_t timed = 0, launches = 0;
  std::int64_t idle_ns = 0;          // without what the profiler adds
  std::int64_t clocks_apart_ns = 0;  // as Evidence has it; above 0 there is no more to be said
  [[nodiscard]] double percent() const {
    return timed == 0 ? 0 : 100 * static_cast<double>(launches) / static_cast<double>(timed);
  }
};

WaitedFor waited_for(const Case& run) {
  const model::Summary& summary = run.profile.aggregate.summary;
  WaitedFor sum;
  for (const Evidence& evidence : run.evidence.ops) {
    sum.clocks_apart_ns = std::max(sum.clocks_apart_ns, evidence.clocks_apart_ns);
    if (sum.clocks_apart_ns > 0) break;
    sum.timed += evidence.timed;
    sum.launches += evidence.waited_for;
    model::add_ns(sum.idle_ns, std::min(evidence.idle_before_ns, summary.wall_ns));
  }
  sum.idle_ns = std::max<std::int64_t>(0, std::min(sum.idle_ns, summary.wall_ns) - (summary.wall_ns - summary.own_wall_ns()));
  return sum;
}

void find_underused(const Case& run, Findings& findings) {
  find_unused_gpus(run, findings);
  const model::Summary& summary = run.profile.aggregate.summary;
  const std::int64_t own_ns = summary.own_wall_ns();
  if (run.gpu_ns == 0 || own_ns <= 0) return;
  const std::int64_t idle_ns = summary.own_idle_ns();
  const double busy_percent = 100 * (1 - static_cast<double>(idle_ns) / static_cast<double>(own_ns));
  if (busy_percent >= kLeastUtilization) return;
  // A cause that is known comes before what it brings about: what find_launch_bound stands for is not at stake here.
  const WaitedFor waited = waited_for(run);
  const std::int64_t explained_ns = waited.percent() >= kWaitedPercent ? std::min(waited.idle_ns, idle_ns) : 0;
  std::string problem = fmt::format("GPUs were busy for {:.3g} % of the wall clock{}.", busy_percent,
                                    summary.undisturbed ? " without the profiler" : "");
  if (explained_ns > 0) {
    problem += fmt::format(" Of the rest {:.3g} % is time before launches that they waited for.",
                           100 * static_cast<double>(explained_ns) / static_cast<double>(idle_ns));
  }
  if (waited.clocks_apart_ns > 0) problem += fmt::format(" But {}.", clocks_text(waited.clocks_apart_ns));
  findings.push_back(of_run(run, std::move(problem), idle_ns - explained_ns));
}

void find_launch_bound(const Case& run, Findings& findings) {
  const WaitedFor waited = waited_for(run);
  if (waited.percent() < kWaitedPercent || waited.idle_ns == 0) return;
  std::string problem = fmt::format(
      "Before {:.3g} % of all launches the GPU had nothing left to do, and was idle for longer than they then ran: the CPU "
      "cannot "
      "launch fast enough.",
      waited.percent());
  findings.push_back(of_run(run, std::move(problem), waited.idle_ns));
}

}  // namespace

std::vector<Rule> gpu_rules() {
  return {
      {"gpu_imbalance", "Imbalanced GPU Detector", "GPUs are used unevenly", "All",
       fmt::format("A GPU is busy for less than {:g} % of the time that the busiest is.", kLeastOfBusiest),
       "The guide (10.10) says \"significantly less\"; the figure is ours.",
       "The busy time of the busiest GPU above the mean of all.",
       "Give all GPUs the same work: one process a GPU (DistributedDataParallel rather than DataParallel), even batches, even "
       "pipeline stages.",
       "", find_imbalance},
      {"gpu_underused", "Underutilized GPU Detector", "GPUs are idle most of the time", "All",
       fmt::format("A GPU that the program sees does nothing, or GPUs are busy for less than {:g} % of the wall clock.",
                   kLeastUtilization),
       "The guide (10.10).",
       "The wall clock in which GPUs were idle, without the part that the Launch Bound Detector counts; none for unused GPUs.",
       "Find what the GPU waits for: the data loader, launches (CUDA graphs, torch.compile), or synchronizing calls such as "
       ".item() and .cpu().",
       "", find_underused,
       "Find what the GPU waits for: batches from the host, launches (one jax.jit around the whole step), or calls that wait for "
       "values, such as float(), numpy.asarray() and print()."},
      {"launch_bound", "Launch Bound Detector", "The GPU waits for launches", "All",
       fmt::format("Before at least {:g} % of the timed launches, the GPU had finished all earlier work when they were called, "
                   "and was idle for longer than they then ran.",
                   kWaitedPercent),
       "Ours. GPU and CPU times are compared. Where their clocks may be further apart than the GPU is idle in an iteration, as "
       "the "
       "summary states, nothing is found.",
       "The time that the GPU was idle before those launches.",
       "Launch less often: torch.compile(model, mode=\"reduce-overhead\"), which uses CUDA graphs; a fused optimizer "
       "(fused=True); "
       "a larger batch.",
       "", find_launch_bound,
       "Launch less often: one jax.jit around the whole step, the optimizer's update in it; jax.lax.scan over several steps; a "
       "larger batch."}};
}

}  // namespace dlkprof::advise
