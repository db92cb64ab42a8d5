// Which function a kernel is of, for work whose call does not say, as of CUDA graphs: programs may load several functions of one
// name. Triton and Inductor compile a kernel once for each way of dividing its work that they try, all by the same name.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>

#include "dlkprof/capture_format.h"

namespace dlkprof::model {

// Of one process. Kernels are indices into Timeline::kernels, functions FunctionRecord::id.
class KernelFunctions {
 public:
  void loaded(std::uint32_t kernel, std::uint32_t function);
  // What became of the launches of a configuration.
  void launched(std::uint32_t kernel, const capture::KeyStats& stats);
  // The only function of the kernel; else, of those that were launched in this configuration (the key's function says nothing),
  // the only one, or the only one whose launches were captured into graphs, or that was measured, as those of graphs are that are
  // launched node by node, and trials of XLA and Triton are not; 0 where there is none.
  [[nodiscard]] std::uint32_t find(std::uint32_t kernel, capture::LaunchKey key) const;

 private:
  enum class Sign : std::uint8_t { none, measured, captured };  // that it is the one in graphs, the last the surest
  struct Launched {
    std::uint32_t function = 0;  // 0: several
    Sign sign = Sign::none;
  };
  std::unordered_map<std::uint32_t, std::uint32_t> loaded_;                    // by kernel; 0: several
  std::map<std::pair<std::uint32_t, capture::LaunchKey>, Launched> launched_;  // keys without function
};

}  // namespace dlkprof::model
