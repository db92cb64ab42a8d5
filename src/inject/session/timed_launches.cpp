#include "inject/session/timed_launches.h"

namespace dlkprof::inject {

void TimedLaunches::created(CUevent event, unsigned flags) {
  const std::lock_guard lock(mutex_);
  if ((flags & CU_EVENT_DISABLE_TIMING) == 0) {
    timing_.insert(event);
  } else {
    timing_.erase(event);
  }
}

bool TimedLaunches::is_timing(CUevent event) const {
  const std::lock_guard lock(mutex_);
  return timing_.contains(event);
}

bool TimedLaunches::leaves_alone(std::uint32_t occurrence) {
  since_new_ = occurrence == 0 ? 0 : since_new_ + 1;
  return occurrence < kMostTimes || (occurrence < kMostTimesBesideNew && since_new_ <= kMostSinceNew);
}

}  // namespace dlkprof::inject
