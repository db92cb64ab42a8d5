// Where launches of compiled code lie among ops: in the module that they were made from, below the module around the compiled
// code, as they would lie in eager code. What torch.compile itself adds to paths is left out.
//
//   called within   /Llama > Torch-Compiled Region: 0/0 > CompiledFunction > ## Call CompiledFxGraph fx7 ##
//   made from       model/layers.0/mlp
//   the op          /Llama/model/layers/0/mlp/triton_poi_fused_mul_silu_3
//
// One of the backward pass goes by the forward range that has the sequence number of its own.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/fold/compiled_launches.h"
#include "model/fold/op_tree.h"
#include "model/markers/range_markers.h"
#include "model/timeline/text_table.h"

namespace dlkprof::model {

// Of what find_op_paths() has found by then, of each range.
struct PathsSoFar {
  std::span<const std::uint32_t> named_parent, node, forward;
};

class CompiledPaths {
 public:
  // All must outlive it.
  CompiledPaths(const RangeMarkers& markers, TextTable& texts, OpTree& tree) : markers_(markers), texts_(texts), tree_(tree) {}

  // The node of the module that a unit lies in.
  [[nodiscard]] std::uint32_t module_of(const CompiledLaunches::Unit& unit, const PathsSoFar& paths) {
    return module_of(unit, unit.graph_range, paths);
  }
  // The same where the unit was captured into a CUDA graph, for a launch of that within another call of the compiled graph.
  [[nodiscard]] std::uint32_t module_of(const CompiledLaunches::Unit& unit, std::uint32_t graph_range, const PathsSoFar& paths);

 private:
  [[nodiscard]] bool is_of_compiler(std::uint32_t range);
  [[nodiscard]] std::uint32_t child(std::uint32_t node, std::string_view names);

  const RangeMarkers& markers_;
  TextTable& texts_;
  OpTree& tree_;
  std::vector<std::uint8_t> of_compiler_;  // of each text, as a name: 0 not known, 1 no, 2 yes
};

}  // namespace dlkprof::model
