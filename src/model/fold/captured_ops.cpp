#include "model/fold/captured_ops.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace dlkprof::model {
namespace {

constexpr std::size_t kMostChained = kMaxOpDepth;  // what is deeper ends in "/..." in any case

}  // namespace

CapturedOps::CapturedOps(const Timeline& timeline, const RangeMarkers& markers, const OpPaths& paths, OpTree& tree)
    : timeline_(timeline), markers_(markers), paths_(paths), tree_(tree) {
  if (timeline.graph_nodes.empty()) return;
  spans_.resize(timeline.threads.size());
  number_nodes();
  find_outer();
  find_steps();
  number_firsts();
}

// A range, or the innermost around it that counts.
std::uint32_t CapturedOps::counted(std::uint32_t range) const {
  return range == kNone || markers_.counts(range) ? range : paths_.parent[range];
}

void CapturedOps::number_nodes() {
  std::map<Captured, std::uint32_t> known;
  std::unordered_map<std::uint32_t, std::uint32_t> graphs;
  for (const GraphNode& node : timeline_.graph_nodes) {
    std::uint32_t outer = counted(node.capture_range);
    if (outer != kNone && markers_.signature(outer).kind == MarkerKind::machinery) outer = paths_.named_parent[outer];
    const auto [graph, is_new_graph] = graphs.try_emplace(node.graph, static_cast<std::uint32_t>(graphs.size()));
    if (is_new_graph) {
      capture_range_.push_back(outer);
      is_child_.push_back(false);
    }
    is_child_[graph->second] = is_child_[graph->second] || node.in_child;
    if (outer != kNone) capture_ranges_.insert(outer);
    const Captured captured{counted(node.range), graph->second};
    if (captured.range == kNone) {
      of_node_.push_back(kNone);
      continue;
    }
    const auto [number, is_new] = known.try_emplace(captured, static_cast<std::uint32_t>(captured_.size()));
    if (is_new) captured_.push_back(captured);
    of_node_.push_back(number->second);
  }
}

void CapturedOps::find_outer() {
  for (const Captured& captured : captured_) {
    std::uint32_t range = paths_.parent_of(timeline_.ranges, captured.range);
    while (range != kNone && outer_.insert(range).second) range = paths_.parent_of(timeline_.ranges, range);
  }
}

// From the outermost range to `range` itself, as paths name them.
std::vector<std::uint32_t> CapturedOps::chain_of(std::uint32_t range) const {
  std::vector<std::uint32_t> chain;
  for (; range != kNone && chain.size() < kMostChained; range = paths_.named_parent[range]) chain.push_back(range);
  std::reverse(chain.begin(), chain.end());
  return chain;
}

// A child's ops lie in the graph that it was put into, whose capture began farther out.
bool CapturedOps::begins_capture(std::uint32_t range, std::uint32_t graph) const {
  return is_child_[graph] ? capture_ranges_.contains(range) : capture_range_[graph] == range;
}

std::vector<std::uint32_t> CapturedOps::ranges_of(const Steps& steps) const {
  std::vector<std::uint32_t> ranges = chain_of(steps.range);
  if (steps.graph == kNone) return ranges;
  const auto outer =
      std::find_if(ranges.begin(), ranges.end(), [&](std::uint32_t range) { return begins_capture(range, steps.graph); });
  if (outer != ranges.end()) ranges.erase(ranges.begin(), outer + 1);
  return ranges;
}

CapturedOps::Steps CapturedOps::steps_within(std::uint32_t range, std::uint32_t graph) const {
  Steps steps{.range = range, .graph = graph, .fresh = true};
  const std::vector<std::uint32_t> ranges = ranges_of(steps);
  if (!ranges.empty()) steps.first = ranges.front();
  return steps;
}

// The forward range need not have launched anything itself, as that of a view has not: it lies between others of its graph.
CapturedOps::Steps CapturedOps::steps_of_forward(std::uint32_t forward) const {
  const Range& range = timeline_.ranges[forward];
  const auto& spans = spans_[range.thread];
  auto after = spans.upper_bound(range.start_ns);
  const bool within = after != spans.begin() && range.start_ns <= std::prev(after)->second.end_ns;
  if (within) return steps_within(forward, std::prev(after)->second.graph);
  return {.range = forward, .first = forward};
}

