#include "model/timeline/graph_nodes.h"

#include <algorithm>
#include <utility>

namespace dlkprof::model {
namespace {

constexpr unsigned kGraphShift = 32;
constexpr std::uint64_t kLowHalf = 0xffffffffU;
// Clones of clones: graphs that are children of children. What goes on longer is a circle of a hostile file.
constexpr int kMostClones = 16;

std::uint64_t find_original(const std::unordered_map<std::uint64_t, std::uint64_t>& originals, std::uint64_t id) {
  const auto found = originals.find(id);
  return found == originals.end() ? 0 : found->second;
}

}  // namespace

bool GraphNodes::add(const capture::GraphEvent& event) {
  switch (event.kind) {
    case capture::GraphEventKind::node_made:
      made_.try_emplace(event.id, Made{event.graph, event.range, event.capture_range});
      return true;
    case capture::GraphEventKind::node_cloned:
      add_clone(event.id, event.original);
      return true;
    case capture::GraphEventKind::graph_cloned:
      graph_originals_.try_emplace(event.id, event.original);
      return true;
    case capture::GraphEventKind::executable_made:
      executable_graphs_.try_emplace(event.id, event.original);
      return true;
  }
  return false;
}

// A child is cloned right before the node that it is of, and its graph has the later number.
void GraphNodes::add_clone(std::uint64_t node, std::uint64_t original) {
  if (!node_originals_.try_emplace(node, original).second) return;
  const std::uint64_t graph = node >> kGraphShift;
  const std::uint64_t before = std::exchange(last_cloned_, graph);
  clones_[graph].push_back(node);
  const auto child = clones_.find(before);
  if (before <= graph || child == clones_.end()) return;
  auto& children = children_[graph];
  children.insert(children.end(), child->second.begin(), child->second.end());
  clones_.erase(child);
}

// Where as many ran as were cloned. In what order those of children in children come was not seen: more then ran, and none is
// told.
void GraphNodes::find_children_that_ran() {
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> untold;  // by graph
  for (const std::uint64_t node : ran_) {
    const std::uint64_t graph = node >> kGraphShift;
    if (children_.contains(graph) && !made_.contains(node) && original_of(node) == 0) untold[graph].push_back(node);
  }
  for (auto& [graph, nodes] : untold) {
    const std::vector<std::uint64_t>& children = children_.at(graph);
    if (nodes.size() != children.size()) continue;
    std::sort(nodes.begin(), nodes.end());
    for (std::size_t i = 0; i < nodes.size(); ++i) node_originals_.try_emplace(nodes[i], children[i]);
  }
}

std::uint32_t GraphNodes::number_of(std::uint64_t node) {
  const auto [known, is_new] = numbers_.try_emplace(node, static_cast<std::uint32_t>(ran_.size()));
  if (is_new) ran_.push_back(node);
  return known->second;
}

// 0: nothing is told of it. A clone may also be told of as made, on whatever thread instantiates: what it is cloned from counts.
std::uint64_t GraphNodes::original_of(std::uint64_t node) const {
  if (const std::uint64_t original = find_original(node_originals_, node); original != 0) return original;
  for (const Numbers* graphs : {&executable_graphs_, &graph_originals_}) {
    const std::uint64_t graph = find_original(*graphs, node >> kGraphShift);
    const std::uint64_t original = graph << kGraphShift | (node & kLowHalf);
    if (graph != 0 && (made_.contains(original) || node_originals_.contains(original))) return original;
  }
  return 0;
}

GraphNodes::Origin GraphNodes::origin_of(std::uint64_t node) const {
  Origin origin{.node = node};
  for (; origin.clones < kMostClones; ++origin.clones) {
    const std::uint64_t original = original_of(origin.node);
    if (original == 0 || original == origin.node) break;
    origin.node = original;
  }
  const auto found = made_.find(origin.node);
  if (found != made_.end()) origin.made = &found->second;
  return origin;
}

std::vector<std::uint32_t> GraphNodes::resolve(const std::function<std::uint32_t(std::uint64_t)>& range_of,
                                               std::vector<GraphNode>& nodes) && {
  find_children_that_ran();
  std::vector<std::uint32_t> indices;
  indices.reserve(ran_.size());
  std::unordered_map<std::uint64_t, std::uint32_t> known, graphs;
  std::uint32_t next_graph = 0;  // after those of other captures
  for (const GraphNode& node : nodes) next_graph = std::max(next_graph, node.graph + 1);
  for (const std::uint64_t node : ran_) {
    const auto [origin, made, clones] = origin_of(node);
    if (made == nullptr) {
      indices.push_back(kNone);
      continue;
    }
    const auto [index, is_new] = known.try_emplace(origin, static_cast<std::uint32_t>(nodes.size()));
    if (is_new) {
      const auto [graph, is_new_graph] = graphs.try_emplace(made->graph, next_graph);
      if (is_new_graph) ++next_graph;
      nodes.push_back({range_of(made->range), range_of(made->capture_range), graph->second, clones > 1});
    }
    indices.push_back(index->second);
  }
  return indices;
}

}  // namespace dlkprof::model
