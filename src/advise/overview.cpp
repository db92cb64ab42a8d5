#include "advise/overview.h"

#include <algorithm>
#include <array>
#include <map>

#include "advise/quantities.h"
#include "advise/sampled_stalls.h"
#include "advise/stalls.h"
#include "model/aggregate/config_counters.h"
#include "model/aggregate/tensor_core_use.h"
#include "model/fold/time_arithmetic.h"

namespace dlkprof::advise {
namespace {

using model::kNone;
using model::OpGroupRow;
using model::Profile;

// Ours: below it idle time is not what a program is held back by.
constexpr double kIdlePercent = 20;
// Ours: rows by layer say nothing where so much is in no layer at all.
constexpr double kStrayPercent = 80;

double part_percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

void add_evidence(Evidence& sum, const Evidence& one) {
  sum.timed += one.timed;
  model::add_ns(sum.gpu_ns, one.gpu_ns);
  sum.waited_for += one.waited_for;
  model::add_ns(sum.idle_before_ns, one.idle_before_ns);
  sum.filled_ns += one.filled_ns;
  model::add_ns(sum.grid_ns, one.grid_ns);
}

// Ours: counters of a smaller part do not say what bounds the whole.
constexpr double kEnoughMeasured = 50;

Judgement judgement_of(const Evidence& evidence, const model::Counters& counters, double measured_percent) {
  return judge(evidence, measured_percent < kEnoughMeasured ? model::Counters() : counters);
}

// Of `gpu_ns`, a group's GPU time or that of its kernels.
double measured_percent_of(const OpGroupRow& group, std::int64_t gpu_ns) {
  return std::min(100.0, part_percent(static_cast<double>(group.counters.covered_ns), static_cast<double>(gpu_ns)));
}

// "void gemm<float, 128>(float*)" as "gemm<float, 128>": what tells kernels of one short name apart.
std::string name_with_arguments(const model::Kernel& kernel) {
  std::string name = kernel.long_name;
  if (const std::size_t parameters = name.rfind(">("); parameters != std::string::npos) name.resize(parameters + 1);
  return name.starts_with("void ") ? name.substr(5) : name;
}

// What warps of each kernel waited for most, by PC samples.
using TopStalls = std::map<std::uint32_t, Stall>;
TopStalls top_stalls_of(const model::Timeline& timeline) {
  TopStalls top;
  for (const SampledKernel& kernel : sampled_kernels(timeline.pc_samples)) {
    const auto waits = [](const Stall& stall) { return stall.name != "selected"; };
    const auto found = std::find_if(kernel.stalls.begin(), kernel.stalls.end(), waits);
    if (found != kernel.stalls.end()) top.emplace(kernel.kernel, *found);
  }
  return top;
}

// Rows of a timeline, by group.
class GroupedRows {
 public:
  explicit GroupedRows(const Profile& profile)
      : profile_(profile),
        evidence_(gather_evidence(profile)),
        stalls_(top_stalls_of(profile.timeline)),
        first_kernel_(profile.fold.ops.size(), kNone) {
    for (std::uint32_t i = 0; i < profile.aggregate.kernels.size(); ++i) {
      std::uint32_t& first = first_kernel_[profile.aggregate.kernels[i].op];
      first = std::min(first, i);
    }
  }

  // By layer, or by kernel where layers would say nothing.
  std::vector<OverviewRow> make(Overview& overview) {
    std::vector<OpGroupRow> groups = group_ops(profile_, model::By::layer);
    overview.has_ops = tells_layers(groups);
    if (!overview.has_ops) groups = group_ops(profile_, model::By::kernel);
    std::vector<OverviewRow> rows;
    const auto judged = judge_groups(evidence_, groups, overview.has_ops ? model::By::layer : model::By::kernel);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      rows.push_back(row_of(groups[i], overview.has_ops));
      rows.back().judgement = judged[i];
    }
    if (!overview.has_ops) tell_apart(rows, groups);
    return rows;
  }
  [[nodiscard]] std::int64_t idle_before_launches() const {
    std::int64_t sum = 0;
    for (const Evidence& one : evidence_.ops) model::add_ns(sum, one.idle_before_ns);
    return sum;
  }

