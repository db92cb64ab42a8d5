// What torch.compile's Inductor says its kernels were made from, as python/dlkprof/_compiled.py tells it: facts named
// "compiled.<key>.<part>", each a JSON object of its own. `key` is the one in the range "## Call CompiledFxGraph <key> ##";
// graphs that have none there are called "-1", "-2", and so on.
//
//   {"launches": [["triton_poi_fused_add_0", "*Net", "model/layers.0/mlp", "aten.add, aten.mul", 0], ...], "stacks": ["..."]}
//
// A launch: the kernel as the generated code calls it, or the op outside of it ("extern_kernels.mm"); the class of the outermost
// module, after `*` where that is what was compiled; the module that most of it was made from, below the outermost; its ops; and
// its stack, as an index. Launches stand in the order of the generated code. Facts are hostile input.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/timeline/timeline.h"

namespace dlkprof::model {

struct CompiledLaunch {
  std::string kernel;
  std::string root;             // class of the outermost module; "" where no module is around it
  bool root_is_called = false;  // what was compiled is that module
  std::string module;           // "model/layers.0/mlp"; "" of the outermost itself
  std::string ops;              // "aten.add, aten.mul"
  std::uint32_t stack = kNone;  // of Python, the innermost frame first: index into CompiledGraph::stacks
};

struct CompiledGraph {
  std::vector<CompiledLaunch> launches;  // in the order of the generated code
  std::vector<std::string> stacks;
};

inline constexpr std::size_t kMostCompiledLaunches = 1U << 20U;  // of a run; what comes later is left out
inline constexpr std::size_t kMostCompiledText = 4096;           // bytes of one text of a launch

class CompiledCode {
 public:
  explicit CompiledCode(std::span<const capture::Fact> facts);

  [[nodiscard]] bool empty() const { return graphs_.empty(); }
  // Those that a range may have called, by the key in its name: one or none, or all that have no key where it has none.
  [[nodiscard]] std::vector<const CompiledGraph*> of_key(std::string_view key) const;

 private:
  std::map<std::string, CompiledGraph, std::less<>> graphs_;
};

// The key in "CompiledFxGraph <key> ##", as it stands in the message of a range; "" where it is none of these.
[[nodiscard]] std::string_view compiled_graph_key(std::string_view message);

}  // namespace dlkprof::model
