// The figures of DLProf's reports over a range of iterations: one row struct a report. Everything that the database stores
// and reports print.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/aggregate/metric_map.h"
#include "model/aggregate/steady_range.h"
#include "model/aggregate/undisturbed.h"
#include "model/fold/fold.h"
#include "model/fold/time_arithmetic.h"
#include "model/timeline/timeline.h"

namespace dlkprof::model {

// Accumulated over instances (guide, 8.5). Times in ns.
struct Stats {
  std::uint64_t n = 0;
  std::int64_t total = 0, least = 0, most = 0;
  void add(std::int64_t value);
  [[nodiscard]] double mean() const { return n == 0 ? 0.0 : static_cast<double>(total) / static_cast<double>(n); }
  friend bool operator==(const Stats&, const Stats&) = default;
};

enum class TensorCoreSource : std::uint8_t { unknown, name, counter };

// Metrics of the measured launches behind a row: NVPerf name -> figure. A configuration stands for all of the row's launches
// of it by the mean of those measured. Counts (names that end in ".sum") are scaled: that mean times those launches, summed over
// configurations; `counts` has what they were scaled from. All else (ratios, averages, per cent, rates) are means over
// configurations weighted by the row's GPU time in each, where nothing was timed by the number of launches. Launches of
// configurations that were not measured are left out: covered_ns says how much that is not. So are values that cannot be
// (model/aggregate/reliable.h).
struct Counters {
  MetricMap<double> values;
  // A count as it was measured: the sum over the launches measured of the row's configurations, wherever these were launched,
  // and how many they are; none of samples. Then the row's launches of these configurations, which `values` is scaled to.
  struct Count {
    double measured = 0;
    std::uint64_t launches = 0, scaled_to = 0;
    friend bool operator==(const Count&, const Count&) = default;
  };
  MetricMap<Count> counts;
  std::set<std::string> unreliable;  // metrics of which values were left out, as they cannot be
  std::uint64_t samples = 0;         // launches measured behind them
  std::int64_t covered_ns = 0;       // GPU time of the row in configurations that were measured
  // How those launches were measured: a bit for each value of ReplayMode and of CacheControl that occurs among them.
  std::uint8_t replay_modes = 0, cache_controls = 0;
  // Of those that were sampled, how sure they are: the sums of samples and launches behind them, and half of the 95 % confidence
  // interval of the figure in `values`, configurations taken as independent; none where one of them has none.
  struct Sampled {
    std::uint64_t samples = 0, launches = 0;
    std::optional<double> interval;
    friend bool operator==(const Sampled&, const Sampled&) = default;
  };
  MetricMap<Sampled> sampled;
};

// Of the instances that begin, and the work that is called, in the iterations aggregated. An instance that begins before them
// and launches within them adds to `gpu` only, so that the GPU times of all rows are those of the same work.
struct OpRow {
  std::uint32_t op = 0;  // index into Fold::ops
  Stats cpu, gpu, overhead, idle, mapped;
  bool uses_tc = false;
  TensorCoreSource tc_source = TensorCoreSource::unknown;
  std::int64_t tc_gpu_ns = 0;                     // in kernels that use tensor cores
  std::int64_t tc_counted_ns = 0;                 // in kernels of which counters say whether they do, and not their names
  std::vector<std::uint32_t> tc_kernels, others;  // unique: indices into Timeline::kernels
  [[nodiscard]] bool launches() const { return !tc_kernels.empty() || !others.empty(); }
  std::uint32_t kernels_measured = 0;  // of them: of which a launch was measured
  Counters counters;
};

struct KernelRow {  // a kernel of an op
  std::uint32_t kernel = 0, op = 0;
  Stats gpu;  // of what was timed
  Stats api;  // CUDA calls, each at the first work that it caused (a graph launch causes many)
  bool uses_tc = false;
  TensorCoreSource tc_source = TensorCoreSource::unknown;
  Counters counters;
};

struct OpTypeRow {
  std::string type;
  std::uint64_t nodes = 0;
  bool eligible = false, uses_tc = false;
  Stats cpu, gpu, overhead, idle;
  Counters counters;
};

struct GroupRow {
  std::uint32_t group = 0;                           // index into Fold::groups
  std::uint64_t leaf_instances = 0;                  // instances of leaf ops in the sub-tree
  std::uint64_t eligible_leaves = 0, tc_leaves = 0;  // leaf ops in the sub-tree
  Stats cpu, gpu, overhead, idle;                    // flattened: a value an iteration in which the group occurs
};

struct Duration {  // shares of the wall clock, each excluding those before it (guide, 10.2); per cent, mean over GPUs
  double gpu = 0, tc = 0, non_tc = 0, memory = 0, dataloader = 0, io = 0, cpu = 0, other = 0;
};

// The same of one iteration in ns, summed over GPUs: uses of several iterations add up to those of their range. I/O: nothing
// measures it.
struct WallUse {
  std::int64_t wall_ns = 0;
  std::int64_t gpu_ns = 0, tc_ns = 0, non_tc_ns = 0, memory_ns = 0, dataloader_ns = 0, cpu_ns = 0, other_ns = 0;
};
// Sums over ops that launched anything, or over kernels by name.
struct OpsLine {
  std::int64_t gpu_ns = 0;
  // Of ops: what their ranges cover on each thread, where one lies inside another counting once, summed over threads. Of kernels:
  // of the CUDA calls that caused them; none where no call is known, as of a graph's kernels but the first.
  std::optional<std::int64_t> cpu_ns = 0;
  std::uint64_t count = 0;
};

// Iterations of one kind, of those in the range.
struct KindRow {
  std::uint32_t kind = 0;  // index into Fold::kinds
  std::uint64_t iterations = 0;
  std::int64_t wall_ns = 0;
  std::int64_t gpu_ns = 0;  // of what was called in them
  double median_ns = 0, mean_ns = 0;
  double deviation_ns = 0;  // sample standard deviation
  std::string verdict;      // what holds them back, in a sentence: report::judge_kinds(); empty: not judged
  friend bool operator==(const KindRow&, const KindRow&) = default;
};

// Iterations that figures are not of.
struct LeftOut {
  std::uint64_t iterations = 0;
  std::int64_t wall_ns = 0;
  std::int64_t gpu_ns = 0;  // of what was called in them
  friend bool operator==(const LeftOut&, const LeftOut&) = default;
};

struct Summary {
  std::int64_t wall_ns = 0;
  std::optional<double> tc_utilization;  // per cent; none where no op is eligible
  Duration share;
  std::uint64_t total_iterations = 0;  // 0 where no key node was found
  std::uint64_t aggregated_iterations = 0, start_iteration = 0, stop_iteration = 0;
  double mean_iteration_ns = 0, median_iteration_ns = 0;
  double iteration_deviation_ns = 0;  // sample standard deviation
  bool mixed_kinds = false;  // of several kinds of iterations: median and deviation are of no use, and Aggregate::kinds are
  // What sums over all iterations are divided by where they are shown per iteration: a mean over several kinds is that of none.
  [[nodiscard]] double shown_iterations() const {
    return mixed_kinds || aggregated_iterations == 0 ? 1 : static_cast<double>(aggregated_iterations);
  }
  LeftOut before, after;  // the start iteration, the stop iteration
  OpsLine all_ops, tc_ops, eligible_without_tc, other_ops;
  OpsLine all_kernels, tc_kernels, memory, other_kernels;
  std::int64_t graph_gpu_ns = 0;                     // in kernels of CUDA graphs
  std::optional<UndisturbedIterations> undisturbed;  // without the profiler
  // What the iterations aggregated take by themselves, where that is known: what the profiler adds is idle time of the GPU, as
  // its work is the same. Else wall_ns.
  [[nodiscard]] std::int64_t own_wall_ns() const {
    if (!undisturbed) return wall_ns;
    return std::min(wall_ns,
                    whole_ns(undisturbed->mean_ns * static_cast<double>(std::max<std::uint64_t>(1, aggregated_iterations))));
  }
  // The part of it in which a GPU does nothing: the mean over GPUs.
  [[nodiscard]] std::int64_t own_idle_ns() const {
    const double busy_ns = std::clamp(share.gpu, 0.0, 100.0) / 100 * static_cast<double>(wall_ns);
    return std::max<std::int64_t>(0, own_wall_ns() - whole_ns(busy_ns));
  }
};

// How the iterations aggregated were chosen: everything, since no iteration is whole; by find_steady_range(); by the user.
enum class RangeSource : std::uint8_t { all, found, asked };

struct Aggregate {
  std::uint32_t first_iteration = 0, last_iteration = 0;  // inclusive
  std::uint32_t kind = kNone;                             // index into Fold::kinds: of these, only such; kNone: all
  RangeSource range_source = RangeSource::all;
  SteadyRange steady;  // also where another range was asked for
  Summary summary;
  std::vector<OpRow> ops;          // by GPU time, then CPU time, falling
  std::vector<KernelRow> kernels;  // by GPU time, falling
  std::vector<OpTypeRow> types;    // by GPU time, falling
  std::vector<GroupRow> groups;    // by name; those that occur
  std::vector<KindRow> kinds;      // of the range, also where one kind was asked for; those that occur, by Fold::kinds