 private:
  [[nodiscard]] bool tells_layers(const std::vector<OpGroupRow>& groups) const {
    double stray = 0;
    for (const OpGroupRow& group : groups) {
      // A graph is one op with all that it holds.
      const bool is_graph = group.share > 0.5 && group.graph_gpu_ns > group.gpu_ns / 2;
      if (model::is_unassociated(group.name) || is_graph) stray += 100 * group.share;
    }
    return !groups.empty() && stray < kStrayPercent;
  }

  void tell_apart(std::vector<OverviewRow>& rows, const std::vector<OpGroupRow>& groups) const {
    std::map<std::string, std::size_t> names;
    for (const OverviewRow& row : rows) ++names[row.name];
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (groups[i].rows.empty()) continue;
      const model::Kernel& kernel = profile_.timeline.kernels[profile_.aggregate.kernels[groups[i].rows.front()].kernel];
      if (names[rows[i].name] > 1) rows[i].name = name_with_arguments(kernel);
      rows[i].whole_name = kernel.long_name;
    }
  }

  OverviewRow row_of(const OpGroupRow& group, bool by_layer) const {
    OverviewRow row;
    row.name = group.name;
    row.type = group.type;
    row.direction = group.direction;
    row.gpu_ns = group.gpu_ns;
    row.percent = 100 * group.share;
    row.copies_ns = group.copies_gpu_ns;
    row.measured_percent = measured_percent_of(group, group.gpu_ns - group.copies_gpu_ns);
    row.uses_tc = group.uses_tc;
    row.tensor_ns = group.tc_gpu_ns;
    row.tc_source = group.tc_source;
    row.occupancy = find(group.counters.values, Quantity::achieved_occupancy);
    set_stall(row, longest_kernel(group, by_layer));
    return row;
  }

  // Of the rows that a group is made of: the kernel with most GPU time.
  [[nodiscard]] std::uint32_t longest_kernel(const OpGroupRow& group, bool by_layer) const {
    const auto& kernels = profile_.aggregate.kernels;  // by GPU time
    std::uint32_t first = kNone;
    for (const std::uint32_t index : group.rows) {
      if (stalls_.empty()) break;
      first = std::min(first, by_layer ? first_kernel_[profile_.aggregate.ops[index].op] : index);
    }
    return first == kNone ? kNone : kernels[first].kernel;
  }

  void set_stall(OverviewRow& row, std::uint32_t kernel) const {
    const auto found = stalls_.find(kernel);
    if (found == stalls_.end()) return;
    row.stall = found->second.name;
    row.stall_percent = found->second.percent;
  }

  const Profile& profile_;
  EvidenceTable evidence_;
  TopStalls stalls_;
  std::vector<std::uint32_t> first_kernel_;  // of each of Fold::ops: the first of its Aggregate::kernels
};

// Rows of a capture without a timeline, from counts of launches: those that were timed, and those whose length a counter tells.
class CountedRows {
 public:
  explicit CountedRows(const Profile& profile) : timeline_(profile.timeline), stalls_(top_stalls_of(profile.timeline)) {
    const model::TensorCoreTable tensor_cores(timeline_);
    for (const model::LaunchCounts& counts : timeline_.counts) {
      if (counts.kernel != kNone) add(counts, tensor_cores.of(counts.kernel, counts.config));
    }
  }

