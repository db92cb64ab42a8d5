// What a capture tells of CUDA graphs (capture::GraphEvent), to find which captured node the work of a graph launch is of.
//
// A captured node is cloned when its graph is instantiated, and once more for each graph that it is put into as a child. CUPTI
// tells of most clones. Where it does not, the halves of its numbers help: the upper one is the graph's, the lower one stays
// when the graph is cloned or instantiated. What runs of a child graph has a number that CUPTI tells nothing of: after those of
// the graph that the child was put into, in the order in which the children's nodes were cloned (both seen with CUDA 13.0).
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "dlkprof/capture_format.h"
#include "model/timeline/timeline.h"

namespace dlkprof::model {

class GraphNodes {
 public:
  // False where the event is of a kind that this version does not know.
  bool add(const capture::GraphEvent& event);
  // Of a node that ran: from 0, in the order in which they are first asked for.
  [[nodiscard]] std::uint32_t number_of(std::uint64_t node);

  // Of each number the index into `nodes` of what it was cloned from, to whose end the captured nodes that ran are added; kNone
  // where that is not told. `range_of` gives the index of a RangeEvent::id.
  [[nodiscard]] std::vector<std::uint32_t> resolve(const std::function<std::uint32_t(std::uint64_t)>& range_of,
                                                   std::vector<GraphNode>& nodes) &&;

 private:
  using Numbers = std::unordered_map<std::uint64_t, std::uint64_t>;
  struct Made {
    std::uint64_t graph = 0, range = 0, capture_range = 0;
  };
  struct Origin {
    std::uint64_t node = 0;
    const Made* made = nullptr;  // null: not told
    int clones = 0;
  };
  void add_clone(std::uint64_t node, std::uint64_t original);
  void find_children_that_ran();
  [[nodiscard]] Origin origin_of(std::uint64_t node) const;
  [[nodiscard]] std::uint64_t original_of(std::uint64_t node) const;

  std::unordered_map<std::uint64_t, Made> made_;
  Numbers node_originals_, graph_originals_, executable_graphs_;
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> clones_, children_;  // nodes, by graph: its own, its children's
  std::uint64_t last_cloned_ = 0;                                                    // graph
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
  std::vector<std::uint64_t> ran_;  // by number
};

}  // namespace dlkprof::model