void CapturedOps::find_steps() {
  steps_.resize(captured_.size());
  const auto is_backward = [this](std::uint32_t i) { return paths_.forward[captured_[i].range] != kNone; };
  for (std::uint32_t i = 0; i < captured_.size(); ++i) {
    if (is_backward(i)) continue;
    steps_[i] = steps_within(captured_[i].range, captured_[i].graph);
    if (steps_[i].first == kNone) continue;
    const Range& first = timeline_.ranges[steps_[i].first];
    Span& span = spans_[first.thread].try_emplace(first.start_ns, Span{first.end_ns, captured_[i].graph}).first->second;
    span.end_ns = std::max(span.end_ns, first.end_ns);
  }
  // What lies between two ranges of one graph is of it as well.
  for (auto& spans : spans_) {
    for (auto span = spans.begin(); span != spans.end(); ++span) {
      const auto next = std::next(span);
      if (next != spans.end() && next->second.graph == span->second.graph) span->second.end_ns = next->first;
    }
  }
  for (std::uint32_t i = 0; i < captured_.size(); ++i) {
    if (is_backward(i)) steps_[i] = steps_of_forward(paths_.forward[captured_[i].range]);
  }
}

void CapturedOps::number_firsts() {
  for (const Steps& steps : steps_) {
    if (!steps.fresh || steps.first == kNone) continue;
    firsts_[{steps.graph, timeline_.ranges[steps.first].thread, markers_.signature(steps.first).name}].push_back(steps.first);
  }
  for (auto& [key, ranges] : firsts_) {
    std::sort(ranges.begin(), ranges.end());
    ranges.erase(std::unique(ranges.begin(), ranges.end()), ranges.end());
  }
}

std::uint32_t CapturedOps::repetition_of(const Steps& steps) const {
  const std::uint32_t first = steps.first;
  const auto& ranges = firsts_.at({steps.graph, timeline_.ranges[first].thread, markers_.signature(first).name});
  return static_cast<std::uint32_t>(std::lower_bound(ranges.begin(), ranges.end(), first) - ranges.begin()) + 1;
}

std::uint32_t CapturedOps::captured_of(const Activity& activity, std::uint32_t launching_range) {
  if (activity.graph_node == kNone || of_node_.empty()) return kNone;
  const std::uint32_t number = of_node_[activity.graph_node];
  if (number == kNone) return kNone;
  const std::uint32_t launching = launching_range == kNone ? OpTree::kRoot : paths_.node[launching_range];
  return node_below(launching_range, number) == launching ? kNone : number;
}

// Empty: it is the op that launches.
std::vector<std::uint32_t> CapturedOps::steps_below(std::uint32_t launching_range, std::uint32_t number) const {
  if (steps_[number].first != kNone) return ranges_of(steps_[number]);
  std::vector<std::uint32_t> captured = chain_of(captured_[number].range);
  const std::vector<std::uint32_t> launching =
      launching_range == kNone ? std::vector<std::uint32_t>{} : chain_of(launching_range);
  std::size_t common = 0;
  while (common < captured.size() && common < launching.size() &&
         markers_.signature(captured[common]).name == markers_.signature(launching[common]).name) {
    ++common;
  }
  captured.erase(captured.begin(), captured.begin() + static_cast<std::ptrdiff_t>(common));
  return captured;
}

std::uint32_t CapturedOps::node_below(std::uint32_t launching_range, std::uint32_t number) {
  std::uint32_t node = launching_range == kNone ? OpTree::kRoot : paths_.node[launching_range];
  const auto [known, is_new] = nodes_.try_emplace(std::uint64_t{node} << 32U | number, OpTree::kRoot);
  if (!is_new) return known->second;
  const Steps& steps = steps_[number];
  bool fresh = steps.fresh && steps.first != kNone;
  for (const std::uint32_t range : steps_below(launching_range, number)) {
    node = std::exchange(fresh, false) ? tree_.child(node, markers_.signature(range).name, repetition_of(steps))
                                       : tree_.grafted(node, paths_.node[range]);
  }
  return known->second = node;
}

Direction CapturedOps::direction_of(std::uint32_t launching_range, std::uint32_t number) const {
  const Direction own = paths_.direction[captured_[number].range];
  return own != Direction::none || launching_range == kNone ? own : paths_.direction[launching_range];
}

}  // namespace dlkprof::model
