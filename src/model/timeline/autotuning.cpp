#include "model/timeline/autotuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

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

// "1,240 launches of autotuning left out"
std::string counted(std::uint64_t launches) {
  std::string digits = std::to_string(launches);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return fmt::format("{} {} of autotuning left out", digits, launches == 1 ? "launch" : "launches");
}

}  // namespace

std::vector<bool> find_autotuning(const Timeline& timeline) {
  const auto text = std::find(timeline.strings.begin(), timeline.strings.end(), kAutotuning);
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
    if (timeline.kernels[activity.kernel].kind == capture::ActivityKind::kernel) ++launches;
    add_ns(left_out_ns, gpu_ns(activity));
    return false;
  });
  for (Activity& activity : timeline.activities) {
    if (activity.call != kNone) activity.call = calls[activity.call];
  }
  if (launches == 0) return;
  timeline.notices.push_back({capture::Severity::info, counted(launches),
                              fmt::format("{:.3g} s of GPU time", static_cast<double>(left_out_ns) / kNsPerS), ""});
}

}  // namespace dlkprof::model
