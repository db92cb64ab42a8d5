#include "model/fold/key_node.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "model/fold/time_arithmetic.h"
#include "model/fold/token_lengths.h"

namespace dlkprof::model {
namespace {

// Ranges of one marker name that might be the key node.
struct Candidate {
  int rank = 0;
  std::uint64_t instances = 0;
  std::int64_t gpu_ns = 0;  // of the work inside
};

// Of each range the GPU time of the work inside it, inner ranges' included.
std::vector<std::int64_t> sum_gpu_times(const Timeline& timeline) {
  std::vector<std::int64_t> sums(timeline.ranges.size());
  for (const Activity& activity : timeline.activities) {
    if (activity.call == kNone || timeline.calls[activity.call].range == kNone) continue;
    add_ns(sums[timeline.calls[activity.call].range], gpu_ns(activity));
  }
  for (std::size_t range = sums.size(); range-- > 0;) {
    if (const std::uint32_t parent = timeline.ranges[range].parent; parent != kNone) add_ns(sums[parent], sums[range]);
  }
  return sums;
}

using Candidates = std::map<std::uint32_t, Candidate>;  // by name

Candidates find_candidates(const Timeline& timeline, const RangeMarkers& markers) {
  Candidates candidates;
  const bool any = std::any_of(markers.signatures().begin(), markers.signatures().end(),
                               [](const Signature& signature) { return signature.key_rank.has_value(); });
  if (!any) return candidates;
  const std::vector<std::int64_t> gpu_times = sum_gpu_times(timeline);
  for (std::uint32_t range = 0; range < timeline.ranges.size(); ++range) {
    if (!markers.counts(range)) continue;
    const Signature& signature = markers.signature(range);
    if (!signature.key_rank) continue;
    Candidate& candidate = candidates.try_emplace(signature.name, Candidate{*signature.key_rank}).first->second;
    candidate.rank = std::min(candidate.rank, *signature.key_rank);
    ++candidate.instances;
    add_ns(candidate.gpu_ns, gpu_times[range]);
  }
  return candidates;
}

// The best by rank of those found at least so often. Of equals that with most GPU time inside: programs of JAX run a dozen
// modules, of which the training step is the one that matters.
std::optional<std::uint32_t> choose(const Candidates& candidates, const TextTable& texts, std::uint64_t least_instances) {
  std::optional<std::uint32_t> best;
  const auto order = [&](std::uint32_t name) {
    const Candidate& candidate = candidates.at(name);
    return std::tuple(candidate.rank, -candidate.gpu_ns, -static_cast<std::int64_t>(candidate.instances),
                      std::string_view(texts[name]));
  };
  for (const auto& [name, candidate] : candidates) {
    if (candidate.instances >= least_instances && (!best || order(name) < order(*best))) best = name;
  }
  return best;
}

KeyNode take_marker(const Timeline& timeline, const RangeMarkers& markers, const TextTable& texts, std::uint32_t name) {
  const std::vector<std::uint32_t> devices = find_range_devices(timeline);
  std::vector<KeyInstance> instances;
  std::vector<bool> inside(timeline.ranges.size());  // one of that name, so that a nested call of it is not taken for another
  for (std::uint32_t i = 0; i < timeline.ranges.size(); ++i) {
    const Range& range = timeline.ranges[i];
    const bool nested = range.parent != kNone && inside[range.parent];
    const bool is_key = markers.counts(i) && markers.signature(i).name == name && markers.signature(i).key_rank;
    inside[i] = nested || is_key;
    if (is_key && !nested) instances.push_back({range.end_ns, range.thread, devices.empty() ? kNone : devices[i]});
  }
  return {texts[name], KeyNodeSource::framework, find_stops(timeline, std::move(instances))};
}

// One that parts the run: what ran once on each GPU did not repeat itself.
std::optional<KeyNode> find_repeating_marker(const Timeline& timeline, const RangeMarkers& markers, const TextTable& texts,
                                             Candidates candidates) {
  while (const auto repeating = choose(candidates, texts, 2)) {
    KeyNode marker = take_marker(timeline, markers, texts, *repeating);
    if (marker.stops.size() > 1) return marker;
    candidates.erase(*repeating);
  }
  return std::nullopt;
}

// Kernel launches of one process in the order of calling: the first work of each call (a graph launch has many).
struct Launches {
  std::vector<std::uint32_t> activities;
  std::vector<std::uint32_t> configs;  // or, of kernels that have none, what no configuration is numbered
};

Launches find_launches(const Timeline& timeline) {
  std::vector<std::uint32_t> first_activity(timeline.calls.size(), kNone);
  std::vector<std::uint64_t> counts(timeline.processes.size());
  for (std::uint32_t i = 0; i < timeline.activities.size(); ++i) {
    const Activity& activity = timeline.activities[i];
    if (activity.call == kNone || !timeline.is_kernel(activity)) continue;
    if (first_activity[activity.call] != kNone) continue;
    first_activity[activity.call] = i;
    ++counts[timeline.threads[timeline.calls[activity.call].thread].process];
  }
  // Processes run on their own: their launches together make no sequence. The busiest stands for all.
  const std::size_t busiest = std::max_element(counts.begin(), counts.end()) - counts.begin();
  Launches launches;
  for (std::size_t call = 0; call < timeline.calls.size(); ++call) {
    const std::uint32_t first = first_activity[call];
    if (first == kNone || timeline.threads[timeline.calls[call].thread].process != busiest) continue;
    const Activity& activity = timeline.activities[first];
    launches.activities.push_back(first);
    launches.configs.push_back(activity.config != kNone ? activity.config
                                                        : static_cast<std::uint32_t>(timeline.configs.size()) + activity.kernel);
  }
  return launches;
}

std::optional<KeyNode> find_repeating_launch(const Timeline& timeline) {
  const Launches launches = find_launches(timeline);
  const std::vector<std::size_t> anchors = find_repetition(launches.configs);
  if (anchors.empty()) return std::nullopt;
  KeyNode key_node;
  key_node.source = KeyNodeSource::repetition;
  key_node.name = timeline.kernels[timeline.activities[launches.activities[anchors.front()]].kernel].name;
  for (const std::size_t anchor : anchors) {
    key_node.stops.push_back(timeline.calls[timeline.activities[launches.activities[anchor]].call].start_ns);
  }
  return key_node;
}

// The device that a thread works with where it is not known of an instance: its first one's, else its process's. Numbers of
// processes that use none follow those of devices.
class Lanes {
 public:
  explicit Lanes(const Timeline& timeline)
      : timeline_(timeline), of_thread_(timeline.threads.size(), kNone), of_process_(timeline.processes.size(), kNone) {
    for (const Activity& activity : timeline.activities) {
      if (activity.call == kNone) continue;
      const std::uint32_t thread = timeline.calls[activity.call].thread;
      if (of_thread_[thread] == kNone) of_thread_[thread] = activity.device;
      std::uint32_t& of_process = of_process_[timeline.threads[thread].process];
      if (of_process == kNone) of_process = activity.device;
    }
  }
  [[nodiscard]] std::size_t of(const KeyInstance& instance) const {
    if (instance.device != kNone) return instance.device;
    const std::uint32_t process = timeline_.threads[instance.thread].process;
    if (of_thread_[instance.thread] != kNone) return of_thread_[instance.thread];
    return of_process_[process] != kNone ? of_process_[process] : timeline_.devices.size() + process;
  }

