#include "advise/run_figures.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "advise/run_figures_parts.h"
#include "model/aggregate/tensor_core_use.h"
#include "model/fold/time_arithmetic.h"

namespace dlkprof::advise {
namespace {

using model::kNone;

// The fact that a framework tells (docs/user/python.md); the first that is a number.
std::optional<std::uint64_t> recorded_batch_size(const model::Timeline& timeline) {
  for (const capture::Fact& fact : timeline.facts) {
    if (fact.name != "batch_size") continue;
    std::uint64_t value = 0;
    const char* end = fact.value.data() + fact.value.size();
    const auto [stop, failure] = std::from_chars(fact.value.data(), end, value);
    if (failure == std::errc() && stop == end && value > 0) return value;
  }
  return std::nullopt;
}

const char* name_of_framework(model::Framework framework) {
  switch (framework) {
    case model::Framework::pytorch:
    case model::Framework::dlkprof:
    case model::Framework::pyprof:
      return "PyTorch";
    case model::Framework::xla:
      return "XLA";
    case model::Framework::tensorflow:
      return "TensorFlow";
    case model::Framework::tensorrt:
      return "TensorRT";
    case model::Framework::deepspeed:
      return "DeepSpeed";
    case model::Framework::megatron:
      return "Megatron";
    case model::Framework::vllm:
      return "vLLM";
    case model::Framework::none:
      break;
  }
  return nullptr;
}

void describe(const model::Profile& profile, RunFigures& figures) {
  std::set<std::string> gpus;
  for (const auto& [record] : profile.timeline.devices) gpus.insert(record.name);
  figures.gpus.assign(gpus.begin(), gpus.end());
  std::set<std::string> frameworks;
  for (const model::Op& op : profile.fold.ops) {
    if (const char* name = name_of_framework(op.framework)) frameworks.insert(name);
  }
  figures.frameworks.assign(frameworks.begin(), frameworks.end());
  figures.processes = profile.timeline.processes.size();
  if (!profile.timeline.processes.empty()) {
    const capture::ProcessRecord& first = profile.timeline.processes.front().record;
    figures.program = fmt::format("{}", fmt::join(first.arguments, " "));
    figures.start_unix_ns = first.start_unix_ns;
  }
  for (const capture::Fact& fact : profile.timeline.facts) {
    if (fact.source == "system" && fact.name == "driver.version") figures.driver = fact.value;
  }
  figures.key_node = profile.fold.key_node;
  figures.batch_size = recorded_batch_size(profile.timeline);
}

// One op of ours may be several of a fold, which also tells frameworks apart.
std::vector<std::uint32_t> number_ops(const model::Fold& fold, std::vector<std::uint32_t>& first_of_number) {
  std::map<std::tuple<std::string_view, model::Direction, std::string_view>, std::uint32_t> known;
  std::vector<std::uint32_t> numbers;
  numbers.reserve(fold.ops.size());
  for (std::uint32_t i = 0; i < fold.ops.size(); ++i) {
    const model::Op& op = fold.ops[i];
    const auto next = static_cast<std::uint32_t>(first_of_number.size());
    const auto [found, is_new] = known.try_emplace({op.name, op.direction, op.type}, next);
    if (is_new) first_of_number.push_back(i);
    numbers.push_back(found->second);
  }
  return numbers;
}

// Sums by iteration of an op, in which iterations come nearly in order.
std::vector<double> dense(std::vector<std::pair<std::uint32_t, std::int64_t>> sums, std::size_t iterations, std::size_t& occurs) {
  std::sort(sums.begin(), sums.end());
  occurs = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) occurs += i == 0 || sums[i].first != sums[i - 1].first ? 1 : 0;
  if (2 * occurs < iterations) return {};
  std::vector<double> values(iterations);
  for (const auto& [iteration, gpu_ns] : sums) values[iteration] += static_cast<double>(gpu_ns);
  return values;
}

std::vector<std::uint32_t> each_once(std::vector<std::uint32_t> iterations) {
  std::sort(iterations.begin(), iterations.end());
  iterations.erase(std::unique(iterations.begin(), iterations.end()), iterations.end());
  return iterations;
}

// Calls that a window held up while it measured have no time, and do not count.
std::map<std::string, Spread> launch_calls(const model::Timeline& timeline, const Window& window) {
  std::map<std::uint32_t, std::vector<double>> times;  // by name
  for (const model::Call& call : timeline.calls) {
    if (call.end_ns <= call.start_ns || !window.has(call.start_ns)) continue;
    if (timeline.strings[call.name].find("Launch") == std::string::npos) continue;
    times[call.name].push_back(static_cast<double>(model::elapsed_ns(call.start_ns, call.end_ns)));
  }
  std::map<std::string, Spread> spreads;
  for (auto& [name, some] : times) spreads.emplace(timeline.strings[name], spread_of(std::move(some)));
  return spreads;
}

// Goes over the works of a run once.
class Gatherer {
 public:
  Gatherer(const model::Profile& profile, const Window& window)
      : profile_(profile),
        window_(window),
        tensor_cores_(profile.timeline),
        number_of_op_(number_ops(profile.fold, first_of_number_)),
        sums_(first_of_number_.size()),
        busy_(profile.timeline.devices.size(), window),
        gpu_ns_(window.count()),
        kernels_(window.count()),
        launches_(window.count()),
        copies_(window.count()) {}

