// Ops inside CUDA graphs. What a graph launch runs was captured earlier, in ranges of its own: of these, those that began within
// the capture are the op's path below the op that launches the graph.
//
//   captured      aten::linear > aten::addmm        in a graph whose capture began in "warm-up"
//   launched by   step > Graphed
//   the op        /step/Graphed/aten::linear/aten::addmm, fprop or bprop as it was captured
//
// A backward range goes by the path of the forward range that has its sequence number, as outside of graphs. Where nothing began
// within the capture, as in a child graph that is captured inside of its op, what the two paths have in common is left out.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "model/fold/fold.h"
#include "model/fold/op_paths.h"
#include "model/fold/op_tree.h"
#include "model/markers/range_markers.h"
#include "model/timeline/timeline.h"

namespace dlkprof::model {

class CapturedOps {
 public:
  // All must outlive it.
  CapturedOps(const Timeline& timeline, const RangeMarkers& markers, const OpPaths& paths, OpTree& tree);

  // What a graph's node was captured in: a range that counts, in a graph. Work of one such and one launch is one op instance.
  struct Captured {
    std::uint32_t range = kNone;
    std::uint32_t graph = 0;
    friend auto operator<=>(const Captured&, const Captured&) = default;
  };
  // Of a work of a call: a number for captured(); kNone where the work is that of the op that launches.
  [[nodiscard]] std::uint32_t captured_of(const Activity& activity, std::uint32_t launching_range);
  [[nodiscard]] const Captured& captured(std::uint32_t number) const { return captured_[number]; }

  // Where it is below the range that launches its graph; kNone: outside of all.
  [[nodiscard]] std::uint32_t node_below(std::uint32_t launching_range, std::uint32_t number);
  [[nodiscard]] Direction direction_of(std::uint32_t launching_range, std::uint32_t number) const;
  // No other range of a graph lies inside.
  [[nodiscard]] bool is_leaf(std::uint32_t number) const { return !outer_.contains(captured_[number].range); }
  // The ranges of its path within the capture, outermost first; its own is the last, or that of its forward op.
  [[nodiscard]] std::vector<std::uint32_t> path_of(std::uint32_t number) const { return ranges_of(steps_[number]); }

 private:
  // The ranges of a path, of which there are too many to keep: those around `range` that began within the capture of `graph`
  // (kNone: all), from `first` (kNone: none) to itself. `fresh`: the first was captured outside of all others, so that those of
  // its name are counted from 1 in each capture.
  struct Steps {
    std::uint32_t range = kNone, graph = kNone, first = kNone;
    bool fresh = false;
  };
  // When ranges of a thread were captured into a graph.
  struct Span {
    std::int64_t end_ns = 0;
    std::uint32_t graph = 0;
  };

  void number_nodes();
  void find_steps();
  void find_outer();
  void number_firsts();
  [[nodiscard]] std::vector<std::uint32_t> chain_of(std::uint32_t range) const;
  [[nodiscard]] bool begins_capture(std::uint32_t range, std::uint32_t graph) const;
  [[nodiscard]] std::vector<std::uint32_t> ranges_of(const Steps& steps) const;
  [[nodiscard]] Steps steps_within(std::uint32_t range, std::uint32_t graph) const;
  [[nodiscard]] Steps steps_of_forward(std::uint32_t forward) const;
  [[nodiscard]] std::vector<std::uint32_t> steps_below(std::uint32_t launching_range, std::uint32_t number) const;
  [[nodiscard]] std::uint32_t counted(std::uint32_t range) const;
  [[nodiscard]] std::uint32_t repetition_of(const Steps& steps) const;

  const Timeline& timeline_;
  const RangeMarkers& markers_;
  const OpPaths& paths_;
  OpTree& tree_;
  std::vector<Captured> captured_;
  std::vector<std::uint32_t> of_node_;  // of each of Timeline::graph_nodes, index into captured_
  // Of each graph, as numbered here: Timeline's numbers may be any.
  std::vector<std::uint32_t> capture_range_;  // the range that its capture began in, as it is named in paths
  std::vector<bool> is_child_;                // of each graph
  std::unordered_set<std::uint32_t> capture_ranges_;
  std::vector<Steps> steps_;                         // of each of captured_
  std::unordered_set<std::uint32_t> outer_;          // ranges with others inside that are in captured_
  std::vector<std::map<std::int64_t, Span>> spans_;  // of each thread, by start
  // Outermost ranges of a graph on a thread and of a name, in order.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> firsts_;
  std::unordered_map<std::uint64_t, std::uint32_t> nodes_;  // by node that launches and number
};

}  // namespace dlkprof::model
