// How far GPU times may be off those of the CPU, from what holds of any program: a kernel starts after its launch was called,
// and what was waited for has ended.
#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "model/fold/time_arithmetic.h"
#include "model/timeline/timeline_loader.h"

namespace dlkprof::model {
namespace {

// The least that was seen of a length that cannot be negative.
class Least {
 public:
  void see(std::int64_t ns) { least_ = std::min(least_, ns); }
  [[nodiscard]] bool seen() const { return least_ != kMostNs; }
  [[nodiscard]] bool impossible() const { return least_ < 0; }
  [[nodiscard]] std::int64_t bound_ns() const { return seen() ? std::max<std::int64_t>(least_, 0) : -1; }

 private:
  std::int64_t least_ = kMostNs;
};

// A wait for one stream says something of all work only where there is no other stream.
bool waits_for_all(std::string_view call, bool one_stream) {
  return call.starts_with("cuCtxSynchronize") || (one_stream && call.starts_with("cuStreamSynchronize"));
}

}  // namespace

void TimelineLoader::bound_clocks() {
  Least from_call, until_return;
  std::unordered_map<std::uint32_t, std::int64_t> ends;  // of the work of each call: the last one's
  std::unordered_set<std::uint64_t> streams;
  for (std::size_t i = parts_.activities; i < timeline_.activities.size(); ++i) {
    const Activity& activity = timeline_.activities[i];
    if (!is_timed(activity) || activity.call == kNone) continue;
    streams.insert(std::uint64_t{activity.device} << 32U | activity.stream);
    from_call.see(activity.start_ns - timeline_.calls[activity.call].start_ns);
    std::int64_t& end = ends[activity.call];
    end = std::max(end, activity.end_ns);
  }
  std::unordered_map<std::uint32_t, std::int64_t> given;                 // to GPUs by each thread: the end of the last
  for (std::size_t i = parts_.calls; i < timeline_.calls.size(); ++i) {  // those of one thread in order
    const Call& call = timeline_.calls[i];
    std::int64_t& last = given[call.thread];
    if (last != 0 && waits_for_all(timeline_.strings[call.name], streams.size() == 1)) until_return.see(call.end_ns - last);
    if (const auto end = ends.find(static_cast<std::uint32_t>(i)); end != ends.end()) last = std::max(last, end->second);
  }
  Process& process = timeline_.processes[parts_.process];
  process.gpu_late_ns = from_call.bound_ns();
  process.gpu_early_ns = until_return.bound_ns();
  if (from_call.impossible() || until_return.impossible()) {
    notices_.count("Processes whose GPU times contradict those of the CPU, and may be off by more than is said");
  }
}

}  // namespace dlkprof::model
