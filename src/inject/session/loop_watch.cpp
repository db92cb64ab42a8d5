#include "inject/session/loop_watch.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace dlkprof::inject {

bool LoopWatch::is_due(bool settled) {
  if (rounds_ == 0) return false;
  if (const bool was_settled = std::exchange(settled_, settled); !settled || !was_settled) {
    if (settled) since_ = ledger_.launches();
    return false;
  }
  std::vector<std::uint64_t> launches = ledger_.launches();
  for (std::size_t entry = 0; entry < since_.size(); ++entry) launches[entry] -= since_[entry];
  return rounds_of(std::move(launches)) >= rounds_;
}

std::uint64_t rounds_of(std::vector<std::uint64_t> launches) {
  constexpr std::uint64_t kOfNoLoop = 100;  // one of so many launches
  std::sort(launches.begin(), launches.end());
  const std::uint64_t all = std::accumulate(launches.begin(), launches.end(), std::uint64_t{0});
  std::uint64_t passed = 0;
  for (const std::uint64_t count : launches) {
    passed += count;
    if (passed * kOfNoLoop > all) return count;
  }
  return 0;
}

}  // namespace dlkprof::inject
