// Random timelines, folded and aggregated by counting nanosecond after nanosecond.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "model/aggregate/aggregate.h"
#include "model/aggregate/tensor_core_use.h"
#include "model/fold/instance_activities.h"
#include "support/print_stats.h"
#include "support/timeline_builder.h"

namespace dlkprof::model::aggregate_property_test {
namespace {

using test::TimelineBuilder;

constexpr const char* kKeyNode = "Optimizer.zero_grad#SGD.zero_grad";
constexpr const char* kTensorMetric = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed";

class RandomTimeline {
 public:
  explicit RandomTimeline(unsigned seed) : random_(seed) {}

  TimelineBuilder make() {
    builder_.thread();
    builder_.thread(builder_.process());
    builder_.device();
    builder_.measured("kernel1", kTensorMetric, {5});
    for (std::uint32_t thread = 0; thread < 3; ++thread) nest(thread, 0, kEnd, 0);
    for (int i = 0; i < 60; ++i) call();
    return builder_;
  }
  static constexpr std::int64_t kEnd = 2'000;

 private:
  std::int64_t pick(std::int64_t from, std::int64_t to) { return std::uniform_int_distribution(from, to)(random_); }

  void nest(std::uint32_t thread, std::int64_t start, std::int64_t end, int depth) {
    for (std::int64_t at = start + pick(0, 40); at < end && depth < 4; at += pick(1, 60)) {
      const std::int64_t until = std::min(end, at + pick(0, 300));
      builder_.range(message(), at, until, thread, {pick(0, 5) == 0 ? "other" : ""});
      nest(thread, at, until, depth + 1);
      at = until;
    }
  }
  std::string message() {
    const std::string number = std::to_string(pick(1, 3));
    switch (pick(0, 5)) {
      case 0:
        return "aten::mm, seq = " + number;
      case 1:
        return "MmBackward0, seq = " + number;
      case 2:
        return "autograd::engine::evaluate_function: MmBackward0";
      case 3:
        return kKeyNode;
      default:
        return "op" + number;
    }
  }
  void call() {
    const std::int64_t start = pick(0, kEnd);
    const std::uint32_t call = builder_.call("cuGraphLaunch", start, start + pick(0, 30), static_cast<std::uint32_t>(pick(0, 2)));
    for (std::int64_t i = pick(0, 3); i > 0; --i) {
      const std::int64_t on_gpu = pick(1, kEnd);
      const std::string name = pick(0, 3) == 0 ? "[CUDA memcpy HtoD]" : "kernel" + std::to_string(pick(1, 3));
      const bool timed = pick(0, 9) > 0;
      builder_.activity(call, name, timed ? on_gpu : 0, timed ? on_gpu + pick(1, 50) : 0, static_cast<std::uint32_t>(pick(0, 1)));
    }
  }

  std::mt19937 random_;
  TimelineBuilder builder_;
};

// A nanosecond each.
using Instants = std::vector<bool>;
constexpr std::size_t kInstants = 3'000;

void mark(Instants& instants, std::int64_t start, std::int64_t end) {
  for (std::int64_t at = start; at < end; ++at) instants[static_cast<std::size_t>(at)] = true;
}
std::int64_t count(const Instants& instants) { return std::count(instants.begin(), instants.end(), true); }
std::int64_t idle(const Instants& instants) {
  const auto first = std::find(instants.begin(), instants.end(), true);
  const auto last = std::find(instants.rbegin(), instants.rend(), true).base();
  return first == instants.end() ? 0 : std::count(first, last, false);
}

// The range of this timeline that a call or range lies in and that counts: found by walking up.
std::uint32_t range_around(const Timeline& timeline, const std::vector<bool>& counts, std::uint32_t range) {
  while (range != kNone && !counts[range]) range = timeline.ranges[range].parent;
  return range;
}

class AggregatePropertyTest : public testing::TestWithParam<unsigned> {
 protected:
  AggregatePropertyTest() : timeline_(RandomTimeline(GetParam()).make().build()) {
    FoldOptions options;
    if (GetParam() % 2 == 1) options.domains = {"default"};
    fold_ = fold(timeline_, options);
    counts_.resize(timeline_.ranges.size());
    instance_of_.resize(timeline_.ranges.size(), kNone);
    for (std::size_t range = 0; range < counts_.size(); ++range) {
      counts_[range] = options.domains.empty() || timeline_.ranges[range].domain == 0;
    }
    for (std::uint32_t i = 0; i < fold_.instances.size(); ++i) {
      if (fold_.instances[i].range != kNone) instance_of_[fold_.instances[i].range] = i;
    }
    const auto iterations = static_cast<std::uint32_t>(fold_.iterations.size());
    range_ = GetParam() % 3 == 0 ? IterationRange{} : IterationRange{iterations / 3, iterations * 2 / 3};
    made_ = aggregate(timeline_, fold_, range_);
  }

