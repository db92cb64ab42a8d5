// What belongs together within one capture: its own numbers become indices of the timeline.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "model/fold/time_arithmetic.h"
#include "model/timeline/timeline_loader.h"

namespace dlkprof::model {
namespace {

// A range's id begins with the number of its thread.
constexpr unsigned kThreadShift = 40;

// 73 years. Differences of clocks beyond are none.
constexpr std::int64_t kMostShiftNs = std::int64_t{1} << 61U;

// How long copies and sets last at least, by their kind and bytes.
class ShortestCopies {
 public:
  void add(const Activity& copy) {
    const std::int64_t ns = gpu_ns(copy);
    std::int64_t& least = ns_.try_emplace({copy.kernel, copy.bytes}, ns).first->second;
    least = std::min(least, ns);
  }
  // To the shortest of its kind of as many bytes, or else of the next more.
  void shorten(Activity& copy) const {
    const auto alike = ns_.lower_bound({copy.kernel, copy.bytes});
    if (alike == ns_.end() || alike->first.first != copy.kernel) return;
    if (gpu_ns(copy) > alike->second) copy.end_ns = copy.start_ns + alike->second;
  }

 private:
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::int64_t> ns_;
};

}  // namespace

std::optional<std::int64_t> HostClocks::shift_ns(const std::string& host, const capture::ClockRecord& clock) {
  if (!first_host_) first_host_ = host;
  const bool known = clock.unix_ns != 0;
  // The first process of a host speaks for all: what its clocks gained on one another since does not move the others.
  if (known) boot_unix_ns_.try_emplace(host, clock.unix_ns - clock.monotonic_ns);
  if (host == *first_host_) return 0;
  const auto here = boot_unix_ns_.find(host);
  const auto first = boot_unix_ns_.find(*first_host_);
  if (here == boot_unix_ns_.end() || first == boot_unix_ns_.end()) return std::nullopt;
  const std::int64_t shift = here->second - first->second;  // both are positive
  return std::abs(shift) <= kMostShiftNs ? std::optional(shift) : std::nullopt;
}

void TimelineLoader::join() {
  drop_absent_ranges();
  join_ranges();
  join_graphs();
  join_calls();
  join_strings();
  const std::map<std::uint32_t, std::uint32_t> devices = join_devices();  // indices by ordinal
  join_activities(devices);
  end_copies();
  join_samples(devices);
  bound_clocks();
  cut_absences();
  cut_held(devices);
  join_measured();
  join_counts();
  join_facts();
  join_detachment();
  join_functions();
  shift_times();
}

void TimelineLoader::join_ranges() {
  range_rank_.resize(timeline_.ranges.size(), kNone);
  const std::vector<std::uint32_t> again = parts_.range_ids.sort();
  notices_.count("Ranges with the number of another left out", again.size());
  for (const std::uint32_t index : again) timeline_.ranges[index].parent = kNone;
  auto rank = static_cast<std::uint32_t>(parts_.ranges);
  for (const auto& entry : parts_.range_ids.entries()) range_rank_[entry.index] = rank++;
  close_open_ranges();
  std::uint64_t unknown = 0;
  // In the order of numbers the parents' come nearly in order too.
  for (const auto& entry : parts_.range_ids.entries()) {
    std::uint32_t& parent = timeline_.ranges[entry.index].parent;
    if (parent == kNone) continue;
    parent = parts_.range_ids.find(parent == CaptureParts::kFar ? parts_.far_parents.at(entry.key) : entry.key - parent);
    if (parent == kNone) ++unknown;
  }
  parts_.far_parents = {};
  notices_.count("Ranges inside one that the capture does not hold, taken for ranges by themselves", unknown);
}

// By the thread's number, since the system gives a gettid(2) to another thread when one has ended.
void TimelineLoader::close_open_ranges() {
  std::unordered_map<std::uint64_t, std::int64_t> last;
  for (const auto& [id, index] : parts_.range_ids.entries()) {
    if (!timeline_.ranges[index].closed) last.try_emplace(id >> kThreadShift, 0);
  }
  if (last.empty()) return;
  const auto see = [&](std::uint64_t id, std::int64_t end_ns) {
    if (const auto thread = last.find(id >> kThreadShift); thread != last.end())
      thread->second = std::max(thread->second, end_ns);
  };
  for (const auto& [id, index] : parts_.range_ids.entries()) see(id, timeline_.ranges[index].end_ns);
  for (std::size_t i = 0; i < parts_.call_numbers.size(); ++i) {
    see(parts_.call_numbers[i].range, timeline_.calls[parts_.calls + i].end_ns);
  }
  for (const auto& [id, index] : parts_.range_ids.entries()) {
    Range& range = timeline_.ranges[index];
    if (!range.closed) range.end_ns = std::max(range.start_ns, last.at(id >> kThreadShift));
  }
}

void TimelineLoader::join_calls() {
  std::uint64_t unknown = 0;
  for (std::size_t i = 0; i < parts_.call_numbers.size(); ++i) {
    const std::uint64_t id = parts_.call_numbers[i].range;
    if (id == 0) continue;
    std::uint32_t& range = timeline_.calls[parts_.calls + i].range;
    range = parts_.range_ids.find(id);
    if (range == kNone) ++unknown;
  }
  notices_.count("CUDA calls inside a range that the capture does not hold, taken for calls outside of ranges", unknown);
  notices_.count("CUDA calls with the number of another, taken for calls without GPU work", parts_.correlations.sort().size());
  parts_.range_ids = {};
}

// Until now works of graphs have the number that GraphNodes gave to their node.
void TimelineLoader::join_graphs() {
  const auto range_of = [this](std::uint64_t id) { return id == 0 ? kNone : parts_.range_ids.find(id); };
  const std::vector<std::uint32_t> nodes = std::move(parts_.graph_nodes).resolve(range_of, timeline_.graph_nodes);
  for (const auto& [node, function] : std::exchange(parts_.node_functions, {})) {
    if (nodes[node] != kNone) parts_.node_functions.try_emplace(nodes[node], function);
  }
  std::uint64_t unknown = 0;
  for (std::size_t i = parts_.activities; i < timeline_.activities.size(); ++i) {
    Activity& activity = timeline_.activities[i];
    if (!activity.in_graph) continue;
    activity.graph_node = activity.graph_node == kNone ? kNone : nodes[activity.graph_node];
    if (activity.graph_node == kNone) ++unknown;
  }
  if (!parts_.tells_graphs) return;  // of an older version, which nobody asks for ops within graphs
  notices_.count(
      "Work of CUDA graphs that were made before profiling began or while CUPTI was detached, counted for the op that launches "
      "the "
      "graph (--timeline on keeps CUPTI loaded)",
      unknown);
}

void TimelineLoader::join_strings() {
  notices_.count("Texts with the number of another left out", parts_.strings.sort().size());
  for (std::size_t i = parts_.ranges; i < timeline_.ranges.size(); ++i) {
    timeline_.ranges[i].message = string_index(timeline_.ranges[i].message);
  }
  // Apart from messages, so that each finds the next beside the last.
  for (std::size_t i = parts_.ranges; i < timeline_.ranges.size(); ++i) {
    timeline_.ranges[i].domain = string_index(timeline_.ranges[i].domain);
  }
  for (std::size_t i = parts_.calls; i < timeline_.calls.size(); ++i) {
    timeline_.calls[i].name = string_index(timeline_.calls[i].name);
  }
}

std::uint32_t TimelineLoader::string_index(std::uint32_t id) {
  if (id == 0) return 0;
  const std::uint32_t index = parts_.strings.find(id);
  if (index != kNone) return index;
  notices_.count("Names that the capture does not hold, left empty");
  return 0;
}

void TimelineLoader::join_activities(const std::map<std::uint32_t, std::uint32_t>& devices) {
  for (const auto& [key, stats] : parts_.key_stats) parts_.kernel_functions.launched(kernel_of(key), stats);
  number_conditional_nodes();
  std::array<KernelsFound, 2> kernels;
  std::uint64_t uncalled = 0;
  for (std::size_t i = parts_.activities; i < timeline_.activities.size(); ++i) {
    Activity& activity = timeline_.activities[i];
    const auto device = devices.find(activity.device);
    activity.device = device != devices.end() ? device->second : unknown_device();
    activity.call = parts_.correlations.find(activity.call);
    if (activity.call == kNone) ++uncalled;
    if (activity.config != kNone) join_activity(activity, kernels);
  }
  notices_.count("Kernels, copies and sets whose CUDA call the capture does not hold", uncalled);
}

// What a conditional node of a graph runs has no number of a call (CUPTI of CUDA 13.0): it gets that of the graph launch whose
// work ran last before it, as a kernel of the same graph sets the condition first.
void TimelineLoader::number_conditional_nodes() {
  constexpr std::uint32_t kNoNumber = 0;
  const auto lacks_number = [](const Activity& activity) { return activity.in_graph && activity.call == kNoNumber; };
  const std::span all = std::span(timeline_.activities).subspan(parts_.activities);
  if (std::none_of(all.begin(), all.end(), lacks_number)) return;
  std::vector<std::uint32_t> order;  // by start
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (is_timed(all[i])) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return all[a].start_ns < all[b].start_ns; });
  std::map<std::uint32_t, std::uint32_t> last;  // number of a graph launch, by device; none where something else ran since
  std::uint64_t placed = 0;
  for (const std::uint32_t index : order) {
    Activity& activity = all[index];
    std::uint32_t& number = last[activity.device];
    if (!lacks_number(activity)) {
      number = activity.in_graph ? activity.call : kNoNumber;
    } else if (number != kNoNumber) {
      activity.call = number;
      ++placed;
    }
  }
  notices_.count("Work of conditional nodes of CUDA graphs, counted for the graph launch that ran before it", placed);
}

