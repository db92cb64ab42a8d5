#include "inject/timeline/step_clock.h"

#include <algorithm>
#include <mutex>
#include <string>

#include "base/event_clock.h"
#include "capture/message.h"
#include "capture/step_marker.h"

namespace dlkprof::inject {

bool StepClock::tick(std::string_view message) noexcept {
  if (!capture::is_step_marker(message)) return false;
  const std::string_view name = capture::step_marker_name(message.substr(0, capture::message_fields_at(message)));
  try {
    const std::int64_t now = event_clock_ns();
    const std::lock_guard lock(mutex_);
    auto marker = std::find_if(steps_.begin(), steps_.end(), [&](const auto& known) { return known.marker == name; });
    if (marker == steps_.end()) {
      if (steps_.size() == kMostMarkers) return true;
      marker = steps_.insert(marker, {std::string(name), {}});
    }
    if (marker->times_ns.size() < kMostSteps) marker->times_ns.push_back(now);
  } catch (...) {  // out of memory: the step is not noted
  }
  return true;
}

std::vector<capture::StepTimes> StepClock::steps() const {
  const std::lock_guard lock(mutex_);
  return steps_;
}

}  // namespace dlkprof::inject
