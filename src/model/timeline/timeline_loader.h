// Captures on their way into a timeline, one after another: load() reads one and joins what belongs together within it;
// finish() brings all into order. Events go straight into the timeline's arrays, for the time of loading with the capture's own
// numbers where indices belong, so that nothing is held twice.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "capture/launch_key_hash.h"
#include "capture/reader.h"
#include "model/fold/time_arithmetic.h"
#include "model/timeline/graph_nodes.h"
#include "model/timeline/join_index.h"
#include "model/timeline/kernel_functions.h"
#include "model/timeline/kernel_table.h"
#include "model/timeline/notice_counts.h"
#include "model/timeline/raw_counters.h"
#include "model/timeline/timeline.h"

namespace dlkprof::model {

// Brings the clocks of several hosts together. CLOCK_MONOTONIC counts from a host's boot: processes of one host share it, and
// two hosts differ by the difference of unix_ns - monotonic_ns. Times become those of the first capture's host.
class HostClocks {
 public:
  // What to add to times of a process (a clock of zeros is not known); none where the clocks cannot be brought together.
  [[nodiscard]] std::optional<std::int64_t> shift_ns(const std::string& host, const capture::ClockRecord& clock);

 private:
  std::optional<std::string> first_host_;
  std::map<std::string, std::int64_t> boot_unix_ns_;
};

// A kernel's launch configuration as its work says it: without the function, which only the call knows.
struct LaunchShape {
  std::uint32_t name = 0;  // of the capture's strings
  capture::LaunchKey key;
  friend bool operator==(const LaunchShape&, const LaunchShape&) = default;
};

// Of the capture that is being read: what is needed until its events are joined, which are those of the timeline from the
// counts below on.
struct CaptureParts {
  std::uint32_t process = 0;
  std::size_t ranges = 0, calls = 0, activities = 0, bins = 0;
  double share_read = 1;          // of the file's bytes
  std::uint64_t most_events = 0;  // that may still come, going by the size of the file

  JoinIndex<std::uint32_t> strings;  // InternedString::id -> index into Timeline::strings
  JoinIndex<std::uint64_t> range_ids;
  // Range::parent says how much smaller the number of the range around is than the range's own; kFar: it is here, by the own.
  std::unordered_map<std::uint64_t, std::uint64_t> far_parents;
  static constexpr std::uint32_t kFar = kNone - 1;
  struct CallNumbers {
    std::uint64_t range = 0, launch_index = 0;
    std::uint32_t function = 0;
    bool held = false;
  };
  std::vector<CallNumbers> call_numbers;  // of each call
  JoinIndex<std::uint32_t> correlations;  // CallEvent::correlation -> index into Timeline::calls

  struct HashShape {
    std::size_t operator()(const LaunchShape& shape) const noexcept {
      return capture::LaunchKeyHash()(shape.key) + shape.name * std::size_t{0x9e3779b97f4a7c15U};
    }
  };
  std::unordered_map<LaunchShape, std::uint32_t, HashShape> shape_numbers;
  std::vector<const LaunchShape*> shapes;                      // by number; the keys above
  std::unordered_map<std::uint32_t, std::uint32_t> threads;    // gettid(2) -> index into Timeline::threads
  std::unordered_map<std::uint32_t, std::uint32_t> functions;  // FunctionRecord::id -> index into kernels
  KernelFunctions kernel_functions;
  std::map<std::uint32_t, capture::FunctionRecord> loaded;  // by FunctionRecord::id
  std::map<std::uint32_t, capture::DeviceRecord> devices;   // by CUDA ordinal
  GraphNodes graph_nodes;
  // FunctionRecord::id of nodes that were launched by themselves, by the number of the node; once graphs are joined by index into
  // Timeline::graph_nodes.
  std::unordered_map<std::uint32_t, std::uint32_t> node_functions;
  std::uint32_t unknown_device = kNone;  // index into Timeline::devices of the one for all that are not described
  std::map<std::uint32_t, capture::MetricSetRecord> metric_sets;
  std::map<std::uint64_t, capture::LaunchRecord> launches;           // by LaunchRecord::index
  std::map<std::uint64_t, std::map<std::string, double>> evaluated;  // here, from kept counters, by the same
  std::vector<capture::SamplesRecord> samples;                       // packed, as kernels may come after them
  std::vector<capture::SassCountsRecord> sass_counts;
  std::map<capture::LaunchKey, capture::KeyStats> key_stats;
  std::vector<capture::AbsenceRecord> absences;
  std::optional<capture::DetachRecord> detach;
  std::vector<capture::Fact> facts;
  std::map<std::pair<std::string, std::string>, std::size_t> fact_numbers;
  bool has_process = false, ended = false, tells_graphs = false;
};

class TimelineLoader {
 public:
  // `several`: what is wrong with a capture is said with its name.
  TimelineLoader(RawEvaluator* evaluator, bool several);
  void load(capture::Reader reader, const std::filesystem::path& path);
  // Of a file that is no capture.
  void leave_out(const Error& why);
  [[nodiscard]] Timeline finish() &&;

