#include "model/aggregate/undisturbed.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/aggregate/quantile.h"
#include "model/aggregate/steady_range.h"
#include "model/fold/time_arithmetic.h"
#include "model/markers/marker.h"

namespace dlkprof::model {
namespace {

constexpr std::size_t kFewest = 8;  // ours: a spread of fewer says little

// Of each process and marker that ends an iteration: lengths of the steps.
std::vector<double> lengths_of(const Timeline& timeline, const std::string& key_node) {
  std::map<std::pair<std::uint32_t, std::string>, std::int64_t> last;
  std::vector<double> lengths;
  for (const LoneStep& step : timeline.lone_steps) {
    if (parse_marker("", step.marker).name != key_node) continue;
    const auto [before, is_first] = last.try_emplace({step.process, step.marker}, step.start_ns);
    if (!is_first) lengths.push_back(static_cast<double>(elapsed_ns(before->second, step.start_ns)));
    before->second = step.start_ns;
  }
  return lengths;
}

}  // namespace

std::optional<UndisturbedIterations> undisturbed_iterations(const Timeline& timeline, const Fold& fold) {
  std::vector<double> lengths = lengths_of(timeline, fold.key_node);
  if (lengths.size() < kFewest) return std::nullopt;
  const SteadyPart part = steady_part(lengths);
  lengths = {lengths.begin() + static_cast<std::ptrdiff_t>(part.first),
             lengths.begin() + static_cast<std::ptrdiff_t>(part.first + part.count)};
  if (lengths.size() < kFewest) return std::nullopt;
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
