#include "cupti/heap_litter.h"

#include <cstdlib>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "common/journal.h"

namespace fakes {
namespace {

constexpr std::size_t kBytes = 400;
constexpr int kHoles = 1'000;
constexpr int kAsked = 100;  // more than malloc keeps apart for each thread

struct Litter {
  std::vector<void*> freed, kept;
};
Litter& litter() {
  static auto* const lasting = new Litter;
  return *lasting;
}

void tell_of_holes() {
  const std::set<const void*> holes(litter().freed.begin(), litter().freed.end());
  int served = 0;
  for (int i = 0; i < kAsked; ++i) {
    void* const block = std::malloc(kBytes);
    litter().kept.push_back(block);
    if (holes.contains(block)) ++served;
  }
  trace("holes " + std::to_string(served));
}

}  // namespace

void litter_heap() {
  if (!litter().freed.empty()) return;
  for (int i = 0; i < kHoles; ++i) {
    litter().freed.push_back(std::malloc(kBytes));
    litter().kept.push_back(std::malloc(kBytes));
  }
}

void leave_holes() {
  static std::once_flag once;
  std::call_once(once, [] {
    for (void* block : litter().freed) std::free(block);
    std::atexit(&tell_of_holes);
  });
}

}  // namespace fakes