  [[nodiscard]] bool selected(std::uint32_t iteration) const {
    return made_.first_iteration <= iteration && iteration <= made_.last_iteration;
  }
  [[nodiscard]] bool in_group(std::uint32_t instance, const std::string& group) const {
    const std::string& name = fold_.ops[fold_.instances[instance].op].name;
    return name == group || name.starts_with(group + "/");
  }
  [[nodiscard]] std::int64_t duration(const Activity& activity) const { return activity.end_ns - activity.start_ns; }

  Timeline timeline_;
  Fold fold_;
  IterationRange range_;
  Aggregate made_;
  std::vector<bool> counts_;
  std::vector<std::uint32_t> instance_of_;
};

TEST_P(AggregatePropertyTest, WorkBelongsToTheInnermostRange) {
  for (std::size_t i = 0; i < timeline_.activities.size(); ++i) {
    const Call& call = timeline_.calls[timeline_.activities[i].call];
    const std::uint32_t range = range_around(timeline_, counts_, call.range);
    const OpInstance& instance = fold_.instances[fold_.activity_instance[i]];
    EXPECT_EQ(instance.range, range);
    const auto stops = std::count_if(fold_.iterations.begin() + 1, fold_.iterations.end(),
                                     [&](const Iteration& iteration) { return iteration.start_ns <= call.start_ns; });
    EXPECT_EQ(fold_.activity_iteration[i], stops);
  }
}

TEST_P(AggregatePropertyTest, InstancesAreMeasuredToTheNanosecond) {
  std::int64_t before = 0;
  const InstanceActivities activities(timeline_, fold_);
  for (std::uint32_t i = 0; i < fold_.instances.size(); ++i) {
    const OpInstance& instance = fold_.instances[i];
    Instants busy(kInstants);
    std::int64_t gpu = 0;
    for (std::size_t activity = 0; activity < timeline_.activities.size(); ++activity) {
      if (fold_.activity_instance[activity] != i) continue;
      mark(busy, timeline_.activities[activity].start_ns, timeline_.activities[activity].end_ns);
      gpu += duration(timeline_.activities[activity]);
    }
    const GpuTimes times = activities.times(i);
    EXPECT_EQ(times.gpu_ns, gpu);
    EXPECT_LE(times.idle_ns, times.mapped_ns);
    EXPECT_EQ(times.mapped_ns - times.idle_ns, count(busy));
    if (instance.range == kNone) continue;
    const Range& range = timeline_.ranges[instance.range];
    EXPECT_GE(range.start_ns, before) << "by start";
    before = range.start_ns;
    Instants outside(kInstants);
    mark(outside, range.start_ns, range.end_ns);
    for (const Call& call : timeline_.calls) {
      if (call.thread != range.thread) continue;
      for (std::int64_t at = call.start_ns; at < call.end_ns; ++at) outside[static_cast<std::size_t>(at)] = false;
    }
    EXPECT_EQ(cpu_times(timeline_, fold_, i).overhead_ns, count(outside));
  }
}

TEST_P(AggregatePropertyTest, SumsOfAllReportsAgree) {
  std::int64_t activities = 0;
  std::uint64_t timed = 0;
  for (std::size_t i = 0; i < timeline_.activities.size(); ++i) {
    if (!selected(fold_.activity_iteration[i])) continue;
    activities += duration(timeline_.activities[i]);
    if (timeline_.activities[i].end_ns != 0) ++timed;
  }
  std::int64_t ops = 0;
  std::int64_t types = 0;
  std::int64_t kernels = 0;
  std::uint64_t of_kernels = 0;
  std::uint64_t instances = 0;
  for (const OpRow& row : made_.ops) {
    ops += row.gpu.total;
    instances += row.cpu.n;
  }
  for (const OpTypeRow& row : made_.types) types += row.gpu.total;
  for (const KernelRow& row : made_.kernels) {
    kernels += row.gpu.total;
    of_kernels += row.gpu.n;
  }
  EXPECT_EQ(ops, activities);
  EXPECT_EQ(types, activities);
  EXPECT_EQ(kernels, activities);
  EXPECT_EQ(of_kernels, timed);
  EXPECT_EQ(made_.summary.all_ops.gpu_ns, activities);
  EXPECT_EQ(made_.summary.all_kernels.gpu_ns, activities);
  EXPECT_EQ(instances, std::count_if(fold_.instances.begin(), fold_.instances.end(),
                                     [&](const OpInstance& instance) { return selected(instance.iteration); }));
}

TEST_P(AggregatePropertyTest, GroupsAreUnionsOverTheirSubTree) {
  for (const GroupRow& row : made_.groups) {
    const std::string& group = fold_.groups[row.group].name;
    Stats cpu, gpu, gaps, overhead;
    std::uint64_t leaves = 0;
    for (std::uint32_t iteration = made_.first_iteration; iteration <= made_.last_iteration; ++iteration) {
      Instants on_cpu(kInstants), on_gpu(kInstants), in_calls(kInstants);
      bool occurs = false;
      for (std::uint32_t i = 0; i < fold_.instances.size(); ++i) {
        const OpInstance& instance = fold_.instances[i];
        if (instance.iteration != iteration || !in_group(i, group)) continue;
        occurs = true;
        leaves += fold_.ops[instance.op].leaf ? 1 : 0;
        mark(on_cpu, timeline_.ranges[instance.range].start_ns, timeline_.ranges[instance.range].end_ns);
      }
      for (std::size_t i = 0; i < timeline_.activities.size(); ++i) {
        if (fold_.activity_iteration[i] != iteration || !in_group(fold_.activity_instance[i], group)) continue;
        mark(on_gpu, timeline_.activities[i].start_ns, timeline_.activities[i].end_ns);
        occurs |= timeline_.activities[i].start_ns > 0;
      }
      for (const Call& call : timeline_.calls) {
        const std::uint32_t range = range_around(timeline_, counts_, call.range);
        if (range == kNone || fold_.instances[instance_of_[range]].iteration != iteration) continue;
        if (in_group(instance_of_[range], group)) mark(in_calls, call.start_ns, call.end_ns);
      }
      if (!occurs) continue;
      cpu.add(count(on_cpu));
      gpu.add(count(on_gpu));
      gaps.add(idle(on_gpu));
      overhead.add(std::max<std::int64_t>(0, count(on_cpu) - count(in_calls)));
    }
    EXPECT_EQ(row.cpu, cpu) << group;
    EXPECT_EQ(row.gpu, gpu) << group;
    EXPECT_EQ(row.idle, gaps) << group;
    EXPECT_EQ(row.overhead, overhead) << group;
    EXPECT_EQ(row.leaf_instances, leaves) << group;
  }
}

TEST_P(AggregatePropertyTest, SharesAreCountedInstantByInstant) {
  const std::int64_t start = fold_.iterations[made_.first_iteration].start_ns;
  const std::int64_t end = start + made_.summary.wall_ns;
  Duration share;
  const double part = 100.0 / static_cast<double>(made_.summary.wall_ns) / static_cast<double>(timeline_.devices.size());
  Instants cpu(kInstants);
  for (const Range& range : timeline_.ranges) mark(cpu, range.start_ns, range.end_ns);
  for (const Call& call : timeline_.calls) mark(cpu, call.start_ns, call.end_ns);
  for (std::uint32_t device = 0; device < timeline_.devices.size(); ++device) {
    Instants tc(kInstants), other(kInstants), memory(kInstants);
    for (const Activity& activity : timeline_.activities) {
      if (activity.device != device) continue;
      const bool is_kernel = timeline_.kernels[activity.kernel].kind == capture::ActivityKind::kernel;
      const bool uses = TensorCoreTable(timeline_).of(activity).uses;
      mark(!is_kernel ? memory : uses ? tc : other, activity.start_ns, activity.end_ns);
    }
    for (auto at = static_cast<std::size_t>(start); at < static_cast<std::size_t>(end); ++at) {
      (tc[at] ? share.tc : other[at] ? share.non_tc : memory[at] ? share.memory : cpu[at] ? share.cpu : share.other) += part;
    }
  }
  const Duration& made = made_.summary.share;
  EXPECT_NEAR(made.tc, share.tc, 1e-9);
  EXPECT_NEAR(made.non_tc, share.non_tc, 1e-9);
  EXPECT_NEAR(made.memory, share.memory, 1e-9);
  EXPECT_NEAR(made.cpu, share.cpu, 1e-9);
  EXPECT_NEAR(made.other, share.other, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Random, AggregatePropertyTest, testing::Range(0U, 30U));

}  // namespace
}  // namespace dlkprof::model::aggregate_property_test
