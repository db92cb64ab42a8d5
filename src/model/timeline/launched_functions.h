// Which function launched a kernel, for work whose call does not say, as of CUDA graphs: programs may load several functions of
// one name. Triton and Inductor compile a kernel once for each way of dividing its work that they try, all by the same name.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "dlkprof/capture_format.h"

namespace dlkprof::model {

class LaunchedFunctions {
 public:
  // What became of the launches of a configuration; `kernel` is an index into Timeline::kernels.
  void add(std::uint32_t kernel, const capture::KeyStats& stats);
  // Of those that launched the kernel in this configuration (the key's function says nothing) the only one, or the only one whose
  // launches were captured into graphs; 0 where there is none.
  [[nodiscard]] std::uint32_t find(std::uint32_t kernel, capture::LaunchKey key) const;

 private:
  struct Found {
    std::uint32_t function = 0;  // 0: several
    bool captured = false;
  };
  std::map<std::pair<std::uint32_t, capture::LaunchKey>, Found> found_;  // keys without function
};

}  // namespace dlkprof::model
