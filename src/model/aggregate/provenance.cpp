#include "model/aggregate/provenance.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/error.h"
#include "capture/options.h"

namespace dlkprof::model {
namespace {

// None where the timeline does not say how the value came.
const MeasuredLaunch* launch_at(const Timeline& timeline, std::uint32_t config, std::size_t position) {
  const auto launches = timeline.measured_launches.find(config);
  if (launches == timeline.measured_launches.end() || position >= launches->second.size()) return nullptr;
  return &launches->second[position];
}

std::optional<Conditions> conditions_at(const Timeline& timeline, std::uint32_t config, std::size_t position) {
  const MeasuredLaunch* launch = launch_at(timeline, config, position);
  if (launch == nullptr) return std::nullopt;
  return Conditions{launch->replay_mode, launch->cache_control, launch->metric_set, launch->passes};
}

// The words of each bit that is set, from the lowest on.
template <typename Enum>
std::string words_of_bits(std::uint8_t bits, Enum last, const char* (*words)(Enum)) {
  std::string text;
  for (unsigned value = 0; value <= static_cast<unsigned>(last); ++value) {
    const std::string word = words(static_cast<Enum>(value));
    if ((bits >> value & 1U) != 0 && !word.empty()) text += (text.empty() ? "" : ", ") + word;
  }
  return text;
}

}  // namespace

const char* replay_mode_text(capture::ReplayMode replay_mode) {
  constexpr std::array kTexts{"", "kernel replay", "iteration replay", ""};  // sampling is a GPU's way, not a launch's
  return kTexts.at(static_cast<std::size_t>(replay_mode));
}

const char* cache_control_text(capture::CacheControl control) { return control == capture::CacheControl::all ? "all" : "none"; }

std::string replay_modes_text(std::uint8_t replay_modes) {
  return words_of_bits(replay_modes, kLastReplayMode, replay_mode_text);
}
std::string cache_controls_text(std::uint8_t cache_controls) {
  return words_of_bits(cache_controls, kLastCacheControl, cache_control_text);
}

std::optional<double> clock_hz(const Timeline& timeline, std::uint32_t config, std::size_t position) {
  const auto metrics = timeline.measured.find(config);
  if (metrics == timeline.measured.end()) return std::nullopt;
  for (const std::string_view name : kClockMetrics) {
    const auto values = metrics->second.find(std::string(name));
    if (values == metrics->second.end() || position >= values->second.size()) continue;
    if (std::isfinite(values->second[position])) return values->second[position];
  }
  return std::nullopt;
}

std::vector<MeasuredFigure> measured_figures(const Timeline& timeline) {
  std::vector<MeasuredFigure> figures;
  std::set<std::uint32_t> configs;
  for (const auto& [config, metrics] : timeline.measured) configs.insert(config);
  for (const std::uint32_t config : configs) {
    const auto sampled = timeline.sampled.find(config);
    for (const auto& [metric, values] : timeline.measured.at(config)) {
      const bool has_samples = sampled != timeline.sampled.end() && sampled->second.contains(metric);
      std::map<std::optional<Conditions>, MeasuredFigure> parts;
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (!std::isfinite(values[i])) continue;
        const std::optional<Conditions> conditions = conditions_at(timeline, config, i);
        if (!conditions && has_samples) continue;  // the mean of the samples
        MeasuredFigure& part = parts.try_emplace(conditions, MeasuredFigure{config, &metric, conditions, {}, {}}).first->second;
        part.values.add(values[i]);
        if (const auto clock = clock_hz(timeline, config, i)) part.clock_hz.add(*clock);
      }
      for (auto& [conditions, part] : parts) figures.push_back(part);
    }
  }
  return figures;
}

Wanted wanted_of(const capture::ProcessRecord& process) {
  try {
    const capture::ProfileOptions options = capture::options_from_json(process.options_json);
    const bool one_by_one = options.collect != capture::Collect::none && options.collect != capture::Collect::sample;
    return {.measures = one_by_one,
            .samples = options.samples,
            .is_bounded = options.collect == capture::Collect::kernel && options.selection.launch_count.has_value()};
  } catch (const Error&) {
    return {};
  }
}

Incomplete as_incomplete(capture::SkipReason reason) {
  using enum Incomplete;
  constexpr std::array kOfReasons{not_measured, cooperative, collective, captured, failed, memory, refused, values};
  return kOfReasons.at(static_cast<std::size_t>(reason));
}

Incomplete incomplete(const LaunchCounts& counts, const Wanted& wanted) {
  if (counts.matched == 0 && counts.measured == 0) {
    return counts.near_missed > 0 ? Incomplete::near_missed : Incomplete::not_matched;
  }
  if (!wanted.measures) return Incomplete::not_asked;
  const std::uint64_t enough = std::min<std::uint64_t>(wanted.samples.value_or(1), counts.matched);
  if (counts.measured >= std::max<std::uint64_t>(enough, 1)) return Incomplete::no;
  if (counts.skipped > 0) return as_incomplete(counts.reason);
  if (wanted.is_bounded) return Incomplete::beyond_count;
  return counts.measured == 0 ? Incomplete::not_measured : Incomplete::too_few;
}

}  // namespace dlkprof::model