// A stream does one thing after another, so that a copy or set has ended where what is called later on it begins. (Kernels may
// overlap there, by programmatic dependent launch.) CUPTI of CUDA 13.0 told of a copy within a CUDA graph, 160 bytes, that lasted
// for 0.6 s and over twenty iterations; and of one of a byte in no graph, 2.4 s. The stream may have been idle before what comes
// next, so that the start of that is a bound, not the end: one whose end is wrong is taken to last as others do.
void TimelineLoader::end_copies() {
  std::vector<std::uint32_t> order;  // by start, falling
  for (std::size_t i = parts_.activities; i < timeline_.activities.size(); ++i) {
    if (is_timed(timeline_.activities[i]) && timeline_.activities[i].call != kNone)
      order.push_back(static_cast<std::uint32_t>(i));
  }
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return timeline_.activities[a].start_ns > timeline_.activities[b].start_ns;
  });
  struct Next {
    std::uint32_t call = kNone;
    std::int64_t start_ns = 0;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::array<Next, 2>> next;  // two calls of each stream, the nearer first
  std::vector<std::uint32_t> ended;
  ShortestCopies shortest;
  for (const std::uint32_t index : order) {
    Activity& activity = timeline_.activities[index];
    auto& [nearer, farther] = next[{activity.device, activity.stream}];
    const Next& later = nearer.call == activity.call ? farther : nearer;
    const bool is_copy = activity.config == kNone;
    if (is_copy && later.call != kNone && activity.end_ns > later.start_ns &&
        timeline_.calls[later.call].start_ns > timeline_.calls[activity.call].start_ns) {
      activity.end_ns = later.start_ns;
      ended.push_back(index);
    } else if (is_copy) {
      shortest.add(activity);
    }
    if (nearer.call != activity.call) farther = nearer;
    nearer = {activity.call, activity.start_ns};
  }
  for (const std::uint32_t index : ended) shortest.shorten(timeline_.activities[index]);
  notices_.count("Copies and sets that seemed to last beyond the next work of their stream, taken to last as the shortest alike",
                 ended.size());
}

