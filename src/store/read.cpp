#include <algorithm>

#include "store/database.h"
#include "store/measured.h"
#include "store/pc_tables.h"
#include "store/rows.h"

namespace dlkprof::store {
namespace {

using model::Timeline;

// Reads table after table; what rows name by id has been read before them.
class TimelineReader {
 public:
  explicit TimelineReader(const std::filesystem::path& path)
      : database_(open_ours(path, Access::read)), budget_(database_.bytes) {}

  [[nodiscard]] Timeline read();
  [[nodiscard]] Timeline read_without_ranges();

 private:
  [[nodiscard]] Rows rows(std::string_view table) { return {database_, budget_, table}; }
  void processes();
  void devices();
  void threads();
  void strings();
  void ranges();
  void calls();
  void kernels();
  void configs();
  void functions();
  void calls_without_ranges();
  void activities();
  void words();
  void about();
  void pc_samples() {
    timeline_.pc_samples = PcReader(database_, budget_).read(timeline_.kernels.size(), timeline_.processes.size());
  }
  void saw(std::int64_t start, std::int64_t end) {
    first_ = std::min(first_, start);
    last_ = std::max(last_, end);
  }

  OpenDatabase database_;
  TextBudget budget_;
  Timeline timeline_;
  std::int64_t first_ = std::numeric_limits<std::int64_t>::max(), last_ = std::numeric_limits<std::int64_t>::min();
};

// The initializers of a braced list are evaluated from left to right: the order of the columns.

void TimelineReader::processes() {
  for (Rows row = rows("process"); row.next();) {
    row.id();
    model::Process process;
    capture::ProcessRecord& record = process.record;
    record.pid = row.number<std::uint32_t>();
    record.parent_pid = row.number<std::uint32_t>();
    record.start_unix_ns = row.number<std::int64_t>();
    record.host = row.text();
    record.dlkprof_version = row.text();
    record.cupti_version = row.number<std::uint32_t>();
    record.driver_version = row.number<std::uint32_t>();
    record.options_json = row.text();
    process.clock.monotonic_ns = row.number<std::int64_t>();
    process.clock.unix_ns = row.number<std::int64_t>();
    process.gpu_early_ns = row.number<std::int64_t>();
    process.gpu_late_ns = row.number<std::int64_t>();
    process.held_ns = row.number<std::int64_t>();
    process.graph_launches = row.number<std::uint64_t>();
    process.graph_gpu_ns = row.number<std::uint64_t>();
    process.timing_complete = row.flag();
    process.ended = row.flag();
    process.damaged_records = row.number<std::uint64_t>();
    process.capture = row.text();
    timeline_.processes.push_back(std::move(process));
  }
  for (Rows row = rows("argument"); row.next();) {
    std::vector<std::string>& arguments = timeline_.processes[row.index(timeline_.processes.size())].record.arguments;
    row.expect(arguments.size());
    arguments.push_back(row.text());
  }
}

void TimelineReader::devices() {
  for (Rows row = rows("device"); row.next();) {
    row.id();
    capture::DeviceRecord record;
    record.index = row.number<std::uint32_t>();
    for (std::string* text : {&record.name, &record.chip, &record.pci_bus_id}) *text = row.text();
    for (std::uint32_t* number :
         {&record.cc_major, &record.cc_minor, &record.sm_count, &record.warp_size, &record.max_threads_per_sm,
          &record.max_threads_per_block, &record.max_blocks_per_sm, &record.registers_per_sm, &record.registers_per_block,
          &record.shared_per_sm, &record.shared_per_block, &record.shared_per_block_optin, &record.shared_reserved_per_block})
      *number = row.number<std::uint32_t>();
    record.l2_bytes = row.number<std::uint64_t>();
    record.memory_bytes = row.number<std::uint64_t>();
    record.sm_clock_khz = row.number<std::uint32_t>();
    record.memory_clock_khz = row.number<std::uint32_t>();
    timeline_.devices.push_back({std::move(record)});
  }
  for (Rows row = rows("process_device"); row.next();) {
    model::Process& process = timeline_.processes[row.index(timeline_.processes.size())];
    const auto ordinal = row.number<std::uint32_t>();
    process.devices[ordinal] = row.index(timeline_.devices.size());
  }
}

void TimelineReader::threads() {
  for (Rows row = rows("thread"); row.next();) {
    row.id();
    timeline_.threads.push_back({row.index(timeline_.processes.size()), row.number<std::uint32_t>()});
  }
}

void TimelineReader::strings() {
  Rows row = rows("string");
  timeline_.strings.reserve(row.count());
  while (row.next()) {
    row.id();
    timeline_.strings.push_back(row.text());
    if (!timeline_.strings.front().empty()) row.fail("the first one is not empty");
  }
  if (timeline_.strings.empty()) row.fail("it is missing");
}

void TimelineReader::ranges() {
  Rows row = rows("range");
  std::vector<model::Range>& ranges = timeline_.ranges;
  ranges.reserve(row.count());
  while (row.next()) {
    row.id();
    model::Range range;
    range.start_ns = ranges.empty() ? row.time() : row.time(ranges.back().start_ns);
    range.end_ns = row.time(range.start_ns);
    range.parent = row.index_or_none(ranges.size());
    range.thread = row.index(timeline_.threads.size());
    range.message = row.index(timeline_.strings.size());
    range.domain = row.index(timeline_.strings.size());
    range.kind = row.enumeration(capture::RangeKind::mark);
    range.closed = row.flag();
    range.sequence = row.number_or_none();
    range.op_id = row.number_or_none();
    if (range.parent != model::kNone) {
      const model::Range& parent = ranges[range.parent];
      if (parent.thread != range.thread || parent.end_ns < range.end_ns) row.fail("it does not lie inside its parent");
    }
    saw(range.start_ns, range.end_ns);
    ranges.push_back(range);
  }
}

void TimelineReader::calls() {
  Rows row = rows("call");
  std::vector<model::Call>& calls = timeline_.calls;
  calls.reserve(row.count());
  while (row.next()) {
    row.id();
    model::Call call;
    call.start_ns = calls.empty() ? row.time() : row.time(calls.back().start_ns);
    call.end_ns = row.time(call.start_ns);
    call.range = row.index_or_none(timeline_.ranges.size());
    call.thread = row.index(timeline_.threads.size());
    call.name = row.index(timeline_.strings.size());
    if (call.range != model::kNone) {
      const model::Range& range = timeline_.ranges[call.range];
      const bool inside = range.start_ns <= call.start_ns && call.start_ns <= range.end_ns;
      if (range.thread != call.thread || !inside) row.fail("it was not made inside its range");
    }
    saw(call.start_ns, call.end_ns);
    calls.push_back(call);
  }
}

void TimelineReader::calls_without_ranges() {
  Rows row = rows("call");
  std::vector<model::Call>& calls = timeline_.calls;
  calls.reserve(row.count());
  while (row.next()) {
    row.id();
    model::Call call;
    call.start_ns = calls.empty() ? row.time() : row.time(calls.back().start_ns);
    call.end_ns = row.time(call.start_ns);
    row.skip();
    call.thread = row.index(timeline_.threads.size());
    saw(call.start_ns, call.end_ns);
    calls.push_back(call);
  }
}

void TimelineReader::kernels() {
  for (Rows row = rows("kernel"); row.next();) {
    row.id();
    timeline_.kernels.push_back({row.enumeration(capture::ActivityKind::set), row.text(), row.text(), row.text()});
  }
}

void TimelineReader::configs() {
  for (Rows row = rows("config"); row.next();) {
    row.id();
    model::Config config{row.index(timeline_.processes.size()), {}};
    capture::LaunchKey& key = config.key;
    key.device = row.number<std::uint32_t>();
    key.function = row.number<std::uint32_t>();
    for (capture::Dim3* dim : {&key.grid, &key.block, &key.cluster})
      *dim = {row.number<std::uint32_t>(), row.number<std::uint32_t>(), row.number<std::uint32_t>()};
    key.dynamic_shared_bytes = row.number<std::uint32_t>();
    config.kernel = row.index_or_none(timeline_.kernels.size());
    timeline_.configs.push_back(config);
  }
}

void TimelineReader::functions() {
  for (Rows row = rows("function"); row.next();) {
    model::LoadedFunction function{row.index(timeline_.processes.size()), {}};
    capture::FunctionRecord& record = function.record;
    record.id = row.number<std::uint32_t>();
    for (std::uint32_t* number : {&record.registers_per_thread, &record.static_shared_bytes, &record.local_bytes_per_thread,
                                  &record.constant_bytes, &record.max_threads_per_block})
      *number = row.number<std::uint32_t>();
    record.shared_carveout_percent = row.number<std::int32_t>();
    record.binary_version = row.number<std::uint32_t>();
    timeline_.functions.push_back(std::move(function));
  }
}

void TimelineReader::activities() {
  Rows row = rows("activity");
  timeline_.activities.reserve(row.count());
  std::optional<std::int64_t> previous;  // start of the last one that was timed
  while (row.next()) {
    row.id();
    model::Activity activity;
    if (row.null()) {
      if (!row.null()) row.fail("it ended but did not start");
    } else {
      activity.start_ns = previous ? row.time(*previous) : row.time();
      activity.end_ns = row.time(activity.start_ns);
      previous = activity.start_ns;
      saw(activity.start_ns, activity.end_ns);
    }
    activity.bytes = row.number<std::uint64_t>();
    if (!row.null()) activity.launch_index = row.number<std::uint64_t>();
    activity.call = row.index_or_none(timeline_.calls.size());
    activity.kernel = row.index(timeline_.kernels.size());
    activity.config = row.index_or_none(timeline_.configs.size());
    activity.device = row.index(timeline_.devices.size());
    activity.stream = row.number<std::uint32_t>();
    activity.in_graph = row.flag();
    activity.replayed = row.flag();
    timeline_.activities.push_back(activity);
  }
}

void TimelineReader::words() {
  for (Rows row = rows("fact"); row.next();) {
    row.id();
    timeline_.facts.push_back({row.text(), row.text(), row.text()});
  }
  for (Rows row = rows("notice"); row.next();) {
    row.id();
    timeline_.notices.push_back({row.enumeration(capture::Severity::error), row.text(), row.text(), row.text()});
  }
}

void TimelineReader::about() {
  Rows row = rows("about");
  if (!row.next()) row.fail("it is missing");
  row.id();
  row.skip();
  row.skip();
  timeline_.first_ns = row.time();
  timeline_.last_ns = row.time(timeline_.first_ns);
  timeline_.first_ns = std::min(timeline_.first_ns, first_);
  timeline_.last_ns = std::max(timeline_.last_ns, last_);
}

Timeline TimelineReader::read() {
  processes();
  devices();
  threads();
  strings();
  ranges();
  calls();
  kernels();
  configs();
  functions();
  activities();
  words();
  read_measured(database_, budget_, timeline_);
  about();
  pc_samples();
  return std::move(timeline_);
}

Timeline TimelineReader::read_without_ranges() {
  processes();
  devices();
  threads();
  timeline_.strings.emplace_back();
  calls_without_ranges();
  kernels();
  configs();
  functions();
  activities();
  words();
  read_measured(database_, budget_, timeline_);
  about();
  pc_samples();
  return std::move(timeline_);
}

}  // namespace

Timeline read_timeline(const std::filesystem::path& path) { return TimelineReader(path).read(); }

Timeline read_timeline_without_ranges(const std::filesystem::path& path) { return TimelineReader(path).read_without_ranges(); }

}  // namespace dlkprof::store
