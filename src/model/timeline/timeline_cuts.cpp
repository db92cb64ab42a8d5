// Cutting out the time for which the profiler held the program, so that all times are as if it had not been there.
//
// A call during which a launch was replayed takes seconds instead of microseconds. What is cut is the part of it in which
// nothing of the program ran on a GPU: work that was called before still ends as it did. The replayed launch itself, of which
// CUPTI's activity tells without times, or not at all, then stands right at the end with the length that its counters gave it, or
// else with that of other launches of its configuration: of those in a window of one pass most were measured for other metrics.
// Of a graph that was launched node by node all kernels stand there, one after another.
//
// And cutting out the time for which CUPTI was not in the process: what is left is as if the program had stood still meanwhile.
// An iteration that CUPTI left in goes on with the rest of the one that it came back in.
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/fold/time_arithmetic.h"
#include "model/timeline/timeline_loader.h"

namespace dlkprof::model {
namespace {

constexpr std::string_view kDuration = "gpu__time_duration.sum";  // ns

struct TimeSpan {
  std::int64_t start_ns = 0, end_ns = 0;
};

// Work that was replayed, and has no times.
struct Replayed {
  std::uint32_t activity = 0;
  std::int64_t duration_ns = 0;
  bool estimated = false;  // that is of others of its configuration
};

// A call that was held.
struct Hold {
  TimeSpan span;
  std::uint32_t call = 0;
  std::vector<Replayed> replayed{};
};

// Whether all fits into so much time.
bool fits(const std::vector<Replayed>& works, std::int64_t room_ns) {
  for (const Replayed& work : works) {
    if (work.duration_ns > room_ns) return false;
    room_ns -= work.duration_ns;
  }
  return true;
}

// One after another: whoever waits for another thread's measuring waits in vain from its end on.
void disentangle(std::vector<Hold>& holds) {
  std::sort(holds.begin(), holds.end(), [](const Hold& a, const Hold& b) { return a.span.end_ns < b.span.end_ns; });
  for (std::size_t i = 1; i < holds.size(); ++i) {
    holds[i].span.start_ns = std::max(holds[i].span.start_ns, holds[i - 1].span.end_ns);
  }
}

// Times at which a GPU was at work, flattened.
std::vector<TimeSpan> busy_spans(const std::vector<Activity>& activities, std::size_t first) {
  std::vector<TimeSpan> spans;
  for (std::size_t i = first; i < activities.size(); ++i) {
    if (is_timed(activities[i])) spans.push_back({activities[i].start_ns, activities[i].end_ns});
  }
  std::sort(spans.begin(), spans.end(), [](const TimeSpan& a, const TimeSpan& b) { return a.start_ns < b.start_ns; });
  std::size_t last = 0;
  for (std::size_t i = 1; i < spans.size(); ++i) {
    if (spans[i].start_ns <= spans[last].end_ns) {
      spans[last].end_ns = std::max(spans[last].end_ns, spans[i].end_ns);
    } else {
      spans[++last] = spans[i];
    }
  }
  if (!spans.empty()) spans.resize(last + 1);
  return spans;
}

// What is taken out of the time line: disjoint spans in order.
class Cuts {
 public:
  void add(TimeSpan span) {
    if (span.end_ns <= span.start_ns) return;
    before_.push_back(total_ns_);
    total_ns_ += span.end_ns - span.start_ns;
    spans_.push_back(span);
  }
  [[nodiscard]] std::int64_t total_ns() const { return total_ns_; }
  // The time that becomes of `ns`; that of a span's start for all within it.
  [[nodiscard]] std::int64_t moved(std::int64_t ns) const {
    const auto after = std::upper_bound(spans_.begin(), spans_.end(), ns,
                                        [](std::int64_t time, const TimeSpan& span) { return time < span.start_ns; });
    if (after == spans_.begin()) return ns;
    const TimeSpan& span = *(after - 1);
    const auto index = static_cast<std::size_t>(after - spans_.begin()) - 1;
    return ns - before_[index] - (std::min(ns, span.end_ns) - span.start_ns);
  }