// A kernel's: `kernels` are those found already, by shape and function; outside and inside of graphs.
void TimelineLoader::join_activity(Activity& activity, std::array<KernelsFound, 2>& kernels) {
  std::uint32_t function = 0;
  if (activity.in_graph) {
    const auto told = parts_.node_functions.find(activity.graph_node);
    if (told != parts_.node_functions.end()) function = told->second;
  } else if (activity.call != kNone) {
    const CaptureParts::CallNumbers& call = parts_.call_numbers[activity.call - parts_.calls];
    activity.launch_index = call.launch_index;
    function = call.function;
  }
  const auto [known, is_new] = kernels[activity.in_graph ? 1 : 0].try_emplace(std::uint64_t{activity.config} << 32U | function);
  if (is_new) {
    const LaunchShape& shape = *parts_.shapes[activity.config];
    // A node may have been set to another kernel since it was launched by itself.
    if (activity.in_graph && !is_of_kernel(function, shape.name)) function = 0;
    known->second = kernel_and_config(shape, function);
  }
  std::tie(activity.kernel, activity.config) = known->second;
}

bool TimelineLoader::is_of_kernel(std::uint32_t function, std::uint32_t name) {
  const auto known = parts_.functions.find(function);
  return known != parts_.functions.end() && kernels_.kernel(timeline_.strings[string_index(name)]) == known->second;
}

