#include <fmt/format.h>

#include "model/aggregate/provenance.h"
#include "model/aggregate/reliable.h"
#include "model/samples/instruction_counts.h"
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

// A column of one of CUPTI's metrics, which are rows in table sass_count.
ViewColumn count_column(const char* name, model::SassMetric metric, const char* unit, const char* meaning) {
  const std::string id = fmt::format("(SELECT id FROM sass_metric WHERE name = '{}')", name_of(metric));
  // No row: 0, where the metric was counted at all.
  const std::string value =
      fmt::format("CASE WHEN {} NOTNULL THEN sum(CASE s.metric WHEN {} THEN s.value ELSE 0 END) END", id, id);
  return {name, value, unit, meaning};
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

View instruction_counts_view() {
  using model::SassMetric;
  return {
      "instruction_counts",
      "What instructions did in the launch of each configuration that was counted (--section source). NULL: the GPU does not "
      "count it.",
      {{"kernel_name", "k.name", "", ""},
       {"byte_offset", "i.byte_offset", "bytes", "Of the instruction, from the function's start."},
       {"source_file", "nullif(f.path, '')", "", "NULL: not known."},
       {"source_line", "nullif(i.line, 0)", "", "NULL: not known."},
       count_column("instructions_executed", SassMetric::instructions, "", "Warps that executed it."),
       count_column("threads_executed", SassMetric::threads, "", "Threads of these warps that were active."),
       count_column("threads_predicated_on", SassMetric::predicated_on_threads, "", "Of these, whose predicate was true."),
       count_column("divergent_branches", SassMetric::divergent_branches, "", "Branches whose threads went different ways."),
       count_column("global_sectors", SassMetric::global_sectors, "sectors", "Of 32 bytes, asked of global memory."),
       count_column("global_sectors_ideal", SassMetric::ideal_global_sectors, "sectors", "As few as its threads' bytes need."),
       count_column("shared_wavefronts", SassMetric::shared_wavefronts, "", "Passes through shared memory."),
       count_column("shared_wavefronts_ideal", SassMetric::ideal_shared_wavefronts, "", "As few as its threads' bytes need."),
       {"kernel", "k.id", "id of kernel", ""},
       {"function", "n.id", "id of pc_function", "Tells pieces of machine code of one kernel apart."},
       {"config", "s.config", "id of config", "The launch configuration."}},
      "FROM sass_count s JOIN pc_instruction i ON i.id = s.instruction JOIN pc_function n ON n.id = i.function "
      "JOIN kernel k ON k.id = n.kernel JOIN pc_file f ON f.id = i.file GROUP BY s.instruction, s.config"};
}

}  // namespace dlkprof::store