  // Whether figures are of this iteration.
  [[nodiscard]] bool has(const Fold& fold, std::uint32_t iteration) const {
    return first_iteration <= iteration && iteration <= last_iteration &&
           (kind == kNone || fold.iterations[iteration].kind == kind);
  }
  // Whether figures are of iterations of several kinds: a median of all would be that of none.
  [[nodiscard]] bool is_mixed() const { return kind == kNone && kinds.size() > 1; }
};

struct IterationRange {
  std::optional<std::uint32_t> start, stop;
  std::string kind;  // name of one of Fold::kinds, or its number from 1; empty: all
  [[nodiscard]] bool is_asked() const { return start || stop; }
  friend bool operator==(const IterationRange&, const IterationRange&) = default;
};

// Without a range: of the steady one. With a part of it: from the first iteration, or to the last. Throws UsageError where there
// are no such iterations or none of such a kind, saying which there are.
[[nodiscard]] Aggregate aggregate(const Timeline& timeline, const Fold& fold, const IterationRange& range = {});

// Of each iteration.
[[nodiscard]] std::vector<WallUse> find_iteration_uses(const Timeline& timeline, const Fold& fold);

// Whether a kernel of a configuration uses tensor cores: by its tensor-pipe counter where it was measured and says so, else by
// its name (model/aggregate/tensor_core_use.h).
struct TensorCoreUse {
  bool uses = false;
  TensorCoreSource source = TensorCoreSource::unknown;
};

}  // namespace dlkprof::model
