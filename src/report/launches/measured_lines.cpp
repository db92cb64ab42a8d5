#include "report/launches/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "base/text.h"
#include "model/aggregate/measured_launches.h"
#include "report/format/layout.h"
#include "report/launches/launch_text.h"

namespace dlkprof::report {
namespace {

using Alike = model::AlikeTable::value_type;

// 2 + 6 + 11 + 8 + 10 + 2 + 10 + 8 + 23 = 80 columns.
constexpr std::size_t kCountWidth = 6, kDurationWidth = 11, kSpreadWidth = 8, kClockWidth = 10;
constexpr std::size_t kWayWidth = 10, kCachesWidth = 8, kLineKernelWidth = 23;

std::string measured_line(const std::string& n, const std::string& duration, const std::string& spread, const std::string& clock,
                          const std::string& replay_mode, const std::string& caches, const std::string& kernel) {
  return "  " + pad_left(n, kCountWidth) + pad_left(duration, kDurationWidth) + pad_left(spread, kSpreadWidth) +
         pad_left(clock, kClockWidth) + "  " + pad_right(replay_mode, kWayWidth) + pad_right(caches, kCachesWidth) + kernel +
         "\n";
}

std::string quantity(const std::optional<double>& value, const char* unit) {
  if (!value) return "";
  const Quantity shown = humanize(*value, unit);
  return shown.value + " " + shown.unit;
}

// The standard deviation, of the mean.
std::string relative(const model::Spread& spread) {
  const auto mean = spread.mean();
  const auto deviation = spread.deviation();
  return mean && deviation && *mean > 0 ? fmt::format("{:.1f} %", 100 * *deviation / *mean) : "";
}

std::string replay_mode_word(capture::ReplayMode replay_mode) {
  const std::string words = model::replay_mode_text(replay_mode);
  return words.substr(0, words.find(' '));
}

std::string kernel_and_grid(const model::Timeline& timeline, const model::Config& config) {
  const std::string name = printable(base_name(timeline, config), kLineKernelWidth);
  const std::string grid = fmt::format(" {}x{}x{}", config.key.grid.x, config.key.grid.y, config.key.grid.z);
  return display_width(name) + grid.size() <= kLineKernelWidth ? name + grid : name;
}

std::string line_of(const model::Timeline& timeline, const Alike& line) {
  static const model::Spread kNothing;
  const auto& [key, alike] = line;
  const auto& [config, conditions] = key;
  const auto found = alike.values.find(model::kDurationMetric);
  const model::Spread& durations = found == alike.values.end() ? kNothing : found->second;
  const bool flushed = conditions.cache_control == capture::CacheControl::all;
  return measured_line(with_separators(alike.launches), quantity(durations.mean(), "ns"), relative(durations),
                       quantity(alike.clock_hz.mean(), "hz"), replay_mode_word(conditions.replay_mode),
                       flushed ? "flushed" : "as left", kernel_and_grid(timeline, timeline.configs[config]));
}

// By GPU time, which for a configuration is that of all of its launches.
std::vector<const Alike*> by_gpu_time(const model::Timeline& timeline, std::uint32_t process, const model::AlikeTable& table) {
  std::unordered_map<std::uint32_t, std::uint64_t> gpu_ns;
  for (const model::LaunchCounts& counts : timeline.counts) gpu_ns[counts.config] = counts.timed_gpu_ns;
  std::vector<const Alike*> all;
  for (const Alike& line : table) {
    if (timeline.configs[line.first.first].process == process) all.push_back(&line);
  }
  std::stable_sort(all.begin(), all.end(),
                   [&](const Alike* a, const Alike* b) { return gpu_ns[a->first.first] > gpu_ns[b->first.first]; });
  return all;
}

}  // namespace

std::string measured_lines(const model::Timeline& timeline, std::uint32_t process, std::size_t most) {
  const model::AlikeTable table = model::alike_launches(timeline);
  const std::vector<const Alike*> all = by_gpu_time(timeline, process, table);
  if (all.empty()) return "";
  std::string text = measured_line("n", "duration", "spread", "SM clock", "collected", "caches", "kernel and grid");
  for (std::size_t i = 0; i < std::min(most, all.size()); ++i) text += line_of(timeline, *all[i]);
  if (all.size() > most) {
    text += fmt::format("  and {} more: dlkprof report <capture or database> --reports measured\n",
                        with_separators(all.size() - most));
  }
  return text;
}

}  // namespace dlkprof::report
