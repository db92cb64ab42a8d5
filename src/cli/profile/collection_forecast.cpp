#include "cli/profile/collection_forecast.h"

#include <algorithm>

#include "cupti/collection_prices.h"
#include "select/selector.h"

namespace dlkprof::cli {
namespace {

using capture::Collect;

// How many launches are measured in each way.
struct Wanted {
  std::uint64_t replayed = 0, in_windows = 0, skipped = 0;
};

// As AutoCollector::chooses_replay() of the injected library does in a process without a framework.
Wanted wanted_of(const ConfigLaunches& config, const capture::ProfileOptions& options) {
  const std::uint64_t samples = std::min(options.samples.value_or(config.launches), config.launches);
  switch (options.collect) {
    case Collect::none:
    case Collect::sample:
    case Collect::source:
      return {};
    case Collect::kernel:
      return {config.collective ? 0 : samples, 0};
    case Collect::iteration:
      return {0, samples};
    case Collect::automatic:
      break;
  }
  if (config.collective) return {};
  const std::uint64_t first = std::min<std::uint64_t>(1, samples);
  return {first, samples - first};
}

const cupti::WindowPrices& prices_of(const PlanNeeds& needs) {
  if (!needs.per_sm) return cupti::kHwpmPrices;
  return needs.sums ? cupti::kPerSmPrices : cupti::kPerInstancePrices;
}

std::size_t most_launches(const capture::ProfileOptions& options, const PlanNeeds& needs) {
  return cupti::most_launches(prices_of(needs), options.max_memory_bytes());
}

WayForecast replay_prices(const PlanNeeds& needs) {
  WayForecast replay_mode;
  replay_mode.launch_seconds = cupti::kReplayPassSeconds * static_cast<double>(needs.passes);
  return replay_mode;
}

WayForecast window_prices(const capture::ProfileOptions& options, const PlanNeeds& needs) {
  const cupti::WindowPrices& prices = prices_of(needs);
  const auto passes = static_cast<double>(needs.passes);
  const std::size_t launches = most_launches(options, needs);
  WayForecast replay_mode;
  replay_mode.launch_seconds = (prices.launch_seconds + prices.close_launch_seconds) * passes;
  replay_mode.window_seconds = (prices.open_seconds + prices.close_seconds) * passes;
  replay_mode.first_window_seconds = prices.session_seconds + prices.session_launch_seconds * static_cast<double>(launches);
  replay_mode.host_bytes = prices.set_up_bytes + prices.host_bytes * launches;
  return replay_mode;
}

void take_replays(WayForecast& replay_mode, std::uint64_t launches) {
  replay_mode.launches = launches;
  replay_mode.seconds = replay_mode.launch_seconds * static_cast<double>(launches);
}

void take_windows(WayForecast& replay_mode, std::uint64_t launches, const capture::ProfileOptions& options,
                  const PlanNeeds& needs) {
  const std::size_t most = most_launches(options, needs);
  const std::uint64_t sequences = launches / most + (launches % most == 0 ? 0 : 1);
  replay_mode.launches = launches;
  replay_mode.windows = sequences * needs.passes;
  replay_mode.seconds = replay_mode.launch_seconds * static_cast<double>(launches) +
                        replay_mode.window_seconds * static_cast<double>(sequences) +
                        (launches == 0 ? 0 : replay_mode.first_window_seconds);
}

Wanted wanted_of(const std::vector<ConfigLaunches>& configs, const capture::ProfileOptions& options) {
  Wanted sum;
  for (const ConfigLaunches& config : configs) {
    const Wanted wanted = wanted_of(config, options);
    sum.replayed += wanted.replayed;
    sum.in_windows += wanted.in_windows;
    if (config.collective && wanted.in_windows == 0) sum.skipped += config.launches;
  }
  const std::uint64_t bound = options.selection.launch_count.value_or(sum.replayed + sum.in_windows);
  sum.replayed = std::min(sum.replayed, bound);
  sum.in_windows = std::min(sum.in_windows, bound - sum.replayed);
  return sum;
}

// As AutoCollector::windows_first(): where a launch need not give all passes by itself.
bool has_windows_first(const capture::ProfileOptions& options) {
  return options.collect == Collect::automatic && select::Selector::compile(options.selection).goes_by_name_and_device();
}

}  // namespace

CollectionForecast forecast(const capture::ProfileOptions& options, const PlanNeeds& needs,
                            const std::optional<std::vector<ConfigLaunches>>& configs) {
  CollectionForecast made;
  const bool counts =
      options.collect != Collect::none && options.collect != Collect::sample && options.collect != Collect::source;
  if (!counts || needs.passes == 0) return made;
  if (options.collect != Collect::iteration) made.replay = replay_prices(needs);
  if (options.collect != Collect::kernel) made.windows = window_prices(options, needs);
  if (!configs) return made;
  const Wanted wanted = wanted_of(*configs, options);
  made.skipped = wanted.skipped;
  if (has_windows_first(options)) {
    made.with_framework = made.windows;
    take_windows(*made.with_framework, wanted.replayed + wanted.in_windows, options, needs);
  }
  if (made.replay) take_replays(*made.replay, wanted.replayed);
  if (made.windows) take_windows(*made.windows, wanted.in_windows, options, needs);
  return made;
}

}  // namespace dlkprof::cli