 private:
  std::vector<TimeSpan> spans_;
  std::vector<std::int64_t> before_;  // of each span: how much is cut before it
  std::int64_t total_ns_ = 0;
};

// The last part of a hold in which no GPU was at work, after cutting out the others. `busy`: the first span that ends later
// than the hold starts; moved on.
TimeSpan cut_around(TimeSpan hold, const std::vector<TimeSpan>& spans, std::size_t& busy, Cuts& cuts) {
  while (busy < spans.size() && spans[busy].end_ns <= hold.start_ns) ++busy;
  for (; busy < spans.size() && spans[busy].start_ns < hold.end_ns; ++busy) {
    cuts.add({hold.start_ns, spans[busy].start_ns});
    hold.start_ns = std::min(spans[busy].end_ns, hold.end_ns);
    if (spans[busy].end_ns >= hold.end_ns) break;  // may reach into the next hold
  }
  return hold;
}

Cuts find_cuts(std::vector<Hold>& holds, const std::vector<TimeSpan>& spans, std::vector<Activity>& activities) {
  Cuts cuts;
  std::size_t busy = 0;
  for (const Hold& hold : holds) {
    TimeSpan rest = cut_around(hold.span, spans, busy, cuts);
    const bool has_room = fits(hold.replayed, rest.end_ns - rest.start_ns);
    for (const Replayed& work : hold.replayed) {
      if (!has_room) break;
      Activity& activity = activities[work.activity];
      activity.start_ns = rest.start_ns;
      rest.start_ns += work.duration_ns;
      activity.end_ns = rest.start_ns;
      activity.replayed = true;
      activity.estimated = work.estimated;
    }
    cuts.add(rest);
  }
  return cuts;
}

// 0 where it was not measured.
std::int64_t duration_ns(const capture::LaunchRecord& launch, const std::map<std::uint32_t, capture::MetricSetRecord>& sets) {
  const auto set = sets.find(launch.metric_set);
  if (set == sets.end()) return 0;
  const std::vector<std::string>& metrics = set->second.metrics;
  const auto position = static_cast<std::size_t>(std::find(metrics.begin(), metrics.end(), kDuration) - metrics.begin());
  if (position >= launch.values.size() || position >= metrics.size()) return 0;
  const double value = launch.values[position];
  return value > 0 && value < 1e18 ? std::llround(value) : 0;
}

}  // namespace

// Work for launches that were replayed: the capture has none of theirs.
std::uint32_t TimelineLoader::add_replayed(std::uint32_t call, const std::map<std::uint32_t, std::uint32_t>& devices) {
  const auto launch = parts_.launches.find(parts_.call_numbers[call - parts_.calls].launch_index);
  if (launch == parts_.launches.end()) return kNone;
  const auto& [index, record] = *launch;
  const auto function = parts_.functions.find(record.key.function);
  Activity activity;
  activity.launch_index = index;
  activity.call = call;
  activity.kernel = function != parts_.functions.end() ? function->second : kernels_.kernel("");
  activity.config = kernels_.config(parts_.process, record.key, activity.kernel);
  const auto device = devices.find(record.key.device);
  activity.device = device != devices.end() ? device->second : unknown_device();
  activity.stream = record.stream_id;
  timeline_.activities.push_back(activity);
  return static_cast<std::uint32_t>(timeline_.activities.size() - 1);
}

// How long the counters of a work that was replayed say that it ran; 0 where it was timed by itself, or never measured.
std::int64_t TimelineLoader::replayed_ns(const Activity& activity) const {
  if (is_timed(activity) || activity.in_graph) return 0;
  const auto launch = parts_.launches.find(activity.launch_index);
  return launch == parts_.launches.end() ? 0 : duration_ns(launch->second, parts_.metric_sets);
}

// How long a launch of each configuration takes in ns, by whether it is of a graph: the mean of those that were timed there,
// where there are none of those measured. Warm-up counts too: which iterations it has is found later, from times that these
// lengths make.
std::array<TimelineLoader::Lengths, 2> TimelineLoader::usual_lengths() {
  struct Sum {
    double ns = 0, launches = 0;
    void add(std::int64_t length) {
      ns += static_cast<double>(length);
      ++launches;
    }
  };
  struct Sums {
    std::array<Sum, 2> timed{};
    Sum measured;
  };
  std::unordered_map<std::uint32_t, Sums> sums;
  for (std::size_t i = parts_.activities; i < timeline_.activities.size(); ++i) {
    const Activity& activity = timeline_.activities[i];
    if (activity.config != kNone && is_timed(activity))
      sums[activity.config].timed.at(activity.in_graph ? 1 : 0).add(gpu_ns(activity));
  }
  for (const auto& [index, launch] : parts_.launches) {
    const std::int64_t measured = duration_ns(launch, parts_.metric_sets);
    if (measured > 0) sums[kernels_.config(parts_.process, launch.key, kernel_of(launch.key))].measured.add(measured);
  }
  std::array<Lengths, 2> lengths;
  for (const auto& [config, of_config] : sums) {
    for (std::size_t in_graph = 0; in_graph < lengths.size(); ++in_graph) {
      const Sum& timed = of_config.timed.at(in_graph);
      const Sum& sum = timed.launches > 0 ? timed : of_config.measured;
      if (sum.launches > 0) lengths.at(in_graph)[config] = std::max<std::int64_t>(1, std::llround(sum.ns / sum.launches));
    }
  }
  return lengths;
}

void TimelineLoader::cut_held(const std::map<std::uint32_t, std::uint32_t>& devices) {
  std::vector<Hold> holds;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> told;  // of calls that were held, the work that is known
  for (std::size_t i = parts_.calls; i < timeline_.calls.size(); ++i) {
    if (!parts_.call_numbers[i - parts_.calls].held) continue;
    const Call& call = timeline_.calls[i];
    holds.push_back({{call.start_ns, call.end_ns}, static_cast<std::uint32_t>(i)});
    told.try_emplace(holds.back().call);
  }
  if (holds.empty()) return;
  const std::vector<TimeSpan> busy = busy_spans(timeline_.activities, parts_.activities);
  for (std::size_t i = parts_.activities; i < timeline_.activities.size(); ++i) {
    const auto hold = told.find(timeline_.activities[i].call);
    if (hold != told.end()) hold->second.push_back(static_cast<std::uint32_t>(i));
  }
  const std::array<Lengths, 2> usual = usual_lengths();
  for (Hold& hold : holds) {
    std::vector<std::uint32_t>& works = told[hold.call];
    if (works.empty()) works.push_back(add_replayed(hold.call, devices));
    for (const std::uint32_t work : works) {
      if (work == kNone || is_timed(timeline_.activities[work])) continue;
      const Activity& activity = timeline_.activities[work];
      const Lengths& lengths = usual.at(activity.in_graph ? 1 : 0);
      const auto others = lengths.find(activity.config);
      const std::int64_t own_ns = replayed_ns(activity);
      const std::int64_t ns = own_ns > 0 || others == lengths.end() ? own_ns : others->second;
      if (ns > 0) hold.replayed.push_back({work, ns, own_ns == 0});
    }
  }
  disentangle(holds);
  const Cuts cuts = find_cuts(holds, busy, timeline_.activities);
  timeline_.processes[parts_.process].held_ns = cuts.total_ns();
  move_times([&](std::int64_t ns) { return cuts.moved(ns); });
}

// Of ranges that were pushed and popped meanwhile nothing is known but that; those inside them, which ended before, go as well.
void TimelineLoader::drop_absent_ranges() {
  if (parts_.absences.empty()) return;
  const auto is_absent = [&](const Range& range) {
    const auto after = std::upper_bound(parts_.absences.begin(), parts_.absences.end(), range.start_ns,
                                        [](std::int64_t ns, const auto& absence) { return ns < absence.start_ns; });
    return after != parts_.absences.begin() && range.closed && range.end_ns <= (after - 1)->end_ns;
  };
  JoinIndex<std::uint64_t> ids;
  std::size_t kept = parts_.ranges;
  for (const auto& [id, index] : parts_.range_ids.entries()) {  // in the order of indices: not sorted yet
    if (is_absent(timeline_.ranges[index])) continue;
    ids.add(id, static_cast<std::uint32_t>(kept));
    timeline_.ranges[kept++] = timeline_.ranges[index];
  }
  timeline_.ranges.resize(kept);
  parts_.range_ids = std::move(ids);
}

void TimelineLoader::cut_absences() {
  if (parts_.absences.empty()) return;
  Cuts cuts;
  for (const auto& [start_ns, end_ns] : parts_.absences) cuts.add({start_ns, end_ns});
  move_times([&](std::int64_t ns) { return cuts.moved(ns); });
}

}  // namespace dlkprof::model
