#include "job/rank_events.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "model/aggregate/provenance.h"
#include "model/fold/time_arithmetic.h"
#include "model/names.h"

namespace dlkprof::job {
namespace {

constexpr std::size_t kLongestName = 4096;         // of an op: names come from the program
constexpr std::uint32_t kMostRanks = 100'000'000;  // more is no rank

// NCCL names all of its kernels so (nccl/src/device/generate.py).
bool is_collective_kernel(const model::Kernel& kernel) {
  return kernel.kind == capture::ActivityKind::kernel &&
         (kernel.name.find("nccl") != std::string::npos || kernel.mangled.find("nccl") != std::string::npos);
}

std::string kept_name(const std::string& name) {
  return valid_utf8(name.size() <= kLongestName ? name : name.substr(0, kLongestName) + "...");
}

std::optional<std::uint32_t> number_fact(const model::Timeline& timeline, std::string_view name) {
  for (const capture::Fact& fact : timeline.facts) {
    if (fact.name != name) continue;
    std::uint32_t value = 0;
    const char* end = fact.value.data() + fact.value.size();
    const auto [last, error] = std::from_chars(fact.value.data(), end, value);
    if (error == std::errc() && last == end && value < kMostRanks) return value;
  }
  return std::nullopt;
}

std::int64_t wall_ns(const model::Process& process, std::int64_t ns) {
  // Unsigned: clocks come from files, which may say anything.
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(ns) + static_cast<std::uint64_t>(process.clock.unix_ns) -
                                   static_cast<std::uint64_t>(process.clock.monotonic_ns));
}

// Names as a sorted list, and where each of the old ones went.
template <typename Name>
std::vector<std::uint32_t> sort_names(std::vector<Name>& names) {
  std::vector<Name> sorted = names;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::vector<std::uint32_t> places;
  places.reserve(names.size());
  for (const Name& name : names)
    places.push_back(static_cast<std::uint32_t>(std::lower_bound(sorted.begin(), sorted.end(), name) - sorted.begin()));
  names = std::move(sorted);
  return places;
}

// Makes the events of each process of a run.
class EventReader {
 public:
  explicit EventReader(const model::Profile& profile) : profile_(profile), timeline_(profile.timeline) {}

  [[nodiscard]] std::vector<RankEvents> read() {
    find_processes();
    std::vector<RankEvents> all;
    for (const std::uint32_t process : processes_) all.push_back(events_of_process(process));
    return all;
  }

 private:
  void find_processes();
  RankEvents events_of_process(std::uint32_t process) const;
  Rank about(std::uint32_t process) const;
  void add_counters(Rank& rank, const std::vector<std::uint32_t>& op_places) const;
  void add_events(std::uint32_t process, RankEvents& into, const std::vector<std::uint32_t>& op_places) const;
  [[nodiscard]] double mean_clock() const;

  [[nodiscard]] bool is_aggregated(std::size_t activity) const {
    const std::uint32_t iteration = profile_.fold.activity_iteration[activity];
    return profile_.aggregate.first_iteration <= iteration && iteration <= profile_.aggregate.last_iteration &&
           model::is_timed(timeline_.activities[activity]);
  }
  [[nodiscard]] std::uint32_t process_of(const model::Activity& activity) const {
    if (activity.call != kNone) return timeline_.threads[timeline_.calls[activity.call].thread].process;
    return activity.config != kNone ? timeline_.configs[activity.config].process : 0;
  }

  // Of the ranges around the call that launched it, the first that says.
  [[nodiscard]] std::uint32_t message_bytes(const model::Activity& activity) const {
    constexpr int kLevels = 4;  // NCCL's own ranges inside the one that says
    std::uint32_t range = activity.call == kNone ? kNone : timeline_.calls[activity.call].range;
    for (int level = 0; range != kNone && level < kLevels; ++level, range = timeline_.ranges[range].parent) {
      if (timeline_.ranges[range].message_bytes != kNone) return timeline_.ranges[range].message_bytes;
    }
    return kNone;
  }