 private:
  // timeline_loader.cpp: one record each.
  void add(capture::ProcessRecord&& record);
  void add(capture::DeviceRecord&& record);
  void add(capture::FunctionRecord&& record);
  void add(capture::MetricSetRecord&& record);
  void add(capture::LaunchRecord&& record);
  void add(capture::NoticeRecord&& record);
  void add(capture::StringsRecord&& record);
  void add(capture::EventsRecord&& record);
  void add(capture::FactsRecord&& record);
  void add(const capture::ClockRecord& record);
  void add(const capture::AbsenceRecord& record);
  void add(capture::DetachRecord&& record) { parts_.detach = std::move(record); }
  void add(capture::SamplesRecord&& record) { parts_.samples.push_back(std::move(record)); }
  void add(capture::PcNamesRecord&& record) { pc_samples_.add(std::move(record), kernels_, notices_); }
  void add(const capture::PcSamplesRecord& record) { pc_samples_.add(record, notices_); }
  void add(capture::PcCodeRecord&& record) { pc_samples_.add(std::move(record), notices_); }
  void add(capture::SassCountsRecord&& record) { parts_.sass_counts.push_back(std::move(record)); }
  void add(const capture::EndRecord&) { parts_.ended = true; }
  void add(capture::RawCountersRecord&& record);
  void add(const capture::KeyStatsRecord& record);
  void join_detachment();
  void add_event(const capture::RangeEvent& event);
  void add_event(const capture::CallEvent& event);
  void add_event(const capture::ActivityEvent& event);
  void add_graph_events(const capture::EventsRecord& record);
  template <typename Event>
  void add_events(const capture::EventsRecord& record);
  [[nodiscard]] std::uint32_t thread_index(std::uint32_t tid);
  [[nodiscard]] std::uint32_t shape_number(const capture::ActivityEvent& event);
  void note_state(const capture::ReadState& state);

  // timeline_join.cpp, timeline_measured.cpp: of the capture just read.
  void join();
  void join_ranges();
  void close_open_ranges();
  void join_calls();
  void join_graphs();
  void join_activities(const std::map<std::uint32_t, std::uint32_t>& devices);
  void number_conditional_nodes();
  using KernelsFound = std::unordered_map<std::uint64_t, std::pair<std::uint32_t, std::uint32_t>>;  // kernels and configurations
  void join_activity(Activity& activity, std::array<KernelsFound, 2>& kernels);
  [[nodiscard]] bool is_of_kernel(std::uint32_t function, std::uint32_t name);
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> kernel_and_config(const LaunchShape& shape, std::uint32_t function);
  void join_strings();
  [[nodiscard]] std::uint32_t string_index(std::uint32_t id);
  [[nodiscard]] std::map<std::uint32_t, std::uint32_t> join_devices();
  [[nodiscard]] std::uint32_t unknown_device();
  void end_copies();
  void join_measured();
  void take_values(std::uint32_t config, MeasuredLaunch& launch, const capture::LaunchRecord& record);
  [[nodiscard]] std::map<std::uint32_t, std::uint32_t> join_metric_sets();
  void join_counts();
  void count_times(const std::map<capture::LaunchKey, std::size_t>& lines);
  [[nodiscard]] std::uint32_t kernel_of(const capture::LaunchKey& key) const;
  void join_facts();
  void join_functions();
  void shift_times();
  // Of all events of the capture: whatever `move` makes of a time.
  template <typename Move>
  void move_times(const Move& move);

  // timeline_samples.cpp: likewise, before any time is cut.
  void join_samples(const std::map<std::uint32_t, std::uint32_t>& devices);
  void join_device_samples(std::uint32_t device, const std::vector<const capture::SamplesRecord*>& records,
                           std::int64_t interval_ns);

  // timeline_clocks.cpp, timeline_cuts.cpp: likewise.
  void bound_clocks();
  void cut_held(const std::map<std::uint32_t, std::uint32_t>& devices);
  void drop_absent_ranges();
  void cut_absences();
  [[nodiscard]] std::uint32_t add_replayed(std::uint32_t call, const std::map<std::uint32_t, std::uint32_t>& devices);
  [[nodiscard]] std::int64_t replayed_ns(const Activity& activity) const;
  using Lengths = std::unordered_map<std::uint32_t, std::int64_t>;  // by configuration
  [[nodiscard]] std::array<Lengths, 2> usual_lengths();

  RawEvaluator* evaluator_;
  bool several_;
  Timeline timeline_;
  std::vector<std::uint32_t> range_rank_;  // of each range: the order of ids, in which the outer of two comes first
  KernelTable kernels_;
  PcSamplesFold pc_samples_;
  HostClocks clocks_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> devices_;  // by host and PCI bus id
  std::map<std::pair<std::string, std::string>, bool> notices_seen_, facts_known_;
  NoticeCounts notices_;
  CaptureParts parts_;
};

template <typename Move>
void TimelineLoader::move_times(const Move& move) {
  const auto move_all = [&](auto& events, std::size_t first) {
    for (std::size_t i = first; i < events.size(); ++i) {
      events[i].start_ns = move(events[i].start_ns);
      events[i].end_ns = move(events[i].end_ns);
    }
  };
  move_all(timeline_.ranges, parts_.ranges);
  move_all(timeline_.calls, parts_.calls);
  move_all(timeline_.bins, parts_.bins);
  for (std::size_t i = parts_.activities; i < timeline_.activities.size(); ++i) {
    Activity& activity = timeline_.activities[i];
    if (!is_timed(activity)) continue;
    activity.start_ns = move(activity.start_ns);
    activity.end_ns = move(activity.end_ns);
  }
}

}  // namespace dlkprof::model
