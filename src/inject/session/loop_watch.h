// Counts how often the program's loop has gone round since all was measured that is wanted, so that the profiler can let go of
// the program. The session's lock guards it.
#pragma once

#include <cstdint>
#include <vector>

#include "inject/session/ledger.h"

namespace dlkprof::inject {

class LoopWatch {
 public:
  // `rounds`: after so many is_due(); 0: never.
  LoopWatch(Ledger& ledger, std::uint64_t rounds) : ledger_(ledger), rounds_(rounds) {}

  // Now and then. `settled`: all was measured of the launches that come. Whether they have gone round often enough since.
  [[nodiscard]] bool is_due(bool settled);

 private:
  Ledger& ledger_;
  const std::uint64_t rounds_;
  bool settled_ = false;
  std::vector<std::uint64_t> since_;  // launches of each entry of the ledger, when that began
};

// How often a loop has gone round in which configurations were launched so often: as often as those that are launched once in it,
// the seldomest but for what is of no loop, which hundredth of the launches may be.
[[nodiscard]] std::uint64_t rounds_of(std::vector<std::uint64_t> launches);

}  // namespace dlkprof::inject
