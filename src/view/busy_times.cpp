// How busy each lane of the timeline is over time, in bins: what the page draws where events are too many or not there.

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <vector>

#include "view/page_tables.h"

namespace dlkprof::view {
namespace {

using store::Connection;
using store::Statement;

// Bins of the whole timeline: of a screen's width, and of a sixteenth of that.
constexpr std::array<std::int64_t, 2> kBins{1024, 16384};

struct Lane {
  const char* what = "";  // kernel, copy, set, call or range
  std::uint32_t device = model::kNone, stream = 0, thread = model::kNone;
  [[nodiscard]] auto key() const { return std::tie(device, stream, thread, what); }
  bool operator<(const Lane& other) const { return key() < other.key(); }
};

struct Bin {
  std::int64_t busy_ns = 0;
  std::uint64_t events = 0;  // that begin in it
};
using Bins = std::vector<Bin>;

class BusyTimes {
 public:
  explicit BusyTimes(const model::Timeline& timeline)
      : origin_(timeline.first_ns), span_(std::max<std::int64_t>(1, timeline.last_ns - timeline.first_ns)) {}

  void add(const Lane& lane, std::int64_t start, std::int64_t end);
  void write(Connection& connection) const;

 private:
  void add_to(Bins& bins, std::int64_t start, std::int64_t end) const;
  [[nodiscard]] std::int64_t width(std::size_t bins) const {
    return span_ / static_cast<std::int64_t>(bins) + 1;  // so that the last event lies in the last bin
  }

  std::int64_t origin_, span_;
  std::map<Lane, std::array<Bins, kBins.size()>> lanes_;
};

void BusyTimes::add(const Lane& lane, std::int64_t start, std::int64_t end) {
  std::array<Bins, kBins.size()>& levels = lanes_[lane];
  for (std::size_t level = 0; level < kBins.size(); ++level) {
    levels[level].resize(static_cast<std::size_t>(kBins[level]));
    add_to(levels[level], std::clamp<std::int64_t>(start - origin_, 0, span_), std::clamp<std::int64_t>(end - origin_, 0, span_));
  }
}

void BusyTimes::add_to(Bins& bins, std::int64_t start, std::int64_t end) const {
  const std::int64_t bin_ns = width(bins.size());
  ++bins[static_cast<std::size_t>(start / bin_ns)].events;
  while (start < end) {
    const std::int64_t bin = start / bin_ns;
    const std::int64_t stop = std::min(end, (bin + 1) * bin_ns);
    bins[static_cast<std::size_t>(bin)].busy_ns += stop - start;
    start = stop;
  }
}

void BusyTimes::write(Connection& connection) const {
  connection.run("CREATE TABLE page_lane (id INTEGER PRIMARY KEY, what TEXT, device INTEGER, stream INTEGER, thread INTEGER)");
  connection.run(
      "CREATE TABLE page_busy (level INTEGER, lane INTEGER, bin INTEGER, bin_ns INTEGER, busy_ns INTEGER, events INTEGER, "
      "PRIMARY KEY (level, lane, bin)) WITHOUT ROWID");
  Statement insert_lane = connection.prepare("INSERT INTO page_lane VALUES (?, ?, ?, ?, ?)");
  Statement insert = connection.prepare("INSERT INTO page_busy VALUES (?, ?, ?, ?, ?, ?)");
  const auto index = [](std::uint32_t value) {
    return value == model::kNone ? std::nullopt : std::optional<std::int64_t>(value);
  };
  std::int64_t id = 0;
  for (const auto& [lane, levels] : lanes_) {
    insert_lane.run(id, lane.what, index(lane.device), lane.stream, index(lane.thread));
    for (std::size_t level = 0; level < levels.size(); ++level) {
      for (std::size_t bin = 0; bin < levels[level].size(); ++bin) {
        const Bin& one = levels[level][bin];
        if (one.events > 0 || one.busy_ns > 0) insert.run(level, id, bin, width(levels[level].size()), one.busy_ns, one.events);
      }
    }
    ++id;
  }
}

const char* word_of(capture::ActivityKind kind) {
  if (kind == capture::ActivityKind::kernel) return "kernel";
  return kind == capture::ActivityKind::copy ? "copy" : "set";
}

}  // namespace

void add_busy_times(Connection& connection, const model::Timeline& timeline) {
  BusyTimes times(timeline);
  for (const model::Activity& activity : timeline.activities) {
    if (activity.start_ns == 0 && activity.end_ns == 0) continue;  // not timed
    const char* what = word_of(timeline.kernels[activity.kernel].kind);
    times.add({.what = what, .device = activity.device, .stream = activity.stream}, activity.start_ns, activity.end_ns);
  }
  for (const model::Call& call : timeline.calls) times.add({.what = "call", .thread = call.thread}, call.start_ns, call.end_ns);
  for (const model::Range& range : timeline.ranges) {
    if (range.parent == model::kNone) times.add({.what = "range", .thread = range.thread}, range.start_ns, range.end_ns);
  }
  times.write(connection);
}

}  // namespace dlkprof::view
