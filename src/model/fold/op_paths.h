// Which name each range has in the op tree, and which forward range each backward one belongs to (guide, chapter 11).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/fold/compiled_launches.h"
#include "model/fold/compiled_paths.h"
#include "model/fold/fold.h"
#include "model/fold/iterations.h"
#include "model/fold/op_tree.h"
#include "model/markers/range_markers.h"

namespace dlkprof::model {

// Of each range, where it counts; arrays as long as Timeline::ranges.
struct OpPaths {
  std::vector<std::uint32_t> parent;        // the innermost range around it that counts, also where it does not count itself;
                                            // empty where all count: Range::parent says it
  std::vector<std::uint32_t> named_parent;  // likewise, that is named in paths; empty where neither graphs nor compiled code are
  std::vector<std::uint32_t> forward;       // the forward range that it belongs to; kNone: it is not of a backward pass
  std::vector<std::uint32_t> node;          // of OpTree: its path, or that of its forward range
  std::vector<Direction> direction;

  [[nodiscard]] PathsSoFar so_far() const { return {named_parent, node, forward}; }
  [[nodiscard]] std::uint32_t parent_of(std::span<const Range> ranges, std::uint32_t range) const {
    return parent.empty() ? ranges[range].parent : parent[range];
  }
};

// `split` decides where siblings are counted anew. Adds nodes to `tree`, and names to `texts`.
[[nodiscard]] OpPaths find_op_paths(const Timeline& timeline, const RangeMarkers& markers, const IterationSplit& split,
                                    const CompiledLaunches& compiled, TextTable& texts, OpTree& tree);

}  // namespace dlkprof::model
