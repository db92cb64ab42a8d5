#include "model/fold/kernel_spans.h"

#include <algorithm>
#include <tuple>

#include "model/fold/time_arithmetic.h"

namespace dlkprof::model {
namespace {

struct Edge {
  std::int64_t ns = 0;
  bool begins = false;
  std::uint32_t activity = 0;
};

std::vector<Edge> edges_of(std::span<const Activity> activities, std::uint32_t device) {
  std::vector<Edge> edges;
  for (std::uint32_t i = 0; i < activities.size(); ++i) {
    if (activities[i].device != device || !is_timed(activities[i]) || activities[i].end_ns <= activities[i].start_ns) continue;
    edges.push_back({activities[i].start_ns, true, i});
    edges.push_back({activities[i].end_ns, false, i});
  }
  // Ends first, so that one that begins where another ends has no company.
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return std::tie(a.ns, a.begins, a.activity) < std::tie(b.ns, b.begins, b.activity);
  });
  return edges;
}

// The first span that does not begin before `ns`.
auto first_from(std::span<const KernelSpan> spans, std::int64_t ns) {
  return std::lower_bound(spans.begin(), spans.end(), ns,
                          [](const KernelSpan& span, std::int64_t time) { return span.start_ns < time; });
}

}  // namespace

std::vector<KernelSpan> spans_alone(std::span<const Activity> activities, std::uint32_t device) {
  std::vector<KernelSpan> spans;
  std::uint64_t under_way = 0, sum = 0;  // of their indices: where only one is under way, which
  std::int64_t since = 0;
  for (const Edge& edge : edges_of(activities, device)) {
    if (under_way == 1 && edge.ns > since && activities[sum].config != kNone) {
      spans.push_back({since, edge.ns, static_cast<std::uint32_t>(sum)});
    }
    under_way += edge.begins ? 1 : -1;
    sum += edge.begins ? edge.activity : -std::uint64_t{edge.activity};
    since = edge.ns;
  }
  return spans;
}

Occupation occupation(std::span<const Activity> activities, std::uint32_t device) {
  Occupation all;
  for (const Edge& edge : edges_of(activities, device)) (edge.begins ? all.starts : all.ends).push_back(edge.ns);
  return all;
}

std::size_t Occupation::count(std::int64_t start_ns, std::int64_t end_ns) const {
  const auto begun = std::lower_bound(starts.begin(), starts.end(), end_ns) - starts.begin();
  const auto over = std::upper_bound(ends.begin(), ends.end(), start_ns) - ends.begin();
  return static_cast<std::size_t>(begun - over);
}

const KernelSpan* span_within(std::span<const KernelSpan> spans, std::int64_t start_ns, std::int64_t end_ns) {
  const auto after = first_from(spans, end_ns);
  return after != spans.begin() && (after - 1)->end_ns > start_ns ? &*(after - 1) : nullptr;
}

}  // namespace dlkprof::model
