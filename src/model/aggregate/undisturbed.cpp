#include "model/aggregate/undisturbed.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "capture/message.h"
#include "capture/step_marker.h"
#include "model/aggregate/quantile.h"
#include "model/aggregate/steady_range.h"
#include "model/fold/iterations.h"
#include "model/fold/time_arithmetic.h"

namespace dlkprof::model {
namespace {

constexpr std::size_t kFewestSteps = 8;  // ours: a spread of fewer says little

// Markers of lone steps that came once in each iteration while the program was profiled, so that their steps are iterations too.
class IterationMarkers {
 public:
  IterationMarkers(const Timeline& timeline, const Fold& fold, std::uint32_t first, std::uint32_t last) {
    for (const LoneStep& step : timeline.lone_steps) counts_.try_emplace(name_of(step.marker));
    const std::int64_t start_ns = fold.iterations[first].start_ns, end_ns = iteration_end_ns(fold, last);
    std::vector<std::optional<std::uint64_t*>> known(timeline.strings.size());  // by message: its count; null: of none
    for (const Range& range : timeline.ranges) {
      if (range.start_ns < start_ns || range.start_ns >= end_ns) continue;
      auto& count = known[range.message];
      if (!count) count = find(timeline.strings[range.message]);
      if (*count != nullptr) ++**count;
    }
    iterations_ = static_cast<double>(last - first) + 1;
  }
  [[nodiscard]] bool has(const std::string& marker) const {
    constexpr double kApart = 0.02;  // ours: a step may begin on either side of where an iteration ends
    const auto count = static_cast<double>(counts_.at(name_of(marker)));
    return std::abs(count - iterations_) <= std::max(1.0, kApart * iterations_);
  }

 private:
  // Without what PyTorch numbers. The text of a range has lost those numbers already (capture/message.h).
  [[nodiscard]] static std::string name_of(const std::string& message) {
    return std::string(capture::step_marker_name(message.substr(0, capture::message_fields_at(message))));
  }
  [[nodiscard]] std::uint64_t* find(const std::string& message) {
    const auto found = counts_.find(name_of(message));
    return found == counts_.end() ? nullptr : &found->second;
  }

  std::map<std::string, std::uint64_t> counts_;  // by name
  double iterations_ = 0;
};

// Of each process: lengths of the steps of the first such marker.
std::vector<double> lengths_of(const Timeline& timeline, const IterationMarkers& markers) {
  struct Last {
    std::string marker;
    std::int64_t start_ns = 0;
  };
  std::map<std::uint32_t, Last> last;
  std::vector<double> lengths;
  for (const LoneStep& step : timeline.lone_steps) {
    if (!markers.has(step.marker)) continue;
    const auto [before, is_first] = last.try_emplace(step.process, Last{step.marker, step.start_ns});
    if (is_first || before->second.marker != step.marker) continue;
    lengths.push_back(static_cast<double>(elapsed_ns(before->second.start_ns, step.start_ns)));
    before->second.start_ns = step.start_ns;
  }
  return lengths;
}

}  // namespace

std::optional<UndisturbedIterations> undisturbed_iterations(const Timeline& timeline, const Fold& fold, std::uint32_t first,
                                                            std::uint32_t last) {
  if (timeline.lone_steps.empty() || fold.key_nodes_found == 0) return std::nullopt;
  std::vector<double> lengths = lengths_of(timeline, IterationMarkers(timeline, fold, first, last));
  if (lengths.size() < kFewestSteps) return std::nullopt;
  const SteadyPart part = steady_part(lengths);
  lengths = {lengths.begin() + static_cast<std::ptrdiff_t>(part.first),
             lengths.begin() + static_cast<std::ptrdiff_t>(part.first + part.count)};
  if (lengths.size() < kFewestSteps) return std::nullopt;
  UndisturbedIterations found{.n = lengths.size()};
  double sum = 0, squares = 0;
  for (const double length : lengths) sum += length;
  found.mean_ns = sum / static_cast<double>(found.n);
  for (const double length : lengths) squares += (length - found.mean_ns) * (length - found.mean_ns);
  found.deviation_ns = std::sqrt(squares / static_cast<double>(found.n - 1));
  std::sort(lengths.begin(), lengths.end());
  found.median_ns = quantile(lengths, 0.5);
  return found;
}

}  // namespace dlkprof::model
