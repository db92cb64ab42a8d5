#include "model/fold/compiled_launches.h"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>

#include "model/aggregate/grouped_indices.h"
#include "model/timeline/message.h"

namespace dlkprof::model {
namespace {

// Pairs of names that are compared of one call, a graph with 4,000 launches, and of all: a few seconds.
constexpr std::size_t kMostComparedAtOnce = std::size_t{1} << 24U;
constexpr std::uint64_t kMostCompared = std::uint64_t{1} << 32U;

// Ranges of PyTorch's around all that the generated code launches while a CUDA graph is captured
// (torch/_inductor/cudagraph_trees.py).
constexpr std::string_view kCaptures = "CUDAGraphNode.";

// The op in "extern_kernels.mm", "aten.convolution_backward.default", "torch.ops.aten.mm.out", "aten::mm"; "" of other names.
std::string_view op_of(std::string_view name) {
  constexpr std::array<std::string_view, 4> kPrefixes{"extern_kernels.", "torch.ops.", "aten.", "aten::"};
  const auto* const prefix =
      std::find_if(kPrefixes.begin(), kPrefixes.end(), [&](std::string_view one) { return name.starts_with(one); });
  if (prefix == kPrefixes.end()) {
    const std::size_t colons = name.find("::");  // an op that a library registers, as its range calls it
    return colons == std::string_view::npos ? std::string_view() : name.substr(colons + 2);
  }
  name.remove_prefix(prefix->size());
  if (*prefix == "torch.ops.") name.remove_prefix(std::min(name.size(), name.find('.') + 1));  // its library
  name = name.substr(0, name.find('.'));                                                       // without the overload
  return name == "bias_addmm" ? std::string_view("addmm") : name;  // Inductor's own way of calling addmm
}

}  // namespace

// Units in the order of their calls, each call of a graph by itself.
class CompiledLaunches::Calls {
 public:
  Calls(const Timeline& timeline, const RangeMarkers& markers, const TextTable& texts)
      : timeline_(timeline), markers_(markers), texts_(texts), places_(timeline.ranges.size()) {
    std::unordered_map<std::uint32_t, std::string_view> keys;  // by message
    for (std::uint32_t i = 0; i < places_.size(); ++i) {
      const Range& range = timeline.ranges[i];
      const auto [key, is_new] = keys.try_emplace(range.message);
      if (is_new) key->second = compiled_graph_key(timeline.strings[range.message]);
      if (!key->second.empty() && markers.counts(i)) {
        keys_.emplace(i, key->second);
        places_[i] = {i, kNone};
      } else if (range.parent != kNone && places_[range.parent].graph != kNone) {
        const Place& around = places_[range.parent];
        const bool is_unit = around.unit == kNone && !timeline.strings[range.message].starts_with(kCaptures);
        places_[i] = {around.graph, is_unit ? i : around.unit};
      }
    }
  }

  // Calls visit(range of the graph, its key, its units).
  template <typename Visit>
  void each(const auto& names_of, const Visit& visit) {
    if (keys_.empty()) return;
    UnitsOfGraphs units;
    add_calls(names_of, units);
    for (const auto& [range, found] : units) visit(range, keys_.at(range), std::span(found));
    units.clear();
    add_nodes(names_of, units);
    for (const auto& [range, found] : units) visit(range, keys_.at(range), std::span(found));
  }

  [[nodiscard]] std::vector<std::uint32_t> graph_ranges() const {
    std::vector<std::uint32_t> ranges;
    if (keys_.empty()) return ranges;
    ranges.reserve(places_.size());
    for (const Place& place : places_) ranges.push_back(place.graph);
    return ranges;
  }

 private:
  struct Place {
    std::uint32_t graph = kNone, unit = kNone;  // ranges; a unit of kNone: directly in that of the graph
  };
  using UnitsOfGraphs = std::map<std::uint32_t, std::vector<Found>>;  // by the range of the call

  void add_calls(const auto& names_of, UnitsOfGraphs& units) {
    const GroupedIndices activities(timeline_.activities.size(), timeline_.calls.size(), [&](std::size_t i) {
      const Activity& activity = timeline_.activities[i];
      return activity.in_graph ? kNone : activity.call;
    });
    for (std::uint32_t call = 0; call < timeline_.calls.size(); ++call) {
      const std::uint32_t range = timeline_.calls[call].range;
      if (range == kNone || places_[range].graph == kNone || activities[call].empty()) continue;
      add(places_[range], activities[call].front(), names_of, units)->call = call;
    }
  }

  // In the order of their numbers, which is that in which they first ran.
  void add_nodes(const auto& names_of, UnitsOfGraphs& units) {
    std::vector<std::uint32_t> ran(timeline_.graph_nodes.size(), kNone);  // of each node, an activity
    for (std::uint32_t i = 0; i < timeline_.activities.size(); ++i) {
      const std::uint32_t node = timeline_.activities[i].graph_node;
      if (node != kNone && ran[node] == kNone) ran[node] = i;
    }
    for (std::uint32_t node = 0; node < ran.size(); ++node) {
      const std::uint32_t range = timeline_.graph_nodes[node].range;
      if (range == kNone || places_[range].graph == kNone || ran[node] == kNone) continue;
      add(places_[range], ran[node], names_of, units)->nodes.push_back(node);
    }
  }