  void gather() {
    for (std::size_t i = 0; i < profile_.timeline.activities.size(); ++i) add(i, profile_.timeline.activities[i]);
  }
  void finish(RunFigures& figures);

 private:
  void add(std::size_t index, const model::Activity& activity);
  void count(std::uint32_t iteration, const model::Activity& activity, bool is_kernel);
  void finish_ops(const LaunchGroups& groups, RunFigures& figures);

  const model::Profile& profile_;
  const Window& window_;
  model::TensorCoreTable tensor_cores_;
  std::vector<std::uint32_t> first_of_number_;                             // of each op of ours: one of the fold's
  std::vector<std::uint32_t> number_of_op_;                                // of each op of the fold's: ours
  std::vector<std::vector<std::pair<std::uint32_t, std::int64_t>>> sums_;  // of each op of ours: iteration and GPU time
  BusyTimes busy_;
  LaunchSums groups_;
  std::unordered_set<std::uint32_t> graph_calls_;
  std::vector<double> gpu_ns_, kernels_, launches_, copies_;  // of each iteration
  std::vector<std::uint32_t> part_timed_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> ops_part_timed_;  // by op of ours
};

void Gatherer::add(std::size_t index, const model::Activity& activity) {
  if (model::is_timed(activity)) busy_.add(activity.device, activity.start_ns, activity.end_ns);
  const auto iteration = window_.index_of(profile_.fold.activity_iteration[index]);
  if (!iteration) return;
  const std::uint32_t op = number_of_op_[profile_.fold.instances[profile_.fold.activity_instance[index]].op];
  const std::int64_t gpu_ns = model::gpu_ns(activity);
  if (!model::is_timed(activity) || activity.estimated) {
    part_timed_.push_back(*iteration);
    ops_part_timed_[op].push_back(*iteration);
  }
  auto& sums = sums_[op];
  if (sums.empty() || sums.back().first != *iteration) sums.emplace_back(*iteration, 0);
  model::add_ns(sums.back().second, gpu_ns);
  const bool is_kernel = profile_.timeline.is_kernel(activity);
  gpu_ns_[*iteration] += static_cast<double>(gpu_ns);
  count(*iteration, activity, is_kernel);
  LaunchSum& sum = groups_[{op, activity.kernel, activity.config}];
  sum.device = activity.device;
  sum.uses_tc = is_kernel && tensor_cores_.of(activity).uses;
  ++sum.launches;
  model::add_ns(sum.gpu_ns, gpu_ns);
}

// A graph's kernels are launched by one call.
void Gatherer::count(std::uint32_t iteration, const model::Activity& activity, bool is_kernel) {
  (is_kernel ? kernels_ : copies_)[iteration] += 1;
  const bool launched = activity.in_graph ? activity.call != kNone && graph_calls_.insert(activity.call).second : is_kernel;
  if (launched) launches_[iteration] += 1;
}

void Gatherer::finish_ops(const LaunchGroups& groups, RunFigures& figures) {
  const auto iterations = static_cast<double>(window_.count());
  for (std::uint32_t number = 0; number < sums_.size(); ++number) {
    if (sums_[number].empty()) continue;
    const model::Op& op = profile_.fold.ops[first_of_number_[number]];
    OpFigures& made = figures.ops.emplace_back();
    made.name = op.name;
    made.type = op.type;
    made.direction = op.direction;
    for (const auto& [iteration, gpu_ns] : sums_[number]) made.mean_gpu_ns += static_cast<double>(gpu_ns) / iterations;
    made.gpu_ns = dense(std::move(sums_[number]), window_.count(), made.occurs);
    made.gpu = spread_of(made.gpu_ns);
    if (const auto found = ops_part_timed_.find(number); found != ops_part_timed_.end())
      made.part_timed = each_once(std::move(found->second));
    groups.describe(number, window_.count(), made);
  }
  std::stable_sort(figures.ops.begin(), figures.ops.end(),
                   [](const OpFigures& a, const OpFigures& b) { return a.mean_gpu_ns > b.mean_gpu_ns; });
}

void Gatherer::finish(RunFigures& figures) {
  for (std::uint32_t i = window_.first(); i <= window_.last(); ++i) {
    const auto index = window_.index_of(i);
    if (index && profile_.fold.iterations[i].stop_ns > profile_.fold.times_lost_from_ns) part_timed_.push_back(*index);
  }
  figures.iteration_ns = window_.lengths();
  figures.iteration = spread_of(figures.iteration_ns);
  figures.gpu_ns = std::move(gpu_ns_);
  figures.gpu = spread_of(figures.gpu_ns);
  figures.part_timed = each_once(std::move(part_timed_));
  figures.kernels = spread_of(std::move(kernels_));
  figures.launches = spread_of(std::move(launches_));
  figures.copies = spread_of(std::move(copies_));
  figures.utilization = busy_.utilization();
  const LaunchGroups groups(profile_.timeline, std::move(groups_));
  groups.describe(figures);
  finish_ops(groups, figures);
}

// Where iterations of several kinds count.
void describe_kinds(const model::Profile& profile, const Window& window, RunFigures& figures) {
  const model::Fold& fold = profile.fold;
  if (profile.aggregate.kind != kNone) figures.kind = fold.kinds[profile.aggregate.kind].name;
  if (profile.aggregate.kind != kNone || fold.kinds.empty() || !window.has_iterations()) return;
  std::vector<KindFigures> kinds(fold.kinds.size());
  for (std::uint32_t i = window.first(); i <= window.last(); ++i) {
    const std::uint32_t kind = fold.iterations[i].kind;
    const auto number = window.index_of(i);
    if (kind == kNone || !number) continue;
    if (std::binary_search(figures.part_timed.begin(), figures.part_timed.end(), *number))
      kinds[kind].part_timed.push_back(static_cast<std::uint32_t>(kinds[kind].gpu_ns.size()));
    kinds[kind].iteration_ns.push_back(figures.iteration_ns[*number]);
    kinds[kind].gpu_ns.push_back(figures.gpu_ns[*number]);
  }
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    KindFigures& made = kinds[kind];
    made.name = fold.kinds[kind].name;
    if (made.iteration_ns.empty()) continue;
    made.iteration = spread_of(made.iteration_ns);
    made.gpu = spread_of(made.gpu_ns);
    figures.kinds.push_back(std::move(made));
  }
  if (figures.kinds.size() < 2) figures.kinds.clear();
}

}  // namespace

std::optional<double> RunFigures::samples_per_second() const {
  if (!batch_size || !has_iterations || !kinds.empty() || !(iteration.median > 0)) return std::nullopt;
  return 1e9 * static_cast<double>(*batch_size) / iteration.median;
}

const KindFigures* RunFigures::find_kind(const std::string& name) const {
  const auto found = std::find_if(kinds.begin(), kinds.end(), [&name](const KindFigures& one) { return one.name == name; });
  return found == kinds.end() ? nullptr : &*found;
}

RunFigures figures_of(const model::Profile& profile) {
  RunFigures figures;
  describe(profile, figures);
  const Window window(profile);
  figures.has_iterations = window.has_iterations();
  figures.first = window.first();
  figures.last = window.last();
  Gatherer gatherer(profile, window);
  gatherer.gather();
  gatherer.finish(figures);
  figures.launch_calls = launch_calls(profile.timeline, window);
  describe_kinds(profile, window, figures);
  return figures;
}

}  // namespace dlkprof::advise