  std::vector<OverviewRow> make() const {
    double whole = 0;
    for (const auto& [kernel, sum] : sums_) whole += sum.gpu_ns;
    std::vector<OverviewRow> rows;
    for (const auto& [kernel, sum] : sums_) {
      if (sum.gpu_ns > 0) rows.push_back(row_of(kernel, sum, whole));
    }
    std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.gpu_ns > b.gpu_ns; });
    return rows;
  }

 private:
  struct Sum {
    double gpu_ns = 0, measured_ns = 0, tensor_ns = 0;
    Values weighted, weights;  // by metric: figures times GPU time, and that time
    model::TensorCoreSource tc_source = model::TensorCoreSource::unknown;
  };

  void add(const model::LaunchCounts& counts, model::TensorCoreUse use) {
    Sum& sum = sums_[counts.kernel];
    auto gpu_ns = static_cast<double>(counts.timed_gpu_ns);
    if (counts.config != kNone && counts.measured > 0) gpu_ns += add_measured(sum, counts);
    sum.gpu_ns += gpu_ns;
    if (use.uses) sum.tensor_ns += gpu_ns;
    sum.tc_source = std::max(sum.tc_source, use.source);
  }

  // Returns the GPU time of the launches that were measured.
  double add_measured(Sum& sum, const model::LaunchCounts& counts) const {
    const Values values = model::counters_of_config(timeline_, counts.config).values();
    const double length = find(values, Quantity::duration).value_or(0);
    const double measured = length * static_cast<double>(counts.measured);
    const double weight = measured + static_cast<double>(counts.timed_gpu_ns);
    sum.measured_ns += weight;
    for (const auto& [metric, value] : values) {
      sum.weighted[metric] += value * weight;
      sum.weights[metric] += weight;
    }
    return measured;
  }

  OverviewRow row_of(std::uint32_t kernel, const Sum& sum, double whole) const {
    OverviewRow row;
    row.name = timeline_.kernels[kernel].name;
    row.whole_name = timeline_.kernels[kernel].long_name;
    row.gpu_ns = model::whole_ns(sum.gpu_ns);
    row.percent = part_percent(sum.gpu_ns, whole);
    row.measured_percent = part_percent(sum.measured_ns, sum.gpu_ns);
    model::Counters counters;
    for (const auto& [metric, value] : sum.weighted) {
      if (sum.weights.at(metric) > 0) counters.values[metric] = value / sum.weights.at(metric);
    }
    row.judgement = judgement_of({}, counters, row.measured_percent);
    row.occupancy = find(counters.values, Quantity::achieved_occupancy);
    row.uses_tc = sum.tensor_ns > 0;
    row.tensor_ns = model::whole_ns(sum.tensor_ns);
    row.tc_source = sum.tc_source;
    if (const auto stall = stalls_.find(kernel); stall != stalls_.end()) {
      row.stall = stall->second.name;
      row.stall_percent = stall->second.percent;
    }
    return row;
  }

  const model::Timeline& timeline_;
  TopStalls stalls_;
  std::map<std::uint32_t, Sum> sums_;
};

// What the rows come down to: what bounds most of the GPU time, and how much of it was measured.
void sum_up(Overview& overview) {
  std::array<double, 6> bound{};
  std::int64_t tensor_by_name = 0, tensor_by_counter = 0, copies_ns = 0;
  double measured_ns = 0;
  for (const OverviewRow& row : overview.rows) {
    model::add_ns(overview.gpu_ns, row.gpu_ns);
    model::add_ns(copies_ns, row.copies_ns);
    measured_ns += static_cast<double>(row.gpu_ns - row.copies_ns) * row.measured_percent / 100;
    bound[static_cast<std::size_t>(row.judgement.verdict)] += row.percent;
    model::add_ns(row.tc_source == model::TensorCoreSource::counter ? tensor_by_counter : tensor_by_name, row.tensor_ns);
  }
  overview.measured_percent = part_percent(measured_ns, static_cast<double>(overview.gpu_ns - copies_ns));
  overview.copies_percent = part_percent(static_cast<double>(copies_ns), static_cast<double>(overview.gpu_ns));
  overview.tensor_percent =
      part_percent(static_cast<double>(tensor_by_name + tensor_by_counter), static_cast<double>(overview.gpu_ns));
  overview.tensor_by_name = tensor_by_name > tensor_by_counter;
  bound[static_cast<std::size_t>(Verdict::unknown)] = 0;
  const auto most = std::max_element(bound.begin(), bound.end());
  for (const double one : bound) overview.known_percent += one;
  if (*most <= 0) return;
  overview.most = static_cast<Verdict>(most - bound.begin());
  overview.most_percent = *most;
}