  // The unit that an activity belongs to: the last one, or a new one.
  Found* add(const Place& place, std::uint32_t activity, const auto& names_of, UnitsOfGraphs& all) {
    const Kernel& kernel = timeline_.kernels[timeline_.activities[activity].kernel];
    std::vector<Found>& units = all[place.graph];
    const bool has_range = place.unit != kNone && markers_.counts(place.unit);
    if (has_range && !units.empty() && units.back().range == place.unit) return &units.back();
    if (!has_range) {
      units.push_back({.names = names_of(kernel.name, ""), .shown = kernel.name});
    } else {
      const std::string_view op = texts_[markers_.signature(place.unit).name];
      units.push_back({.range = place.unit, .names = names_of(op_of(op).empty() ? kernel.name : "", op), .shown = op});
    }
    return &units.back();
  }

  const Timeline& timeline_;
  const RangeMarkers& markers_;
  const TextTable& texts_;
  std::vector<Place> places_;                                 // of each range
  std::unordered_map<std::uint32_t, std::string_view> keys_;  // of ranges that call a graph
};

CompiledLaunches::CompiledLaunches(const Timeline& timeline, const RangeMarkers& markers, const TextTable& texts)
    : code_(timeline.facts) {
  if (code_.empty()) return;
  names_.intern("");
  const auto names = [this](std::string_view kernel, std::string_view op) { return names_of(kernel, op); };
  Calls calls(timeline, markers, texts);
  calls.each(names, [this](std::uint32_t range, std::string_view key, std::span<const Found> units) { join(range, key, units); });
  graph_ranges_ = calls.graph_ranges();
  known_.clear();
}

CompiledLaunches::Names CompiledLaunches::names_of(std::string_view kernel, std::string_view op) {
  return {names_.intern(kernel), names_.intern(op_of(op))};
}

const std::vector<CompiledLaunches::Names>& CompiledLaunches::names_of(const CompiledGraph& graph) {
  const auto [known, is_new] = names_of_graph_.try_emplace(&graph);
  if (is_new) {
    for (const CompiledLaunch& launch : graph.launches) known->second.push_back(names_of(launch.kernel, launch.kernel));
  }
  return known->second;
}

bool CompiledLaunches::is_same(const Names& unit, const Names& launch) {
  return (unit.kernel != 0 && unit.kernel == launch.kernel) || (unit.op != 0 && unit.op == launch.op);
}

// Of each unit the launch that it is, or kNone.
std::vector<std::uint32_t> CompiledLaunches::join(std::span<const Found> units, const std::vector<Names>& launches) {
  std::vector<std::uint32_t> joined(units.size(), kNone);
  const std::size_t width = launches.size() + 1;
  if (units.size() >= kMostComparedAtOnce / width || compared_ >= kMostCompared) return joined;
  compared_ += units.size() * width;
  // How many of the units from one on and the launches from another on can be joined.
  std::vector<std::uint32_t> common((units.size() + 1) * width);
  for (std::size_t i = units.size(); i-- > 0;) {
    for (std::size_t j = launches.size(); j-- > 0;) {
      common[i * width + j] = is_same(units[i].names, launches[j])
                                  ? common[(i + 1) * width + j + 1] + 1
                                  : std::max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  std::size_t first = 0, launch = 0;  // after the last that are joined
  const auto join_between = [&](std::size_t unit_end, std::size_t launch_end) {
    if (unit_end - first != launch_end - launch) return;
    for (std::size_t i = first; i < unit_end; ++i) joined[i] = static_cast<std::uint32_t>(launch + (i - first));
  };
  for (std::size_t i = 0, j = 0; i < units.size() && j < launches.size();) {
    if (is_same(units[i].names, launches[j])) {
      join_between(i, j);
      joined[i] = static_cast<std::uint32_t>(j);
      first = ++i;
      launch = ++j;
    } else {
      common[(i + 1) * width + j] >= common[i * width + j + 1] ? ++i : ++j;
    }
  }
  join_between(units.size(), launches.size());
  return joined;
}

void CompiledLaunches::join(std::uint32_t graph_range, std::string_view key, std::span<const Found> units) {
  std::vector<std::uint64_t> signature;
  signature.reserve(units.size());
  for (const Found& unit : units) signature.push_back(std::uint64_t{unit.names.kernel} << 32U | unit.names.op);
  const CompiledGraph* best = nullptr;
  const std::vector<std::uint32_t>* best_joined = nullptr;
  std::ptrdiff_t best_count = 0;
  for (const CompiledGraph* graph : code_.of_key(key)) {
    const auto [known, is_new] = known_.try_emplace({graph, signature});
    if (is_new) known->second = join(units, names_of(*graph));
    const auto missing = std::count(known->second.begin(), known->second.end(), kNone);
    const auto count = static_cast<std::ptrdiff_t>(units.size()) - missing;
    if (count > best_count) std::tie(best, best_joined, best_count) = std::tuple(graph, &known->second, count);
  }
  if (best != nullptr) add(graph_range, units, *best, *best_joined);
}

void CompiledLaunches::add(std::uint32_t graph_range, std::span<const Found> units, const CompiledGraph& graph,
                           std::span<const std::uint32_t> launches) {
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, std::uint32_t> repetitions;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (launches[i] == kNone) continue;
    const CompiledLaunch& launch = graph.launches[launches[i]];
    const Found& found = units[i];
    const Unit unit{graph_range, found.range, &graph, &launch, ++repetitions[{launch.root, launch.module, found.shown}]};
    for (const std::uint32_t node : found.nodes) of_node_.emplace(node, unit);
    if (found.range != kNone) {
      of_range_.emplace(found.range, unit);
    } else if (found.call != kNone) {
      of_call_.emplace(found.call, unit);
    }
  }
}

}  // namespace dlkprof::model
