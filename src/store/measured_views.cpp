#include <fmt/format.h>

#include "model/aggregate/provenance.h"
#include "model/aggregate/reliable.h"
#include "store/views.h"

namespace dlkprof::store {
namespace {

constexpr const char* kClockMeaning = "Clock of the multiprocessors meanwhile; NULL: not measured.";

// SQL: the words of each value of an enumeration that a column holds by name.
std::string reasons() {
  std::string text = "CASE c.incomplete";
  for (const model::IncompleteWords& words : model::kIncompleteWords) {
    if (*words.name != '\0') text += fmt::format(" WHEN '{}' THEN '{}'", words.name, words.sentence);
  }
  return text + " ELSE '' END";
}

// The same for the ways of collecting, which table measured_launch holds by number.
std::string replay_modes() {
  std::string text = "CASE l.replay_mode";
  for (unsigned replay_mode = 1; replay_mode <= static_cast<unsigned>(model::kLastReplayMode); ++replay_mode) {
    text += " WHEN " + std::to_string(replay_mode) + " THEN '" +
            model::replay_mode_text(static_cast<capture::ReplayMode>(replay_mode)) + "'";
  }
  return text + " ELSE '' END";
}

constexpr const char* kUnreliable =
    "1: a share above 100 %, as counters of different passes disagree. Figures of ops leave it out.";

// SQL: model::is_unreliable().
std::string unreliable(const std::string& value) {
  return fmt::format(
      "coalesce({} > {} AND (instr(t.name, '.pct_of_peak_sustained_') > 0 OR t.name LIKE '%\\_hit\\_rate.pct' ESCAPE '\\'), 0)",
      value, model::kMostPercent);
}

}  // namespace

View metrics_view() {
  const ViewColumns columns = join({{{"config", "f.id", "id of config", "The launch configuration."},
                                     {"kernel_name", "k.name", "", "NULL: its function is not described."}},
                                    of("f", {"grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z"}),
                                    {{"metric", "t.name"},
                                     {"samples", "m.n", "launches", "Measured, with a value."},
                                     {"mean", "m.mean", "of the metric", ""},
                                     {"min", "m.min"},
                                     {"max", "m.max"},
                                     {"stddev", "m.stddev", "of the metric", "Of the sample (n - 1); NULL of one launch."},
                                     {"collected_by", "m.replay_mode"},
                                     {"cache_control", "m.cache_control"},
                                     {"passes", "m.passes", "", "That a launch was measured in."},
                                     {"metric_set", "m.metric_set", "id of metric_set", "That it was measured with."},
                                     {"clock_hz", "m.clock_hz", "Hz", kClockMeaning},
                                     {"unreliable", unreliable("m.max"), "0 or 1", kUnreliable}}});
  return {"metrics",
          "Hardware counters of launch configurations: a row for those launches that were measured alike, so that what was "
          "collected in different ways is never mixed.",
          columns,
          "FROM measured_figure m JOIN metric t ON t.id = m.metric JOIN config f ON f.id = m.config "
          "LEFT JOIN kernel k ON k.id = f.kernel ORDER BY m.config, t.name, m.part"};
}

View metric_samples_view() {
  return {"metric_samples",
          "Hardware counters launch by launch: a metric of a launch that was measured.",
          {{"config", "f.id", "id of config", "The launch configuration."},
           {"kernel_name", "k.name", "", "NULL: its function is not described."},
           {"launch_index", "l.launch_index", "", "Position among all kernel launches of its process; NULL: not known."},
           {"occurrence", "l.occurrence", "", "Position among those of its configuration."},
           {"metric", "t.name"},
           {"value", "m.value"},
           {"collected_by", replay_modes(), "", "kernel replay or iteration replay; empty: not known."},
           {"cache_control", "CASE l.cache_control WHEN 0 THEN 'none' WHEN 1 THEN 'all' ELSE '' END", "",
            "none: as they were left, all: flushed before each pass; empty: not known."},
           {"passes", "l.passes", "", "That the launch was measured in."},
           {"metric_set", "l.metric_set", "id of metric_set", "That it was measured with."},
           {"clock_hz", "l.clock_hz", "Hz", kClockMeaning},
           {"start_unix_ns", "l.start_unix_ns"},
           {"cost_ns", "l.cost_ns", "ns", "Host time that measuring the launch took."},
           {"unreliable", unreliable("m.value"), "0 or 1", kUnreliable}},
          "FROM measured m JOIN metric t ON t.id = m.metric JOIN config f ON f.id = m.config "
          "LEFT JOIN kernel k ON k.id = f.kernel "
          "LEFT JOIN measured_launch l ON l.config = m.config AND l.position = m.position"};
}

View coverage_view() {
  const ViewColumns columns =
      join({{{"pid", "p.pid"},
             {"config", "c.config", "id of config",
              "The launch configuration; NULL: all of a function that no filter takes, which are counted together."},
             {"kernel_name", "k.name", "", "NULL: its function is not described."},
             {"grid_x", "f.grid_x", {}, "NULL, as the five that follow, where config is."}},
            of("f", {"grid_y", "grid_z", "block_x", "block_y", "block_z"}),
            of("c", {"launches", "matched", "measured", "near_missed"}),
            {{"left_alone", "c.skipped", {}, "Skipped: selected, but not to be measured."},
             {"timed", "c.timed"},
             {"timed_gpu_ns", "c.timed_gpu_ns"},
             {"timed_gpu_pct", "100.0 * c.timed_gpu_ns / nullif((SELECT sum(timed_gpu_ns) FROM launch_count), 0)", "%",
              "Of all that was timed, graphs not counted; NULL: nothing was."},
             {"incomplete", "c.incomplete", "", "Why it was not measured as often as asked, in a word; empty: it was."},
             {"reason", reasons(), "", "The same as a sentence."}}});
  return {"coverage", "What became of the launches of each configuration: how many were measured, and why the others were not.",
          columns,
          "FROM launch_count c JOIN process p ON p.id = c.process LEFT JOIN config f ON f.id = c.config "
          "LEFT JOIN kernel k ON k.id = c.kernel ORDER BY c.timed_gpu_ns DESC, c.launches DESC, c.id"};
}

}  // namespace dlkprof::store
