#include "model/fold/lost_times.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "model/fold/time_arithmetic.h"

namespace dlkprof::model {
namespace {

bool is_launch(std::string_view call) {
  return call.starts_with("cudaLaunch") || call.starts_with("cuLaunch") || call.starts_with("cudaGraphLaunch") ||
         call.starts_with("cuGraphLaunch");
}

}  // namespace

std::int64_t times_lost_from_ns(const Timeline& timeline) {
  const auto process_of = [&timeline](const Call& call) { return timeline.threads[call.thread].process; };
  if (std::ranges::all_of(timeline.processes, &Process::ended)) return kAllTimed;
  std::vector<bool> has_work(timeline.calls.size());
  std::vector<std::int64_t> last_timed(timeline.processes.size(), INT64_MIN);  // by the program's own run
  for (const Activity& work : timeline.activities) {
    if (work.call == kNone) continue;
    const Call& call = timeline.calls[work.call];
    has_work[work.call] = true;
    std::int64_t& last = last_timed[process_of(call)];
    if (is_timed(work) && !work.replayed) last = std::max(last, call.start_ns);
  }
  std::int64_t lost = kAllTimed;
  for (std::size_t i = 0; i < timeline.calls.size(); ++i) {
    const Call& call = timeline.calls[i];
    const std::uint32_t process = process_of(call);
    if (has_work[i] || timeline.processes[process].ended || call.start_ns <= last_timed[process]) continue;
    if (is_launch(timeline.strings[call.name])) lost = std::min(lost, call.start_ns);
  }
  return lost;
}

}  // namespace dlkprof::model
