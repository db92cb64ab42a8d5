// Where figures come from: on how many launches a metric was measured, how they were collected, how far they lie apart; and
// which launch configurations are incomplete, and why.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/aggregate/spread.h"
#include "model/timeline/timeline.h"

namespace dlkprof::model {

// In words: "kernel replay", "all". Of no way: empty.
[[nodiscard]] const char* replay_mode_text(capture::ReplayMode replay_mode);
[[nodiscard]] const char* cache_control_text(capture::CacheControl control);
// Of several, as Counters has them: "kernel replay, iteration replay".
template <typename Enum>
[[nodiscard]] constexpr std::uint8_t bit_of(Enum value) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(value));
}
[[nodiscard]] std::string replay_modes_text(std::uint8_t replay_modes);
[[nodiscard]] std::string cache_controls_text(std::uint8_t cache_controls);

// What launches must have in common for their values to be of one sample.
struct Conditions {
  capture::ReplayMode replay_mode = capture::ReplayMode::none;
  capture::CacheControl cache_control = capture::CacheControl::none;
  std::uint32_t metric_set = 0;  // index into Timeline::metric_sets
  std::uint32_t passes = 0;
  friend auto operator<=>(const Conditions&, const Conditions&) = default;
};

// The metric that says at which clock a launch ran while it was measured, in Hz: the first of these that was collected.
inline constexpr std::array<std::string_view, 2> kClockMetrics{"gpc__cycles_elapsed.avg.per_second",
                                                               "sm__cycles_elapsed.avg.per_second"};

inline constexpr const char* kDurationMetric = "gpu__time_duration.sum";  // of a launch, in ns

// A metric of one launch configuration under the same conditions.
struct MeasuredFigure {
  std::uint32_t config = 0;  // index into Timeline::configs
  const std::string* metric = nullptr;
  std::optional<Conditions> conditions;  // none where they are not known
  Spread values;
  Spread clock_hz;  // of the launches that have a value
};

// By configuration, metric and conditions. They point into the timeline. Not those that were sampled, which are of many launches
// and of none (Timeline::sampled).
[[nodiscard]] std::vector<MeasuredFigure> measured_figures(const Timeline& timeline);

// The clock of one measured launch of a configuration; none where it was not measured.
[[nodiscard]] std::optional<double> clock_hz(const Timeline& timeline, std::uint32_t config, std::size_t position);

// Why not as many launches of a configuration were measured as were asked for.
enum class Incomplete : std::uint8_t {
  no,
  not_matched,  // the selector does not take it
  near_missed,  // neither, but its pattern matches another form of the name
  cooperative,  // these seven: as SkipReason
  collective,
  captured,
  failed,
  memory,
  refused,
  values,
  not_asked,     // --replay-mode none, sample
  not_measured,  // matched, but none of its launches was measured
  too_few,       // fewer than --samples were
  beyond_count   // matched, but --launch-count had enough by then
};

// What the options of a process ask for, as far as completeness goes by it.
struct Wanted {
  bool measures = true;                  // false: --replay-mode none, sample
  std::optional<std::uint64_t> samples;  // of each configuration; none: all, or not known
  bool is_bounded = false;               // --launch-count
};
// Of options that cannot be read nothing is known.
[[nodiscard]] Wanted wanted_of(const capture::ProcessRecord& process);

// In the order of Incomplete: in a word, as the database has it, and for a sentence. Without quotes: both are parts of SQL.
struct IncompleteWords {
  const char* name;
  const char* sentence;
};
inline constexpr std::array kIncompleteWords{
    IncompleteWords{"", ""},
    IncompleteWords{"not matched", "the selector does not take it"},
    IncompleteWords{"near missed", "the selector takes another form of its name"},
    IncompleteWords{"cooperative", "cooperative: blocks wait for one another, so a replay could hang"},
    IncompleteWords{"collective",
                    "a collective, which waits for other GPUs, or a replay behind one in a process with several GPUs"},
    IncompleteWords{"captured", "captured into a CUDA graph, not run by itself"},
    IncompleteWords{"failed", "measuring failed; the notices say why"},
    IncompleteWords{"memory", "replaying it would take too long: there is much GPU memory to save and restore"},
    IncompleteWords{"refused", "the driver refused the launch"},
    IncompleteWords{
        "values", "it waits, or is behind what waits, for a value in memory, so it is not made alone: use --replay-mode sample"},
    IncompleteWords{"not asked", "launches are not measured one by one with --replay-mode none and sample"},
    IncompleteWords{
        "not measured",
        "matched, but skipped, timed by the program, not repeated as several passes need, or collection had ended by then"},
    IncompleteWords{"too few", "fewer of its launches were measured than --samples asks for"},
    IncompleteWords{"beyond count", "beyond what --launch-count selects"}};
static_assert(kIncompleteWords.size() == static_cast<std::size_t>(Incomplete::beyond_count) + 1);

[[nodiscard]] inline const IncompleteWords& words_of(Incomplete incomplete) {
  return kIncompleteWords.at(static_cast<std::size_t>(incomplete));
}
[[nodiscard]] inline const char* incomplete_text(Incomplete incomplete) { return words_of(incomplete).sentence; }
[[nodiscard]] Incomplete as_incomplete(capture::SkipReason reason);

[[nodiscard]] Incomplete incomplete(const LaunchCounts& counts, const Wanted& wanted);

}  // namespace dlkprof::model
