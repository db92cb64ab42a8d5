#include "advise/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <vector>

#include "advise/config_use.h"
#include "base/collective_kernel.h"
#include "model/fold/time_arithmetic.h"

namespace dlkprof::advise {
namespace {

using model::kNone;

// The share of a GPU's multiprocessors that get a block; none where grid or GPU are not known.
std::optional<double> filled(const model::Timeline& timeline, const model::Activity& activity) {
  const double sms = timeline.devices[activity.device].record.sm_count;
  if (activity.config == kNone || sms <= 0) return std::nullopt;
  const capture::Dim3& grid = timeline.configs[activity.config].key.grid;
  const double blocks = double{1} * grid.x * grid.y * grid.z;
  return blocks > 0 ? std::optional(std::min(1.0, blocks / sms)) : std::nullopt;
}

// By kernel. A collective has few blocks on purpose: what it takes is told by what it waits for, and by the links.
std::vector<bool> find_collectives(const model::Timeline& timeline) {
  std::vector<bool> found;
  for (const model::Kernel& kernel : timeline.kernels) found.push_back(is_collective_kernel(kernel.mangled));
  return found;
}

// How long a GPU was idle before a work, since all that was before it had ended when it was called. Idle time before the
// iterations aggregated is not theirs; nor, of one kind of iterations, that in the iteration before.
class IdleGpu {
 public:
  explicit IdleGpu(const model::Profile& profile)
      : timeline_(profile.timeline),
        fold_(profile.fold),
        begin_(profile.aggregate.kind == kNone ? profile.fold.iterations[profile.aggregate.first_iteration].start_ns : kNothing),
        ends_(timeline_.devices.size(), kNothing) {}

  // By start on the GPU; by its number on the timeline.
  std::int64_t before(std::size_t number) {
    const model::Activity& activity = timeline_.activities[number];
    std::int64_t& end = ends_[activity.device];
    const std::int64_t before = end;
    end = std::max(end, activity.end_ns);
    if (before == kNothing || activity.call == kNone || timeline_.calls[activity.call].start_ns < before) return 0;
    const std::int64_t begin = begin_ == kNothing ? fold_.iterations[fold_.activity_iteration[number]].start_ns : begin_;
    return model::elapsed_ns(std::max(before, begin), activity.start_ns);
  }

 private:
  static constexpr std::int64_t kNothing = std::numeric_limits<std::int64_t>::min();
  const model::Timeline& timeline_;
  const model::Fold& fold_;
  std::int64_t begin_;  // kNothing: that of each work's iteration
  std::vector<std::int64_t> ends_;
};

// Rows of ops and kernels by what makes them.
class RowNumbers {
 public:
  explicit RowNumbers(const model::Profile& profile) : ops_(profile.fold.ops.size(), kNone) {
    for (std::uint32_t i = 0; i < profile.aggregate.ops.size(); ++i) ops_[profile.aggregate.ops[i].op] = i;
    for (std::uint32_t i = 0; i < profile.aggregate.kernels.size(); ++i) {
      kernels_[key(profile.aggregate.kernels[i].op, profile.aggregate.kernels[i].kernel)] = i;
    }
  }
  [[nodiscard]] std::uint32_t op(std::uint32_t op) const { return ops_[op]; }
  [[nodiscard]] std::uint32_t kernel(std::uint32_t op, std::uint32_t kernel) const {
    const auto found = kernels_.find(key(op, kernel));
    return found == kernels_.end() ? kNone : found->second;
  }

