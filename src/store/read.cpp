#include <algorithm>
#include <limits>
#include <utility>

#include "store/database.h"
#include "store/measured.h"
#include "store/read_rows.h"
#include "store/timeline_rows.h"

namespace dlkprof::store {
namespace {

using model::Timeline;

// Reads table after table, and checks what rows say of one another.
class TimelineReader {
 public:
  explicit TimelineReader(Reading& reading) : reading_(reading) {}

  [[nodiscard]] Timeline read() {
    processes();
    strings();
    events<model::Range>(timeline_.ranges);
    events<model::Call>(timeline_.calls);
    read_all(reading_, timeline_.kernels);
    read_all(reading_, timeline_.configs);
    read_all(reading_, timeline_.functions);
    read_all(reading_, timeline_.graph_nodes);
    activities();
    read_all(reading_, timeline_.detachments);
    read_all(reading_, timeline_.lone_steps);
    read_all(reading_, timeline_.facts);
    read_all(reading_, timeline_.notices);
    read_measured(reading_, timeline_);
    about();
    pc_samples();
    return std::move(timeline_);
  }

 private:
  void processes();
  void strings();
  void activities();
  void about();
  void pc_samples();
  void check(const Rows& rows, const model::Range& range) const;
  void check(const Rows& rows, const model::Call& call) const;
  template <typename Event>
  void events(std::vector<Event>& all);
  template <typename Event>
  void saw(const Event& event) {
    first_ = std::min(first_, event.start_ns);
    last_ = std::max(last_, event.end_ns);
  }

  Reading& reading_;
  Timeline timeline_;
  std::int64_t first_ = std::numeric_limits<std::int64_t>::max(), last_ = std::numeric_limits<std::int64_t>::min();
};

void TimelineReader::processes() {
  read_all(reading_, timeline_.processes);
  read_rows<Argument>(reading_, [this](const Rows& rows, Argument&& row) {
    std::vector<std::string>& arguments = timeline_.processes[row.process].record.arguments;
    rows.expect_position(row.position, arguments.size());
    arguments.push_back(std::move(row.value));
  });
  read_all(reading_, timeline_.devices);
  read_rows<ProcessDevice>(reading_, [this](const Rows&, const ProcessDevice& row) {
    timeline_.processes[row.process].devices[row.ordinal] = row.device;
  });
  read_all(reading_, timeline_.threads);
}

void TimelineReader::strings() {
  if (reading_.leaves_out("string")) {
    timeline_.strings.emplace_back();
    return;
  }
  timeline_.strings = read_texts<String>(reading_);
  const Rows rows(reading_, table_of<String>());
  if (timeline_.strings.empty()) rows.fail("it is missing");
  if (!timeline_.strings.front().empty()) rows.fail("the first one is not empty");
}

void TimelineReader::check(const Rows& rows, const model::Range& range) const {
  if (range.parent == model::kNone) return;
  const model::Range& parent = timeline_.ranges[range.parent];
  if (parent.thread != range.thread || parent.end_ns < range.end_ns) rows.fail("it does not lie inside its parent");
}

void TimelineReader::check(const Rows& rows, const model::Call& call) const {
  if (call.range == model::kNone) return;
  const model::Range& range = timeline_.ranges[call.range];
  const bool inside = range.start_ns <= call.start_ns && call.start_ns <= range.end_ns;
  if (range.thread != call.thread || !inside) rows.fail("it was not made inside its range");
}

template <typename Event>
void TimelineReader::events(std::vector<Event>& all) {
  if (reading_.leaves_out(table_of<Event>().name)) return;
  reserve<Event>(reading_, all);
  read_rows<Event>(reading_, [this, &all](const Rows& rows, const Event& event) {
    check(rows, event);
    saw(event);
    all.push_back(event);
  });
}

void TimelineReader::activities() {
  reserve<ActivityRow>(reading_, timeline_.activities);
  read_rows<ActivityRow>(reading_, [this](const Rows&, const ActivityRow& row) {
    if (is_timed(row.activity)) saw(row.activity);
    timeline_.activities.push_back(row.activity);
  });
}

void TimelineReader::about() {
  Rows rows(reading_, table_of<About>());
  About about;
  if (!next(rows, about)) rows.fail("it is missing");
  timeline_.first_ns = std::min(about.first_ns, first_);
  timeline_.last_ns = std::max(about.last_ns, last_);
}

void TimelineReader::pc_samples() {
  model::PcSamples& samples = timeline_.pc_samples;
  samples.reasons = read_texts<PcReason>(reading_);
  samples.files = read_texts<PcFile>(reading_);
  read_all(reading_, samples.codes);
  read_all(reading_, samples.functions);
  read_all(reading_, samples.instructions);
  read_rows<model::PcStall>(reading_, [&samples](const Rows& rows, const model::PcStall& stall) {
    if (std::max(stall.samples, stall.cycles) > model::kMostPcSamples) rows.fail("more samples than there can be");
    samples.stalls.push_back(stall);
  });
  read_rows<model::PcTotals>(reading_, [&samples](const Rows& rows, const model::PcTotals& totals) {
    if (!model::is_pc_period(totals.shortest_log2) || !model::is_pc_period(totals.longest_log2))
      rows.fail("a period that there cannot be");
    samples.totals.push_back(totals);
  });
  samples.sass_metrics = read_texts<SassMetric>(reading_);
  read_rows<model::SassCount>(reading_, [&samples](const Rows& rows, const model::SassCount& count) {
    if (count.value > model::kMostPcSamples) rows.fail("a larger count than there can be");
    samples.counts.push_back(count);
  });
}

}  // namespace

Timeline read_timeline(Reading& reading) { return TimelineReader(reading).read(); }

Timeline read_timeline(const std::filesystem::path& path) {
  Reading reading(path);
  return read_timeline(reading);
}

Timeline read_timeline_without_ranges(Reading& reading) {
  for (const char* table : {"string", "range"}) reading.counts[table] = Reading::kLeftOut;
  return TimelineReader(reading).read();
}

Timeline read_timeline_without_ranges(const std::filesystem::path& path) {
  Reading reading(path);
  return read_timeline_without_ranges(reading);
}

}  // namespace dlkprof::store
