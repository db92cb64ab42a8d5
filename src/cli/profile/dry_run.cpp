#include "cli/profile/dry_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "base/error.h"
#include "base/text.h"
#include "cli/captures.h"
#include "cli/installation.h"
#include "cli/machine.h"
#include "cupti/host.h"
#include "cupti/machine.h"
#include "model/names.h"
#include "report/format/layout.h"
#include "report/format/table.h"
#include "report/launches/launch_text.h"
#include "select/selector.h"
#include "store/database.h"

namespace dlkprof::cli {
namespace {

// Metrics of these units are counted in each multiprocessor, but for those whose names begin so, which the hardware performance
// monitors count. By NVPerf's names: what is read out is known for sure on a GPU alone, by the size of its counter data.
constexpr std::array<std::string_view, 4> kPerSmHardware{"sm", "smsp", "l1tex", "tpc"};
constexpr std::string_view kMonitored = "TPC.Triage";
// But not the active cycles of multiprocessors (metrics/README.md).
constexpr std::string_view kOfActiveCycles = "_active";
// Parts of this throughput are of the L1 cache.
constexpr std::string_view kMixedThroughput = "gpu__compute_memory_";

constexpr double kNanoseconds = 1e9;

std::string seconds_text(double seconds) { return report::duration(static_cast<std::uint64_t>(seconds * kNanoseconds)); }

// An earlier run as its captures or its database have it.
model::Timeline load_earlier(const ProfileCommand& command) {
  const RunFiles files = run_files(command.database, command.outputs.base_name);
  return files.is_database() ? store::read_timeline_without_ranges(files.database) : model::load_timeline(files.captures);
}

// How often each configuration was launched: by the timeline, which tells all of them apart; where there is none by the counts.
std::map<std::uint32_t, std::uint64_t> launches_of(const model::Timeline& timeline) {
  std::map<std::uint32_t, std::uint64_t> launches;
  for (const model::Activity& activity : timeline.activities) {
    if (activity.config != model::kNone && !activity.in_graph) ++launches[activity.config];
  }
  if (!launches.empty()) return launches;
  for (const model::LaunchCounts& counts : timeline.counts) {
    if (counts.config != model::kNone) launches[counts.config] += counts.launches;
  }
  return launches;
}

PlannedMetric planned(const cupti::Host& host, const std::string& name) {
  PlannedMetric metric{.name = name, .hardware = host.properties(name).hardware_unit};
  metric.per_sm = is_per_sm(name, metric.hardware);
  metric.passes = host.plan({name}).passes;
  return metric;
}

DryRun make_plan(const ProfileCommand& command, const std::string& chip) {
  const cupti::Library& library = cupti::open_library(command.options.cupti_path);
  const cupti::Host host = cupti::Host::create(library, choose_chip(chip, library, command.options.cupti_path));
  DryRun plan;
  plan.chip = host.chip();
  cupti::ResolvedMetrics resolved = host.resolve(command.options.metrics);
  plan.unavailable = std::move(resolved.unavailable);
  for (const std::string& name : resolved.names) plan.metrics.push_back(planned(host, name));
  plan.needs.per_sm = std::any_of(plan.metrics.begin(), plan.metrics.end(), [](const auto& metric) { return metric.per_sm; });
  if (!resolved.names.empty()) {
    const cupti::CollectionPlan all = host.plan(resolved.names);
    plan.needs.passes = all.passes;
    plan.needs.sums = host.can_sum(all);
  }
  return plan;
}

// In the order of Collect.
constexpr std::array kModeWords{
    "none: launches are counted and timed, and nothing is measured",
    "kernel: each selected launch is replayed",
    "iteration: launches are measured in windows, as the program makes them",
    "auto: with PyTorch, JAX, TensorFlow or TensorRT, launches are measured in windows; without, the first launch of each "
    "configuration is replayed, and the other samples are measured in windows",
    "sample: GPUs are sampled while the program runs, by one pass after the other",
    "source: what instructions do is counted in one launch of each configuration, in code that CUPTI patches"};

report::Cell number_or_empty(const std::optional<std::uint64_t>& number) {
  return number ? report::Cell{report::with_separators(*number)} : report::Cell{};
}

report::Cell seconds_or_empty(double seconds) { return seconds > 0 ? report::Cell{seconds_text(seconds)} : report::Cell{}; }

std::vector<report::Cell> replay_mode_row(const char* name, const WayForecast& replay_mode) {
  const report::Quantity bytes = report::humanize(static_cast<double>(replay_mode.host_bytes), "byte");
  return {name,
          seconds_or_empty(replay_mode.launch_seconds),
          seconds_or_empty(replay_mode.window_seconds),
          seconds_or_empty(replay_mode.first_window_seconds),
          replay_mode.host_bytes == 0 ? report::Cell{} : report::Cell{bytes.value + " " + bytes.unit},
          number_or_empty(replay_mode.launches),
          number_or_empty(replay_mode.windows),
          replay_mode.seconds ? report::Cell{seconds_text(*replay_mode.seconds)} : report::Cell{}};
}

std::string replay_modes_text(const CollectionForecast& made) {
  report::Table table{"ways",
                      {{"Replay mode", ""},
                       {"Per launch", ""},
                       {"Per sequence", ""},
                       {"First window", ""},
                       {"Host memory", ""},
                       {"Launches", ""},
                       {"Windows", ""},
                       {"Total", ""}},
                      {}};
  if (made.replay) table.rows.push_back(replay_mode_row("kernel replay", *made.replay));
  if (made.windows) table.rows.push_back(replay_mode_row("iteration replay", *made.windows));
  return table.rows.empty() ? "" : "\n" + report::to_text(table);
}

std::string metrics_text(const std::vector<PlannedMetric>& metrics) {
  report::Table table{"metrics", {{"Metric", ""}, {"Hardware", ""}, {"Counted", ""}, {"Passes alone", ""}}, {}};
  for (const PlannedMetric& metric : metrics) {
    table.rows.push_back(
        {metric.name, metric.hardware, metric.per_sm ? "in each multiprocessor" : "by monitors", std::uint64_t{metric.passes}});
  }
  return metrics.empty() ? "" : "\n" + report::to_text(table);
}

// What is printed besides tables: a term and what is said of it.
std::string dry_run_line(const std::string& term, const std::string& words) {
  constexpr std::size_t kWidth = 80, kTermWidth = 12;
  return report::pad_right(term, kTermWidth) + report::wrap(words, kWidth, kTermWidth, kTermWidth) + "\n";
}

}  // namespace

bool is_per_sm(const std::string& metric, const std::string& hardware) {
  if (metric.starts_with(kMonitored)) return hardware == "sm" && metric.ends_with(kOfActiveCycles);
  return metric.starts_with(kMixedThroughput) ||
         std::find(kPerSmHardware.begin(), kPerSmHardware.end(), hardware) != kPerSmHardware.end();
}

std::vector<ConfigLaunches> selected_configs(const model::Timeline& timeline, const capture::Selection& selection) {
  const select::Selector selector = select::Selector::compile(selection);
  std::vector<ConfigLaunches> configs;
  for (const auto& [index, launches] : launches_of(timeline)) {
    const model::Config& config = timeline.configs[index];
    const std::string mangled = config.kernel == model::kNone ? "" : timeline.kernels[config.kernel].mangled;
    if (selector.match_names(select::kernel_names(mangled)) != select::NameMatch::yes) continue;
    const std::vector<std::uint32_t>& devices = selection.devices;
    if (!devices.empty() && std::find(devices.begin(), devices.end(), config.key.device) == devices.end()) continue;
    configs.push_back({launches, mangled.find("nccl") != std::string::npos});
  }
  return configs;
}

std::string dry_run_text(const DryRun& plan, const capture::ProfileOptions& options,
                         const std::optional<std::vector<ConfigLaunches>>& configs) {
  const CollectionForecast made = forecast(options, plan.needs, configs);
  std::string text = dry_run_line("Chip", plan.chip);
  text += dry_run_line("Metrics", fmt::format("{} in {}, {}", report::with_separators(plan.metrics.size()),
                                              report::counted(plan.needs.passes, "pass", "passes"),
                                              plan.needs.per_sm ? "counters of each multiprocessor among them"
                                                                : "by the hardware performance monitors alone"));
  text += dry_run_line("Replay mode", model::name_in(kModeWords, options.collect));
  if (configs) {
    std::uint64_t launches = 0;
    for (const ConfigLaunches& config : *configs) launches += config.launches;
    text += dry_run_line(
        "Launches",
        fmt::format("{} of {} that the selector takes, in {}", report::counted(launches, "launch", "launches"),
                    report::counted(configs->size(), "configuration", "configurations"), printable(plan.earlier_run, 200)));
    if (made.skipped > 0)
      text += dry_run_line("Skipped", report::counted(made.skipped, "launch", "launches") + " of collectives");
  }
  text += replay_modes_text(made);
  if (made.with_framework) {
    text += fmt::format("With a framework: {} in windows, {}.\n",
                        report::counted(*made.with_framework->launches, "launch", "launches"),
                        seconds_text(made.with_framework->seconds.value_or(0)));
  }
  if (made.windows && options.max_overhead_seconds > 0) {
    text += fmt::format("Windows end after {} (--max-overhead).\n", seconds_text(options.max_overhead_seconds));
  }
  if (made.replay || made.windows) text += "Costs are those of an H100 and an H200 with CUDA 13.0.\n";
  text += metrics_text(plan.metrics);
  if (!plan.unavailable.empty()) {
    text += "\n" + dry_run_line("Not offered",
                                fmt::format("{} of the sections' metrics, which other chips have: {}", plan.unavailable.size(),
                                            printable(fmt::format("{}", fmt::join(plan.unavailable, ", ")), 1000)));
  }
  return text;
}

void print_dry_run(const ProfileCommand& command, const std::string& chip) {
  std::optional<std::vector<ConfigLaunches>> configs;
  std::string of_run;
  if (!command.database.empty()) {
    const model::Timeline timeline = load_earlier(command);
    configs = selected_configs(timeline, command.options.selection);
    if (!timeline.devices.empty()) of_run = timeline.devices.front().record.chip;
  }
  DryRun plan = make_plan(command, chip.empty() ? of_run : chip);
  plan.earlier_run = command.database;
  print_data(dry_run_text(plan, command.options, configs));
}

}  // namespace dlkprof::cli
