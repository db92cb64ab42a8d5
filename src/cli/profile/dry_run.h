// --dry-run: what profiling would collect, how, and what that would take; nothing is started.
#pragma once

#include <string>
#include <vector>

#include "cli/profile/collection_forecast.h"
#include "cli/profile/profile_options.h"
#include "model/timeline/timeline.h"

namespace dlkprof::cli {

// How a metric is collected.
struct PlannedMetric {
  std::string name;
  std::string hardware;    // that it is counted in: sm, dram; as NVPerf has it
  bool per_sm = false;     // by counters of each multiprocessor
  std::size_t passes = 0;  // that it would take alone
};

// The launch configurations of an earlier run that a selector takes.
[[nodiscard]] std::vector<ConfigLaunches> selected_configs(const model::Timeline& timeline, const capture::Selection& selection);

// Whether a metric needs counters of each multiprocessor, by its name and the hardware that NVPerf says it is counted in.
[[nodiscard]] bool is_per_sm(const std::string& metric, const std::string& hardware);

// The plan, for people: for stdout.
struct DryRun {
  std::string chip;
  std::vector<PlannedMetric> metrics;
  std::vector<std::string> unavailable;
  PlanNeeds needs;
  std::string earlier_run;  // whose launches the totals are of; empty: none
};
[[nodiscard]] std::string dry_run_text(const DryRun& plan, const capture::ProfileOptions& options,
                                       const std::optional<std::vector<ConfigLaunches>>& configs);

// Prints the plan of what `command` asks for. `chip`: empty: that of the earlier run, else of the GPU here. Throws Error.
void print_dry_run(const ProfileCommand& command, const std::string& chip);

}  // namespace dlkprof::cli