 private:
  static std::uint64_t key(std::uint32_t op, std::uint32_t kernel) { return std::uint64_t{op} << 32U | kernel; }
  std::vector<std::uint32_t> ops_;
  std::unordered_map<std::uint64_t, std::uint32_t> kernels_;
};

void add(Evidence& evidence, std::int64_t gpu_ns, std::int64_t idle_ns, std::optional<double> share) {
  ++evidence.timed;
  model::add_ns(evidence.gpu_ns, gpu_ns);
  if (idle_ns > gpu_ns) {
    ++evidence.waited_for;
    model::add_ns(evidence.idle_before_ns, idle_ns);
  }
  if (!share) return;
  model::add_ns(evidence.grid_ns, gpu_ns);
  evidence.filled_ns += *share * static_cast<double>(gpu_ns);
}

std::int64_t part_of(std::int64_t whole, double percent) {
  return model::whole_ns(static_cast<double>(whole) * std::clamp(percent, 0.0, 100.0) / 100);
}

// 0 where GPU times are near enough to those of the CPU.
std::int64_t clocks_too_far_apart_ns(const model::Profile& profile) {
  const model::Summary& summary = profile.aggregate.summary;
  std::int64_t apart_ns = 0;
  for (const model::Process& process : profile.timeline.processes) apart_ns = std::max(apart_ns, process.gpu_early_ns);
  const double idle = (1 - summary.share.gpu / 100) * summary.mean_iteration_ns;
  return static_cast<double>(apart_ns) > idle ? apart_ns : 0;
}

bool by_throughput(const model::Counters& counters, Judgement& judgement) {
  if (!judgement.sm_percent || !judgement.memory_percent) return false;
  const double most = std::max(*judgement.sm_percent, *judgement.memory_percent);
  judgement.verdict = most < kBoundPercent                                 ? Verdict::latency_bound
                      : *judgement.sm_percent >= *judgement.memory_percent ? Verdict::compute_bound
                                                                           : Verdict::memory_bound;
  judgement.bound_ns = part_of(counters.covered_ns, 100 - most);
  return true;
}

}  // namespace

EvidenceTable gather_evidence(const model::Profile& profile) {
  const model::Timeline& timeline = profile.timeline;
  const Evidence none{.wall_ns = profile.aggregate.summary.wall_ns, .clocks_apart_ns = clocks_too_far_apart_ns(profile)};
  EvidenceTable table{std::vector<Evidence>(profile.aggregate.ops.size(), none),
                      std::vector<Evidence>(profile.aggregate.kernels.size(), none)};
  const RowNumbers rows(profile);
  IdleGpu idle(profile);
  const std::vector<bool> waits_for_others = find_collectives(timeline);
  for (std::size_t i = 0; i < timeline.activities.size(); ++i) {
    const model::Activity& activity = timeline.activities[i];
    if (!model::is_timed(activity)) continue;
    const std::int64_t idle_ns = idle.before(i);  // of all: iterations before those aggregated keep the GPU busy too
    if (!is_aggregated(profile, i) || profile.fold.activity_instance[i] == kNone) continue;
    const std::uint32_t op = profile.fold.instances[profile.fold.activity_instance[i]].op;
    const std::uint32_t op_row = rows.op(op);
    const std::uint32_t kernel_row = rows.kernel(op, activity.kernel);
    const auto share = waits_for_others[activity.kernel] ? std::nullopt : filled(timeline, activity);
    if (op_row != kNone) add(table.ops[op_row], model::gpu_ns(activity), idle_ns, share);
    if (kernel_row != kNone) add(table.kernels[kernel_row], model::gpu_ns(activity), idle_ns, share);
  }
  return table;
}

Judgement judge(const Evidence& evidence, const model::Counters& counters) {
  Judgement judgement;
  judgement.sm_percent = find(counters.values, Quantity::sm_throughput);
  judgement.memory_percent = find(counters.values, Quantity::memory_throughput);
  if (evidence.grid_ns > 0) judgement.filled_percent = 100 * evidence.filled_ns / static_cast<double>(evidence.grid_ns);
  judgement.clocks_apart_ns = evidence.clocks_apart_ns;
  if (evidence.timed > 0 && evidence.clocks_apart_ns == 0) {
    judgement.waited_percent = 100 * static_cast<double>(evidence.waited_for) / static_cast<double>(evidence.timed);
  }
  if (judgement.waited_percent && *judgement.waited_percent >= kWaitedPercent && evidence.waited_for >= kLeastWaitedFor) {
    judgement.verdict = Verdict::launch_bound;
    judgement.bound_ns = evidence.idle_before_ns;
  } else if (judgement.filled_percent && *judgement.filled_percent < kFilledPercent) {
    judgement.verdict = Verdict::too_small;
    judgement.bound_ns = part_of(evidence.grid_ns, 100 - *judgement.filled_percent);
  } else if (!by_throughput(counters, judgement)) {
    judgement.verdict = Verdict::unknown;
  }
  if (judgement.bound_ns) judgement.bound_ns = std::min(*judgement.bound_ns, evidence.wall_ns);
  return judgement;
}

const char* verdict_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::unknown:
      break;
    case Verdict::launch_bound:
      return "launch-bound";
    case Verdict::too_small:
      return "too small";
    case Verdict::compute_bound:
      return "compute-bound";
    case Verdict::memory_bound:
      return "memory-bound";
    case Verdict::latency_bound:
      return "latency-bound";
  }
  return "";
}

std::string clocks_text(std::int64_t clocks_apart_ns) {
  if (clocks_apart_ns == 0) return "";
  return fmt::format("whether the GPU waited for launches cannot be told: GPU and CPU clocks may be {:.3g} ms apart",
                     static_cast<double>(clocks_apart_ns) / 1e6);
}

std::string reason_text(const Judgement& judgement) {
  switch (judgement.verdict) {
    case Verdict::unknown:
      return clocks_text(judgement.clocks_apart_ns);
    case Verdict::launch_bound:
      return fmt::format("before {:.3g} % of its launches the GPU was idle for longer than they ran", *judgement.waited_percent);
    case Verdict::too_small:
      return fmt::format("its grids have blocks for {:.3g} % of the multiprocessors", *judgement.filled_percent);
    case Verdict::compute_bound:
    case Verdict::memory_bound:
      return fmt::format(
          "compute at {:.3g} %, memory at {:.3g} % of peak{}", *judgement.sm_percent, *judgement.memory_percent,
          std::max(*judgement.sm_percent, *judgement.memory_percent) >= kNearPeakPercent ? ": near what there is" : "");
    case Verdict::latency_bound:
      return fmt::format("compute at {:.3g} %, memory at {:.3g} % of peak: both below {:g} %", *judgement.sm_percent,
                         *judgement.memory_percent, kBoundPercent);
  }
  return "";
}

}  // namespace dlkprof::advise