std::pair<std::uint32_t, std::uint32_t> TimelineLoader::kernel_and_config(const LaunchShape& shape, std::uint32_t function) {
  capture::LaunchKey key = shape.key;
  std::uint32_t kernel = kNone;
  if (const auto known = parts_.functions.find(function); known != parts_.functions.end()) {
    kernel = known->second;
    key.function = function;
  } else {
    if (function != 0) notices_.count("Launch configurations of a function that the capture does not describe");
    kernel = kernels_.kernel(timeline_.strings[string_index(shape.name)]);
    // Kernels of graphs, whose call does not say: what was measured of the same function holds for them as well.
    key.function = parts_.kernel_functions.find(kernel, key);
  }
  return {kernel, kernels_.config(parts_.process, key, kernel)};
}

// Indices by ordinal.
std::map<std::uint32_t, std::uint32_t> TimelineLoader::join_devices() {
  std::map<std::uint32_t, std::uint32_t> indices;
  const std::string& host = timeline_.processes[parts_.process].record.host;
  for (auto& [ordinal, record] : parts_.devices) {
    auto index = static_cast<std::uint32_t>(timeline_.devices.size());
    if (!record.pci_bus_id.empty()) index = devices_.try_emplace({host, record.pci_bus_id}, index).first->second;
    indices[ordinal] = index;
    if (index == timeline_.devices.size()) timeline_.devices.push_back({std::move(record)});
  }
  timeline_.processes[parts_.process].devices = indices;
  return indices;
}

// One for all that the capture does not describe.
std::uint32_t TimelineLoader::unknown_device() {
  notices_.count("Kernels, copies and sets on a GPU that the capture does not describe");
  if (parts_.unknown_device == kNone) {
    parts_.unknown_device = static_cast<std::uint32_t>(timeline_.devices.size());
    timeline_.devices.emplace_back().record.name = "unknown";
  }
  return parts_.unknown_device;
}

// Of several processes the first that says a thing is believed: it is the one that was started.
void TimelineLoader::join_facts() {
  for (capture::Fact& fact : parts_.facts) {
    if (!facts_known_.try_emplace({fact.source, fact.name}, true).second) continue;
    if (fact.source == "pytorch" && fact.name == "compiled_failure") {  // of python/dlkprof/_compiled.py
      timeline_.notices.push_back({capture::Severity::warning,
                                   "Kernels that torch.compile made from then on have no module and no Python line", fact.value,
                                   "The rest of the profile is whole."});
    }
    timeline_.facts.push_back(std::move(fact));
  }
}

void TimelineLoader::join_functions() {
  for (auto& [id, record] : parts_.loaded) timeline_.functions.push_back({parts_.process, std::move(record)});
}

void TimelineLoader::shift_times() {
  Process& process = timeline_.processes[parts_.process];
  const std::optional<std::int64_t> shift = clocks_.shift_ns(process.record.host, process.clock);
  if (!shift) notices_.count("Captures of another host whose clock is not known, with times as that host had them");
  if (!shift || *shift == 0) return;
  process.clock.monotonic_ns += *shift;
  move_times([&](std::int64_t ns) { return ns + *shift; });
}

}  // namespace dlkprof::model
