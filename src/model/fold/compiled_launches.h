// Which of the calls and ranges within "## Call CompiledFxGraph <key> ##" is which launch of the generated code.
//
// Directly within such a range stand **units**: the range of an op outside of the generated code (aten::mm) or of a kernel of
// Triton's, with what it launches; or a launch by itself, as that of a kernel of the backward pass. Where a CUDA graph is
// captured there, in ranges of its own, nodes of the graph stand for launches. Units come in the order of the generated code, and
// so do the launches that it was told to have. The longest sequence that both have in common, by name, joins them; what lies
// between two that are joined is joined in order where there are as many of the one as of the other.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/fold/compiled_code.h"
#include "model/markers/range_markers.h"
#include "model/timeline/text_table.h"
#include "model/timeline/timeline.h"

namespace dlkprof::model {

class CompiledLaunches {
 public:
  struct Unit {
    std::uint32_t graph_range = kNone;  // that it stands in
    std::uint32_t range = kNone;        // its own; kNone: it is a launch by itself
    const CompiledGraph* graph = nullptr;
    const CompiledLaunch* launch = nullptr;
    std::uint32_t repetition = 1;  // among those of its name in its module, in one call of the graph
  };

  CompiledLaunches(const Timeline& timeline, const RangeMarkers& markers, const TextTable& texts);

  [[nodiscard]] bool empty() const { return of_range_.empty() && of_call_.empty() && of_node_.empty(); }
  // Null where it is no unit, or not known which launch it is.
  [[nodiscard]] const Unit* of_range(std::uint32_t range) const { return find(of_range_, range); }
  [[nodiscard]] const Unit* of_call(std::uint32_t call) const { return find(of_call_, call); }
  // Of a graph's node, whether it has a range or not.
  [[nodiscard]] const Unit* of_node(std::uint32_t node) const { return find(of_node_, node); }
  // The range of a compiled graph's call that a range lies in, or is; else kNone.
  [[nodiscard]] std::uint32_t graph_range_of(std::uint32_t range) const {
    return range >= graph_ranges_.size() ? kNone : graph_ranges_[range];
  }

 private:
  using Units = std::unordered_map<std::uint32_t, Unit>;
  // Numbers of names_, that a unit or a launch may be known by; 0: none.
  struct Names {
    std::uint32_t kernel = 0, op = 0;
    friend bool operator==(const Names&, const Names&) = default;
  };
  // A unit of one call of a graph.
  struct Found {
    std::uint32_t range = kNone, call = kNone;  // a call where there is no range
    std::vector<std::uint32_t> nodes;           // of CUDA graphs; then there is no call
    Names names;
    std::string_view shown;  // what its op is called
  };
  class Calls;  // finds them

  static const Unit* find(const Units& units, std::uint32_t index) {
    const auto found = units.find(index);
    return found == units.end() ? nullptr : &found->second;
  }
  [[nodiscard]] static bool is_same(const Names& unit, const Names& launch);
  [[nodiscard]] Names names_of(std::string_view kernel, std::string_view op);
  [[nodiscard]] const std::vector<Names>& names_of(const CompiledGraph& graph);
  [[nodiscard]] std::vector<std::uint32_t> join(std::span<const Found> units, const std::vector<Names>& launches);
  void join(std::uint32_t graph_range, std::string_view key, std::span<const Found> units);
  void add(std::uint32_t graph_range, std::span<const Found> units, const CompiledGraph& graph,
           std::span<const std::uint32_t> launches);

  CompiledCode code_;
  std::uint64_t compared_ = 0;  // pairs of names, so far
  TextTable names_;
  std::map<const CompiledGraph*, std::vector<Names>> names_of_graph_;
  // Calls of a graph are mostly alike: what was found of one, by its graph and names.
  std::map<std::pair<const CompiledGraph*, std::vector<std::uint64_t>>, std::vector<std::uint32_t>> known_;
  Units of_range_, of_call_, of_node_;
  std::vector<std::uint32_t> graph_ranges_;  // of each range
};

}  // namespace dlkprof::model