  const model::Profile& profile_;
  const model::Timeline& timeline_;
  std::set<std::uint32_t> processes_;
};

void EventReader::find_processes() {
  for (std::size_t i = 0; i < timeline_.activities.size(); ++i) {
    if (is_aggregated(i)) processes_.insert(process_of(timeline_.activities[i]));
  }
}

double EventReader::mean_clock() const {
  double sum = 0;
  std::uint64_t count = 0;
  for (const auto& [config, launches] : timeline_.measured_launches) {
    for (std::size_t position = 0; position < launches.size(); ++position) {
      const std::optional<double> hz = model::clock_hz(timeline_, config, position);
      if (!hz) continue;
      sum += *hz;
      ++count;
    }
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

Rank EventReader::about(std::uint32_t process) const {
  const model::Process& from = timeline_.processes[process];
  const bool alone = processes_.size() == 1;
  Rank rank;
  rank.identity = {alone ? number_fact(timeline_, "rank") : std::nullopt, kept_name(from.record.host), from.record.pid,
                   from.record.start_unix_ns};
  rank.world_size = number_fact(timeline_, "world_size").value_or(0);
  if (!from.devices.empty()) {
    const capture::DeviceRecord& device = timeline_.devices[from.devices.begin()->second].record;
    rank.gpu = kept_name(device.name);
    rank.pci_bus_id = kept_name(device.pci_bus_id);
  }
  rank.ended = from.ended;
  rank.damaged = from.damaged_records;
  if (alone) rank.clock_hz = mean_clock();
  for (const model::Op& op : profile_.fold.ops)
    rank.ops.push_back({kept_name(op.name), model::name_in(model::kDirections, op.direction), kept_name(op.type)});
  return rank;
}

void EventReader::add_counters(Rank& rank, const std::vector<std::uint32_t>& op_places) const {
  const auto iterations = static_cast<double>(profile_.aggregate.last_iteration - profile_.aggregate.first_iteration + 1);
  for (const model::OpRow& row : profile_.aggregate.ops) {
    for (const auto& [metric, value] : row.counters.values) rank.metrics.push_back(kept_name(metric.text()));
  }
  (void)sort_names(rank.metrics);
  std::map<std::pair<std::uint32_t, std::uint32_t>, OpCounter> counters;  // ops that share a name share a row, the first
  for (const model::OpRow& row : profile_.aggregate.ops) {
    for (const auto& [name, value] : row.counters.values) {
      const auto metric = static_cast<std::uint32_t>(
          std::lower_bound(rank.metrics.begin(), rank.metrics.end(), kept_name(name.text())) - rank.metrics.begin());
      const bool is_count = name.text().ends_with(".sum");
      const std::uint32_t op = op_places[row.op];
      counters.try_emplace({op, metric}, OpCounter{op, metric, is_count ? value / iterations : value, row.counters.samples});
    }
  }
  for (const auto& [place, counter] : counters) rank.counters.push_back(counter);
}

void EventReader::add_events(std::uint32_t process, RankEvents& into, const std::vector<std::uint32_t>& op_places) const {
  std::vector<std::uint32_t> kinds(timeline_.kernels.size(), kNone);  // by kernel
  for (std::size_t kernel = 0; kernel < kinds.size(); ++kernel) {
    if (!is_collective_kernel(timeline_.kernels[kernel])) continue;
    kinds[kernel] = static_cast<std::uint32_t>(into.about.kinds.size());
    into.about.kinds.push_back(kept_name(timeline_.kernels[kernel].name));
  }
  const std::vector<std::uint32_t> places = sort_names(into.about.kinds);
  const model::Process& clock = timeline_.processes[process];
  for (std::size_t i = 0; i < timeline_.activities.size(); ++i) {
    const model::Activity& activity = timeline_.activities[i];
    if (!is_aggregated(i) || process_of(activity) != process) continue;
    const std::uint32_t kind = kinds[activity.kernel];
    into.events.push_back({wall_ns(clock, activity.start_ns), wall_ns(clock, activity.end_ns),
                           op_places[profile_.fold.instances[profile_.fold.activity_instance[i]].op],
                           profile_.fold.activity_iteration[i], activity.stream, kind == kNone ? kNone : places[kind],
                           kind == kNone ? kNone : message_bytes(activity)});
  }
  std::stable_sort(into.events.begin(), into.events.end(),
                   [](const RankEvent& a, const RankEvent& b) { return a.start_ns < b.start_ns; });
}

RankEvents EventReader::events_of_process(std::uint32_t process) const {
  RankEvents result;
  result.about = about(process);
  const std::vector<std::uint32_t> op_places = sort_names(result.about.ops);
  if (processes_.size() == 1) add_counters(result.about, op_places);
  add_events(process, result, op_places);
  for (std::uint32_t i = profile_.aggregate.first_iteration; i <= profile_.aggregate.last_iteration; ++i) {
    const model::Iteration& from = profile_.fold.iterations[i];
    RankIteration iteration;
    iteration.iteration = i;
    iteration.start_ns = wall_ns(timeline_.processes[process], from.start_ns);
    iteration.length_ns = model::elapsed_ns(from.start_ns, from.stop_ns);
    result.iterations.push_back(iteration);
  }
  return result;
}

}  // namespace

std::vector<RankEvents> events_of(const model::Profile& profile) { return EventReader(profile).read(); }

std::vector<Rank> ranks_of(const model::Profile& profile) {
  std::vector<Rank> ranks;
  for (RankEvents& events : events_of(profile)) ranks.push_back(aggregate_rank(std::move(events)));
  return ranks;
}

}  // namespace dlkprof::job