void judge_idleness(Overview& overview, const Profile& profile, std::int64_t idle_before_ns) {
  const model::Summary& summary = profile.aggregate.summary;
  const double gpus = std::max<double>(1, static_cast<double>(profile.timeline.devices.size()));
  const auto profiled_ns = static_cast<double>(summary.wall_ns);
  const auto own_ns = static_cast<double>(summary.own_wall_ns());
  overview.undisturbed = summary.undisturbed.has_value();
  const double idle_ns = static_cast<double>(summary.own_idle_ns()) * gpus;
  const double waited_ns = std::max(0.0, static_cast<double>(idle_before_ns) - (profiled_ns - own_ns) * gpus);
  overview.idle_percent = std::clamp(part_percent(idle_ns, own_ns * gpus), 0.0, 100.0);
  overview.waited_percent = std::min(100.0, part_percent(waited_ns, idle_ns));
  if (overview.idle_percent < kIdlePercent) return;
  const bool sure = static_cast<double>(overview.clock_ns) < summary.mean_iteration_ns;
  overview.verdict = !sure                                       ? Verdicts::idle_unsure
                     : overview.waited_percent >= kWaitedPercent ? Verdicts::launch_bound
                                                                 : Verdicts::idle;
}

void find_findings(Overview& overview, const Profile& profile) {
  overview.findings = diagnose(profile);
  std::erase_if(overview.findings, [&profile](const Finding& finding) {
    return !finding.bound_ns || is_negligible(finding, profile.aggregate.summary);
  });
}

// The part of the iterations aggregated in which launches have lost their GPU times.
double lost_share(const Profile& profile) {
  const model::Fold& fold = profile.fold;
  const std::int64_t start = fold.iterations[profile.aggregate.first_iteration].start_ns;
  const std::int64_t stop = fold.iterations[profile.aggregate.last_iteration].stop_ns;
  if (stop <= fold.times_lost_from_ns || stop <= start) return 0;
  return static_cast<double>(model::elapsed_ns(std::max(start, fold.times_lost_from_ns), stop)) /
         static_cast<double>(model::elapsed_ns(start, stop));
}

// Where GPU times are lost the GPU only seems to idle, and nothing that follows from its times is found.
void judge(Overview& overview, const Profile& profile, std::int64_t idle_before_ns) {
  constexpr double kMostLost = 0.05;  // ours: so much turns no verdict, which needs kIdlePercent
  if (lost_share(profile) > kMostLost) {
    overview.verdict = Verdicts::lost;
    return;
  }
  if (overview.gpu_ns > 0) overview.verdict = Verdicts::busy;
  judge_idleness(overview, profile, idle_before_ns);
  find_findings(overview, profile);
}

}  // namespace

std::vector<Judgement> judge_groups(const EvidenceTable& evidence, std::span<const OpGroupRow> groups, model::By by) {
  const std::vector<Evidence>& rows = by == model::By::kernel ? evidence.kernels : evidence.ops;
  std::vector<Judgement> judged;
  for (const OpGroupRow& group : groups) {
    Evidence sum;
    for (const std::uint32_t index : group.rows) add_evidence(sum, rows[index]);
    judged.push_back(judgement_of(sum, group.counters, measured_percent_of(group, group.gpu_ns)));
  }
  return judged;
}

Overview overview_of(const Profile& profile) {
  Overview overview;
  const model::Timeline& timeline = profile.timeline;
  for (const auto& [config, launches] : timeline.measured_launches) overview.launches_measured += launches.size();
  overview.sampled = !timeline.sampled.empty();
  overview.pc_sampled = !timeline.pc_samples.stalls.empty();
  overview.instructions_counted = !timeline.pc_samples.counts.empty();
  for (const model::Process& process : timeline.processes) {
    const std::int64_t apart = std::max<std::int64_t>(process.gpu_early_ns, 0) + std::max<std::int64_t>(process.gpu_late_ns, 0);
    overview.clock_ns = std::max(overview.clock_ns, apart);
  }
  overview.has_times = !timeline.activities.empty();
  overview.has_iterations = profile.fold.key_nodes_found > 0;
  if (overview.has_times) {
    GroupedRows rows(profile);
    overview.rows = rows.make(overview);
    sum_up(overview);
    judge(overview, profile, rows.idle_before_launches());
  } else {
    overview.rows = CountedRows(profile).make();
    sum_up(overview);
    if (overview.gpu_ns > 0) overview.verdict = Verdicts::busy;
  }
  overview.per_iteration = overview.has_iterations && !profile.aggregate.is_mixed();
  overview.gpu_ns_per_iteration = static_cast<double>(overview.gpu_ns) / profile.aggregate.summary.shown_iterations();
  return overview;
}

}  // namespace dlkprof::advise
