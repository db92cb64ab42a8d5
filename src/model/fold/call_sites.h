// Where in a program's Python its modules are called, which --stacks has in their ranges: "dlkprof:module: mlp @ net.py:12 in
// forward" (python/dlkprof/_call_sites.py). The lines of the modules around an op, from the inside out, are its stack.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "model/timeline/timeline.h"

namespace dlkprof::model {

inline constexpr std::size_t kMostCallSites = 64;    // of one stack
inline constexpr std::size_t kMostStackText = 4096;  // bytes

class CallSites {
 public:
  // Must outlive it.
  explicit CallSites(const Timeline& timeline);

  [[nodiscard]] bool empty() const { return of_message_.empty(); }
  // "net.py:12 in forward < train.py:30 in main" of a range; "" where none is known.
  [[nodiscard]] std::string stack_of(std::uint32_t range) const;

 private:
  const Timeline& timeline_;
  std::unordered_map<std::uint32_t, std::string> of_message_;  // by index into Timeline::strings
};

}  // namespace dlkprof::model
