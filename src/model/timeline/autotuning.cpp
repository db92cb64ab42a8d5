#include "model/timeline/autotuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/text.h"
#include "capture/message.h"
#include "model/fold/time_arithmetic.h"

namespace dlkprof::model {
namespace {

constexpr double kNsPerS = 1e9;

// Moves what is kept to the front; gives each its new index, kNone of what is not.
template <typename T, typename Keep>
std::vector<std::uint32_t> keep_only(std::vector<T>& values, const Keep& keep) {
  std::vector<std::uint32_t> moved(values.size(), kNone);
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    if (!keep(values[i])) continue;
    moved[i] = kept;
    values[kept++] = values[i];
  }
  values.resize(kept);
  return moved;
}

}  // namespace

std::vector<bool> find_autotuning(const Timeline& timeline) {
  const auto text = std::find(timeline.strings.begin(), timeline.strings.end(), capture::kAutotuning);
  if (text == timeline.strings.end()) return {};
  const auto message = static_cast<std::uint32_t>(text - timeline.strings.begin());
  std::vector<bool> inside;
  inside.reserve(timeline.ranges.size());
  for (const Range& range : timeline.ranges) {
    const bool is_one = range.message == message && range.domain == 0;
    inside.push_back(is_one || (range.parent != kNone && inside[range.parent]));
  }
  return inside;
}

void leave_out_autotuning(Timeline& timeline) {
  const std::vector<bool> inside = find_autotuning(timeline);
  if (inside.empty()) return;
  const auto calls = keep_only(timeline.calls, [&](const Call& call) { return call.range == kNone || !inside[call.range]; });
  std::uint64_t launches = 0;
  std::int64_t left_out_ns = 0;
  keep_only(timeline.activities, [&](const Activity& activity) {
    if (activity.call == kNone || calls[activity.call] != kNone) return true;
    if (timeline.is_kernel(activity)) ++launches;
    add_ns(left_out_ns, gpu_ns(activity));
    return false;
  });
  for (Activity& activity : timeline.activities) {
    if (activity.call != kNone) activity.call = calls[activity.call];
  }
  if (launches == 0) return;
  const std::string count = grouped_digits(std::to_string(launches));
  timeline.notices.push_back({capture::Severity::info,
                              fmt::format("{} {} of autotuning left out", count, launches == 1 ? "launch" : "launches"),
                              fmt::format("{:.3g} s of GPU time", static_cast<double>(left_out_ns) / kNsPerS), ""});
}

}  // namespace dlkprof::model
