#include "model/timeline/timeline_order.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "model/fold/time_arithmetic.h"

namespace dlkprof::model {
namespace {

// A range that ended after the one around it is looked for a place so many levels up: enough for any program, and what keeps
// time linear where a hostile file has millions of levels.
constexpr int kMostLevelsUp = 64;

// The indices from 0 to `count` in the order of before(a, b).
template <typename Before>
std::vector<std::uint32_t> sorted_indices(std::size_t count, const Before& before) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  if (!std::is_sorted(order.begin(), order.end(), before)) std::sort(order.begin(), order.end(), before);
  return order;
}

// Of each index the new one.
std::vector<std::uint32_t> new_indices(const std::vector<std::uint32_t>& order) {
  std::vector<std::uint32_t> moved(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) moved[order[i]] = static_cast<std::uint32_t>(i);
  return moved;
}

// Moves values to their places, along the cycles of the permutation: no second array is needed.
template <typename T>
void arrange(std::vector<T>& values, std::vector<std::uint32_t> order) {
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    if (order[i] == i) continue;
    T first = std::move(values[i]);
    std::uint32_t to = i;
    for (std::uint32_t from = order[to]; from != i; to = from, from = order[to]) {
      values[to] = std::move(values[from]);
      order[to] = to;
    }
    values[to] = std::move(first);
    order[to] = to;
  }
}

void follow(std::uint32_t& index, const std::vector<std::uint32_t>& moved) {
  if (index != kNone) index = moved[index];
}

void order_ranges(Timeline& timeline, const std::vector<std::uint32_t>& rank) {
  std::vector<Range>& ranges = timeline.ranges;
  const auto place = [&](std::uint32_t i) {
    return std::pair(rank[i] == kNone ? std::numeric_limits<std::int64_t>::max() : ranges[i].start_ns, rank[i]);
  };
  std::vector<std::uint32_t> order =
      sorted_indices(ranges.size(), [&](std::uint32_t a, std::uint32_t b) { return place(a) < place(b); });
  const std::ptrdiff_t left_out = std::count(rank.begin(), rank.end(), kNone);
  const std::vector<std::uint32_t> moved = new_indices(order);
  arrange(ranges, std::move(order));
  ranges.resize(ranges.size() - static_cast<std::size_t>(left_out));
  for (Range& range : ranges) follow(range.parent, moved);
  for (Call& call : timeline.calls) follow(call.range, moved);
  for (GraphNode& node : timeline.graph_nodes) {
    follow(node.range, moved);
    follow(node.capture_range, moved);
  }
}

// Parents before children is also what breaks cycles: in none can each come before the next.
void nest_ranges(std::vector<Range>& ranges, NoticeCounts& notices) {
  std::uint64_t contradictions = 0, longer = 0;
  for (std::uint32_t i = 0; i < ranges.size(); ++i) {
    Range& range = ranges[i];
    if (range.parent == kNone) continue;
    if (range.parent >= i || ranges[range.parent].thread != range.thread) {
      range.parent = kNone;
      ++contradictions;
      continue;
    }
    if (range.end_ns <= ranges[range.parent].end_ns) continue;
    ++longer;
    for (int level = 0; range.parent != kNone && range.end_ns > ranges[range.parent].end_ns; ++level) {
      range.parent = level < kMostLevelsUp ? ranges[range.parent].parent : kNone;
    }
  }
  notices.count("Ranges that name one around them that began later or elsewhere, taken for ranges by themselves", contradictions);
  notices.count("Ranges that ended after the one around them, taken out of it", longer);
}

void order_calls(Timeline& timeline, NoticeCounts& notices) {
  std::uint64_t contradictions = 0;
  for (Call& call : timeline.calls) {
    if (call.range == kNone) continue;
    const Range& range = timeline.ranges[call.range];
    if (range.thread == call.thread && range.start_ns <= call.start_ns && call.start_ns <= range.end_ns) continue;
    call.range = kNone;
    ++contradictions;
  }
  notices.count("CUDA calls that name a range that was not open around them, taken for calls outside of ranges", contradictions);
  std::vector<std::uint32_t> order = sorted_indices(timeline.calls.size(), [&timeline](std::uint32_t a, std::uint32_t b) {
    return std::pair(timeline.calls[a].start_ns, a) < std::pair(timeline.calls[b].start_ns, b);
  });
  const std::vector<std::uint32_t> moved = new_indices(order);
  arrange(timeline.calls, std::move(order));
  for (Activity& activity : timeline.activities) follow(activity.call, moved);
}

void order_activities(Timeline& timeline) {
  const auto place = [&timeline](std::uint32_t i) {
    const Activity& activity = timeline.activities[i];
    const std::int64_t called = activity.call == kNone ? 0 : timeline.calls[activity.call].start_ns;
    return std::pair(is_timed(activity) ? activity.start_ns : called, i);
  };
  arrange(timeline.activities,
          sorted_indices(timeline.activities.size(), [&](std::uint32_t a, std::uint32_t b) { return place(a) < place(b); }));
}

void find_extent(Timeline& timeline) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = std::numeric_limits<std::int64_t>::min();
  const auto include = [&](const auto& event) {
    first = std::min(first, event.start_ns);
    last = std::max(last, event.end_ns);
  };
  for (const Range& range : timeline.ranges) include(range);
  for (const Call& call : timeline.calls) include(call);
  for (const Activity& activity : timeline.activities) {
    if (is_timed(activity)) include(activity);
  }
  if (first <= last) std::tie(timeline.first_ns, timeline.last_ns) = std::tie(first, last);
}

}  // namespace

void put_in_order(Timeline& timeline, std::vector<std::uint32_t> range_rank, NoticeCounts& notices) {
  order_ranges(timeline, std::exchange(range_rank, {}));
  nest_ranges(timeline.ranges, notices);
  order_calls(timeline, notices);
  order_activities(timeline);
  find_extent(timeline);
}

}  // namespace dlkprof::model