 private:
  const Timeline& timeline_;
  std::vector<std::uint32_t> of_thread_, of_process_;
};

}  // namespace

std::vector<std::uint32_t> find_range_devices(const Timeline& timeline) {
  if (timeline.devices.size() < 2) return {};
  std::vector<std::uint32_t> first_activities(timeline.ranges.size(), kNone);  // kNone is above all of them
  for (std::uint32_t i = 0; i < timeline.activities.size(); ++i) {
    const Activity& activity = timeline.activities[i];
    if (activity.call == kNone || timeline.calls[activity.call].range == kNone) continue;
    std::uint32_t& first = first_activities[timeline.calls[activity.call].range];
    first = std::min(first, i);
  }
  for (std::size_t range = first_activities.size(); range-- > 0;) {
    const std::uint32_t parent = timeline.ranges[range].parent;
    if (parent != kNone) first_activities[parent] = std::min(first_activities[parent], first_activities[range]);
  }
  for (std::uint32_t& entry : first_activities) entry = entry == kNone ? kNone : timeline.activities[entry].device;
  return first_activities;
}

std::vector<std::int64_t> find_stops(const Timeline& timeline, std::vector<KeyInstance> instances) {
  const Lanes lanes(timeline);
  std::map<std::size_t, std::vector<std::int64_t>> by_lane;
  for (const KeyInstance& instance : instances) by_lane[lanes.of(instance)].push_back(instance.stop_ns);
  std::vector<std::int64_t> stops;
  if (by_lane.empty()) return stops;
  const std::size_t count = by_lane.begin()->second.size();
  const bool alike = std::all_of(by_lane.begin(), by_lane.end(), [&](const auto& lane) { return lane.second.size() == count; });
  for (auto& [lane, ends] : by_lane) {
    std::sort(ends.begin(), ends.end());
    if (!alike || stops.empty()) {
      stops.insert(stops.end(), ends.begin(), ends.end());
    } else {
      std::transform(stops.begin(), stops.end(), ends.begin(), stops.begin(),
                     [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
    }
  }
  std::sort(stops.begin(), stops.end());
  return stops;
}

KeyNode find_key_node(const Timeline& timeline, const RangeMarkers& markers, const TextTable& texts) {
  const Candidates candidates = find_candidates(timeline, markers);
  if (auto marker = find_repeating_marker(timeline, markers, texts, candidates)) return *std::move(marker);
  if (auto module = find_generating_module(timeline, markers, texts)) return *std::move(module);
  if (auto repeating = find_repeating_launch(timeline)) return *std::move(repeating);
  if (const auto once = choose(candidates, texts, 1)) return take_marker(timeline, markers, texts, *once);
  return {};
}

}  // namespace dlkprof::model
