#include "model/timeline/timeline_loader.h"
#include "model/fold/time_arithmetic.h"

#include <algorithm>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/error.h"
#include "base/text.h"
#include "capture/events.h"
#include "model/timeline/autotuning.h"
#include "model/timeline/timeline_order.h"

namespace dlkprof::model {
namespace {

// 36 years after boot: no event of a program. Smaller times can be added and shifted without a thought of overflow.
constexpr std::int64_t kLatestNs = std::int64_t{1} << 60U;

bool is_time(std::int64_t ns) { return ns >= 0 && ns <= kLatestNs; }

std::string to_valid_utf8(std::string&& text) { return is_ascii(text) ? std::move(text) : valid_utf8(text); }

// Moves an end that lies before the start.
template <typename Event>
bool straighten(Event& event) {
  if (event.end_ns >= event.start_ns) return true;
  event.end_ns = event.start_ns;
  return false;
}

// Makes room for `more` events and, going by the share of the capture that was read, for those after them. `before`: events of
// other captures. An array that grows by doubling is copied each time into memory that the system must find and clear first,
// which for gigabytes takes longer than reading; room that is not used costs nothing.
template <typename Events>
void make_room(Events& events, std::size_t before, std::size_t more, double share_read) {
  constexpr double kMargin = 1.05;
  constexpr double kMostTimes = 16;  // early guesses are poor
  if (events.size() + more <= events.capacity()) return;
  const auto so_far = static_cast<double>(events.size() - before + more);
  const auto expected = static_cast<std::size_t>(so_far * std::clamp(kMargin / share_read, 1.0, kMostTimes));
  events.reserve(std::max(before + expected, events.capacity() + events.capacity() / 4));
}

}  // namespace

TimelineLoader::TimelineLoader(RawEvaluator* evaluator, bool several) : evaluator_(evaluator), several_(several) {
  timeline_.strings.emplace_back();
}

void TimelineLoader::leave_out(const Error& why) {
  timeline_.notices.push_back({capture::Severity::warning, std::string("Left out: ") + why.what(), why.detail(), why.remedy()});
}

void TimelineLoader::load(capture::Reader reader, const std::filesystem::path& path) {
  parts_ = {};
  parts_.process = static_cast<std::uint32_t>(timeline_.processes.size());
  parts_.ranges = timeline_.ranges.size();
  parts_.calls = timeline_.calls.size();
  parts_.activities = timeline_.activities.size();
  parts_.bins = timeline_.bins.size();
  timeline_.processes.emplace_back().capture = printable(path.filename().native());
  if (evaluator_ != nullptr) evaluator_->begin_capture();
  pc_samples_.begin_capture(parts_.process);
  const std::uint64_t size = reader.file_size();
  parts_.most_events = capture::most_events_of(size);
  while (std::optional<capture::Record> record = reader.next()) {
    parts_.share_read = static_cast<double>(reader.state().bytes) / static_cast<double>(size);
    std::visit([this](auto&& one) { add(std::forward<decltype(one)>(one)); }, std::move(*record));
  }
  note_state(reader.state());
  join();
  notices_.move_to(timeline_.notices, several_ ? timeline_.processes.back().capture : "");
}

void TimelineLoader::note_state(const capture::ReadState& state) {
  const auto note = [&](const std::string& what, const std::string& remedy) {
    timeline_.notices.push_back({capture::Severity::warning, what, timeline_.processes.back().capture, remedy});
  };
  if (!parts_.ended) {
    note("The process was killed, crashed, left through _exit or is still running: its capture was not closed",
         "What was recorded until then is whole; the GPU's times of the last launches and ranges open then are missing.");
  }
  if (state.cut) {
    note(parts_.ended ? "Bytes follow the end of the capture that are none of its records, such as of another one"
                      : "The capture ends in the middle of a record",
         "Everything before was read.");
  }
  timeline_.processes.back().damaged_records = state.damaged;
  notices_.count("Damaged records left out", state.damaged);
  notices_.count("Records of a kind that this version does not know left out", state.unknown);
}

void TimelineLoader::add(capture::ProcessRecord&& record) {
  if (std::exchange(parts_.has_process, true)) return notices_.count("Descriptions of a process that has one left out");
  for (std::string* text : {&record.host, &record.dlkprof_version, &record.options_json}) *text = valid_utf8(*text);
  for (std::string& argument : record.arguments) argument = valid_utf8(argument);
  parts_.tells_graphs = record.graph_nodes;
  timeline_.processes.back().record = std::move(record);
}

void TimelineLoader::add(capture::DeviceRecord&& record) {
  for (std::string* text : {&record.name, &record.chip, &record.pci_bus_id}) *text = valid_utf8(*text);
  const std::uint32_t index = record.index;
  if (!parts_.devices.try_emplace(index, std::move(record)).second) {
    notices_.count("Descriptions of a GPU that has one left out");
  }
}

void TimelineLoader::add(capture::FunctionRecord&& record) {
  if (record.id == 0 || parts_.functions.contains(record.id)) {
    return notices_.count("Descriptions of a function that has one left out");
  }
  const std::uint32_t kernel = kernels_.kernel(valid_utf8(record.mangled_name));
  parts_.functions.emplace(record.id, kernel);
  parts_.kernel_functions.loaded(kernel, record.id);
  record.mangled_name.clear();
  const std::uint32_t id = record.id;
  parts_.loaded.emplace(id, std::move(record));
}

void TimelineLoader::add(capture::MetricSetRecord&& record) {
  for (std::vector<std::string>* names : {&record.metrics, &record.unavailable}) {
    for (std::string& name : *names) name = valid_utf8(name);
  }
  const std::uint32_t id = record.id;
  if (!parts_.metric_sets.try_emplace(id, std::move(record)).second) {
    notices_.count("Descriptions of a metric set that has one left out");
  }
}

void TimelineLoader::add(capture::LaunchRecord&& record) {
  const std::uint64_t index = record.index;
  if (!parts_.launches.try_emplace(index, std::move(record)).second) {
    notices_.count("Measurements of a launch that has them left out");
  }
}

// Evaluated at once, so that no more than one image is held.
void TimelineLoader::add(capture::RawCountersRecord&& record) {
  if (evaluator_ == nullptr) return;
  const auto set = parts_.metric_sets.find(record.metric_set);
  const auto device = set == parts_.metric_sets.end() ? parts_.devices.end() : parts_.devices.find(set->second.device);
  if (device == parts_.devices.end()) return notices_.count("Kept counters of an unknown metric set or GPU left out");
  const std::uint64_t index = record.launch_index;
  const auto launch = parts_.launches.find(index);                                        // it comes first
  const bool stored = launch == parts_.launches.end() || !launch->second.values.empty();  // of an unknown one nobody asks
  if (auto values = evaluator_->evaluate(std::move(record), set->second, device->second.chip, stored)) {
    parts_.evaluated[index] = std::move(*values);
  }
}

void TimelineLoader::add(const capture::KeyStatsRecord& record) {
  for (const capture::KeyStats& stats : record.keys) parts_.key_stats[stats.key] = stats;
  Process& process = timeline_.processes.back();
  process.graph_launches = record.graph_launches;
  process.graph_gpu_ns = record.graph_timed_gpu_ns;
  process.timing_complete = record.timing_complete;
}

void TimelineLoader::add(capture::NoticeRecord&& record) {
  for (std::string* text : {&record.what, &record.detail, &record.remedy}) *text = valid_utf8(*text);
  if (record.severity > capture::Severity::error) record.severity = capture::Severity::warning;  // of a newer writer
  if (notices_seen_.try_emplace({record.what, record.detail}, true).second) timeline_.notices.push_back(std::move(record));
}

void TimelineLoader::add(capture::StringsRecord&& record) {
  for (capture::InternedString& string : record.strings) {
    if (string.text.empty()) {
      parts_.strings.add(string.id, 0);
      continue;
    }
    parts_.strings.add(string.id, static_cast<std::uint32_t>(timeline_.strings.size()));
    timeline_.strings.push_back(to_valid_utf8(std::move(string.text)));
  }
}

void TimelineLoader::add(capture::FactsRecord&& record) {
  for (capture::Fact& fact : record.facts) {
    for (std::string* text : {&fact.source, &fact.name, &fact.value}) *text = valid_utf8(*text);
    const auto [known, is_new] = parts_.fact_numbers.try_emplace({fact.source, fact.name}, parts_.facts.size());
    if (is_new) {
      parts_.facts.push_back(std::move(fact));
    } else {
      parts_.facts[known->second].value = std::move(fact.value);
    }
  }
}

// The last one knows most of the GPU's clock.
void TimelineLoader::add(const capture::ClockRecord& record) {
  if (!is_time(record.monotonic_ns) || record.unix_ns < record.monotonic_ns) return notices_.count("Impossible clocks left out");
  timeline_.processes.back().clock = record;
}

void TimelineLoader::add(const capture::AbsenceRecord& record) {
  auto& absences = parts_.absences;
  const std::int64_t end = record.end_ns == 0 ? kLatestNs : record.end_ns;
  const bool possible = is_time(record.start_ns) && is_time(end) && record.start_ns <= end;
  if (!possible) return notices_.count("Impossible times without CUPTI left out");
  if (!absences.empty() && absences.back().start_ns == record.start_ns) absences.pop_back();  // it is over now
  // In order, and none within another: each begins where one of the library's stays has ended.
  const std::int64_t start = absences.empty() ? record.start_ns : std::max(record.start_ns, absences.back().end_ns);
  if (start < end) absences.push_back({start, end});
}

void TimelineLoader::join_detachment() {
  constexpr std::size_t kMostSteps = std::size_t{1} << 16U;  // a library of ours writes no more than half as many
  if (!parts_.detach) return;
  const auto& [since_ns, until_ns, cupti_left, markers] = *parts_.detach;
  const bool known = is_time(since_ns) && is_time(until_ns) && since_ns <= until_ns;
  timeline_.detachments.push_back({parts_.process, known ? elapsed_ns(since_ns, until_ns) : 0, cupti_left});
  std::size_t steps = 0;
  for (const capture::StepTimes& marker : markers) {
    std::int64_t last_ns = 0;
    for (const std::int64_t start_ns : marker.times_ns) {
      if (!is_time(start_ns) || start_ns < last_ns || ++steps > kMostSteps) {
        notices_.count("Impossible steps left out");
        continue;
      }
      timeline_.lone_steps.push_back({parts_.process, valid_utf8(marker.marker), start_ns});
      last_ns = start_ns;
    }
  }
}

void TimelineLoader::add(capture::EventsRecord&& record) {
  if (record.count > parts_.most_events) return notices_.count("Batches of more events than a file of this size holds left out");
  try {
    switch (record.kind) {
      case capture::EventKind::range:
        return add_events<capture::RangeEvent>(record);
      case capture::EventKind::call:
        return add_events<capture::CallEvent>(record);
      case capture::EventKind::activity:
        return add_events<capture::ActivityEvent>(record);
      case capture::EventKind::graph:
        return add_graph_events(record);
    }
    notices_.count("Batches of events of a kind that this version does not know left out");
  } catch (const Error&) {  // one bad batch must not hide those after it
    notices_.count("Damaged batches of events left out");
  }
}

void TimelineLoader::add_graph_events(const capture::EventsRecord& record) {
  const auto events = capture::unpack_events<capture::GraphEvent>(record);
  parts_.most_events -= events.size();
  for (const capture::GraphEvent& event : events) {
    if (!parts_.graph_nodes.add(event)) notices_.count("What was told of CUDA graphs that this version does not know, left out");
  }
}

template <typename Event>
void TimelineLoader::add_events(const capture::EventsRecord& record) {
  const std::vector<Event> events = capture::unpack_events<Event>(record);
  parts_.most_events -= events.size();
  const auto make_room_in = [&](auto& array, std::size_t before = 0) {
    make_room(array, before, events.size(), parts_.share_read);
  };
  if constexpr (std::is_same_v<Event, capture::RangeEvent>) {
    make_room_in(timeline_.ranges, parts_.ranges);
    make_room_in(parts_.range_ids);
  } else if constexpr (std::is_same_v<Event, capture::CallEvent>) {
    make_room_in(timeline_.calls, parts_.calls);
    make_room_in(parts_.correlations);
    make_room_in(parts_.call_numbers);
  } else {
    make_room_in(timeline_.activities, parts_.activities);
  }
  for (const Event& event : events) {
    const bool possible = is_time(event.start_ns) && is_time(event.end_ns);
    if (possible) {
      add_event(event);
    } else {
      notices_.count("Events at impossible times left out");
    }
  }
}

void TimelineLoader::add_event(const capture::RangeEvent& event) {
  if (event.kind > capture::RangeKind::mark) return notices_.count("Ranges of a kind that this version does not know left out");
  Range range;
  range.start_ns = event.start_ns;
  range.end_ns = event.kind == capture::RangeKind::mark || event.end_ns == 0 ? event.start_ns : event.end_ns;
  range.thread = thread_index(event.thread);
  range.message = event.name;
  range.domain = event.domain;
  range.kind = event.kind;
  range.sequence = event.sequence;
  range.op_id = event.op_id;
  if (event.payload_type == capture::kMessageBytes && event.payload_bits < kNone)
    range.message_bytes = static_cast<std::uint32_t>(event.payload_bits);
  range.closed = event.end_ns != 0 || event.kind == capture::RangeKind::mark;
  if (!straighten(range)) notices_.count("Ranges that end before they begin, taken as of no length");
  parts_.range_ids.add(event.id, static_cast<std::uint32_t>(timeline_.ranges.size()));
  if (event.parent != 0) {
    const std::uint64_t apart = event.id - event.parent;
    range.parent = apart < CaptureParts::kFar ? static_cast<std::uint32_t>(apart) : CaptureParts::kFar;
    if (range.parent == CaptureParts::kFar) parts_.far_parents.try_emplace(event.id, event.parent);
  }
  timeline_.ranges.push_back(range);
}

void TimelineLoader::add_event(const capture::CallEvent& event) {
  Call call;
  call.start_ns = event.start_ns;
  call.end_ns = event.end_ns;
  call.thread = thread_index(event.thread);
  call.name = event.name;
  if (!straighten(call)) notices_.count("CUDA calls that end before they begin, taken as of no length");
  parts_.correlations.add(event.correlation, static_cast<std::uint32_t>(timeline_.calls.size()));
  parts_.call_numbers.push_back({event.range, event.launch_index, event.function, event.held});
  timeline_.calls.push_back(call);
}

void TimelineLoader::add_event(const capture::ActivityEvent& event) {
  if (event.kind > capture::ActivityKind::set)
    return notices_.count("GPU work of a kind that this version does not know left out");
  Activity activity;
  activity.start_ns = event.start_ns;
  activity.end_ns = event.end_ns;
  if (activity.end_ns < activity.start_ns || activity.start_ns == 0) {
    if (activity.end_ns != 0 || activity.start_ns != 0) notices_.count("GPU work that ends before it begins, taken as not timed");
    activity.start_ns = activity.end_ns = 0;
  }
  activity.bytes = event.bytes;
  activity.call = event.correlation;
  activity.device = event.device;
  activity.stream = event.stream;
  activity.in_graph = event.graph_node != 0;
  if (activity.in_graph) {
    activity.graph_node = parts_.graph_nodes.number_of(event.graph_node);
    if (event.function != 0) parts_.node_functions.try_emplace(activity.graph_node, event.function);
  }
  if (event.kind == capture::ActivityKind::kernel) {
    activity.config = shape_number(event);
  } else {
    activity.kernel = event.kind == capture::ActivityKind::copy ? kernels_.copy(event.copy) : kernels_.set();
  }
  timeline_.activities.push_back(activity);
}

std::uint32_t TimelineLoader::thread_index(std::uint32_t tid) {
  const auto [known, is_new] = parts_.threads.try_emplace(tid, static_cast<std::uint32_t>(timeline_.threads.size()));
  if (is_new) timeline_.threads.push_back({.process = parts_.process, .tid = tid});
  return known->second;
}

std::uint32_t TimelineLoader::shape_number(const capture::ActivityEvent& event) {
  const LaunchShape shape{.name = event.name,
                          .key = {.device = event.device,
                                  .function = 0,
                                  .grid = event.grid,
                                  .block = event.block,
                                  .cluster = event.cluster,
                                  .dynamic_shared_bytes = event.dynamic_shared_bytes}};
  const auto [known, is_new] = parts_.shape_numbers.try_emplace(shape, static_cast<std::uint32_t>(parts_.shapes.size()));
  if (is_new) parts_.shapes.push_back(&known->first);
  return known->second;
}

Timeline TimelineLoader::finish() && {
  parts_ = {};
  std::move(kernels_).move_to(timeline_);
  timeline_.pc_samples = std::move(pc_samples_).finish();
  put_in_order(timeline_, std::move(range_rank_), notices_);
  leave_out_autotuning(timeline_);
  notices_.move_to(timeline_.notices, "");
  if (evaluator_ != nullptr) {
    timeline_.notices.insert(timeline_.notices.end(), evaluator_->notices().begin(), evaluator_->notices().end());
  }
  return std::move(timeline_);
}

}  // namespace dlkprof::model
