#include "cli/profile/profile_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/text.h"
#include "capture/ranks.h"
#include "cli/arguments.h"
#include "cli/installation.h"
#include "cli/profile/placeholders.h"
#include "cli/usage/programs.h"
#include "cli/verbs.h"
#include "cupti/pc_period.h"
#include "report/registry.h"

namespace dlkprof::cli {
namespace {

// A bound for typing errors; evaluating samples keeps up with some 10 us.
constexpr std::uint64_t kShortestSamplingIntervalNs = 1'000;

template <typename Number>
std::optional<Number> number(const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty() ? std::optional(value) : std::nullopt;
}

std::vector<std::uint32_t> parse_devices(const std::string& text) {
  std::vector<std::uint32_t> devices;
  for (const auto& part : text.empty() ? std::vector<std::string>() : split(text, ',')) {
    const auto device = number<std::uint32_t>(part);
    if (!device) throw UsageError("--devices: " + printable(part) + " is no device number", "", "Example: --devices 0,2");
    devices.push_back(*device);
  }
  return devices;
}

Verbosity parse_verbosity(const std::string& text) {
  constexpr std::array kNames{"quiet", "minimal", "normal", "detailed", "diagnostic"};
  return static_cast<Verbosity>(std::find(kNames.begin(), kNames.end(), text) - kNames.begin());
}

// What to measure: the sections and metrics named; where none are, the set basic, and for samples what one pass can hold.
void resolve_metrics(const TypedProfile& typed, const cupti::Catalogue& catalogue, ProfileCommand& command) {
  if (command.options.collect == capture::Collect::source) return;  // CUPTI's metrics of instructions alone
  std::vector<std::string> names;
  if (!typed.set.empty() || (typed.sections.empty() && typed.metrics.empty())) {
    const bool samples = command.options.collect == capture::Collect::sample;
    const char* const usual = samples ? "quick" : "basic";
    names = catalogue.set(typed.set.empty() ? usual : typed.set).sections;
  }
  for (const auto& name : typed.sections) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  for (const auto& name : names) command.sections.push_back(catalogue.section(name));
  command.options.metrics = cupti::requests(command.sections);
  for (const auto& metric : typed.metrics) {
    command.extra_metrics.push_back(metric);
    command.options.metrics.push_back({{metric}});
  }
  if (command.options.collect != capture::Collect::automatic) return;
  std::vector<cupti::Section> first;
  for (const auto& name : catalogue.set("quick").sections) first.push_back(catalogue.section(name));
  command.options.first_metrics = cupti::requests(first);
}

// What --timeline off does not give.
bool asks_for_ops(const ProfileCommand& command) {
  const bool source = command.options.collect == capture::Collect::source;
  const auto needs_no_ops = [source](const std::string& name) {
    return report::is_of_launches(name) || (source && (name == "source" || name == "coverage"));
  };
  const auto& reports = command.outputs.reports;
  const bool by_report = command.reports_named && !std::all_of(reports.begin(), reports.end(), needs_no_ops);
  return by_report || command.outputs.model_data || command.folding.is_asked();
}

// A timeline costs a few per cent of a program's speed: who only picks kernels to be measured shall not pay for it.
bool wants_timeline(const std::string& typed, const ProfileCommand& command, Purpose purpose) {
  const auto& selection = command.options.selection;
  const bool by_ranges = selection.by_ranges();
  const bool picks = !selection.kernel_id.empty() || !selection.kernel_name.empty();
  const bool ops = purpose == Purpose::comparing || asks_for_ops(command);
  if (typed == "off" && ops) {
    throw UsageError("there are no ops and iterations with --timeline off", "",
                     "Leave it out, or what asks for them: sweep, --mode, --key_node, --iter_start, --iter_stop, --domains, "
                     "--dump_model_data, and all --reports but metrics and kernels.");
  }
  if (typed == "off" && by_ranges) {
    throw UsageError("--nvtx-include and --nvtx-exclude need the timeline", "NVTX ranges are taken in with it",
                     "Leave out --timeline off.");
  }
  if (command.options.collect == capture::Collect::source) {
    if (typed != "on" && !ops && !by_ranges) return false;
    throw UsageError(
        "there is no timeline with --section source", "CUPTI counts no instructions while it records one",
        "Leave out --timeline on, --nvtx-include, --nvtx-exclude, what asks for ops, and all --reports but source, coverage, "
        "kernels and metrics; record these in another run.");
  }
  const bool samples = command.options.collect == capture::Collect::sample;
  if (typed == "off" && samples) {
    throw UsageError("--replay-mode sample needs the timeline", "samples are given to kernels by the times of both",
                     "Leave out --timeline off, or use another --replay-mode.");
  }
  if (samples || by_ranges) return true;
  if (typed != "auto") return typed == "on";
  return ops || !picks || command.options.collect == capture::Collect::none;
}

// What is asked for may still come, however much is measured already: the program is never left before its end.
bool needs_all_of_the_run(const TypedProfile& typed, const ProfileCommand& command) {
  using capture::Collect;
  const capture::ProfileOptions& options = command.options;
  const bool measures_some = options.collect != Collect::none && options.collect != Collect::sample && options.samples;
  const bool in_a_span = !options.profile_from_start || options.delay_seconds > 0 || options.duration_seconds > 0;
  return !options.timeline || typed.timeline == "on" || !measures_some || in_a_span;
}

bool needs_replays(const capture::ProfileOptions& options) {
  return options.keep_counters || options.cache_control == capture::CacheControl::all;
}

// Stall reasons of all kernels, and nothing else: PC sampling gives them at the program's own speed, for which counters would
// take a replay of each launch configuration. Where launches are picked a few replays say more.
bool wants_stalls_alone(const TypedProfile& typed, const capture::ProfileOptions& options) {
  const bool alone = typed.sections == std::vector<std::string>{"stall"} && typed.set.empty() && typed.metrics.empty();
  const bool picks = options.selection != capture::Selection{} || !typed.samples.empty() || needs_replays(options);
  return typed.replay_mode == "auto" && alone && !picks;
}

bool wants_source(const TypedProfile& typed) {
  return std::find(typed.sections.begin(), typed.sections.end(), kSourceSection) != typed.sections.end();
}

void check_source(const TypedProfile& typed, const capture::ProfileOptions& options) {
  if (typed.sections.size() > 1 || !typed.set.empty() || !typed.metrics.empty()) {
    throw UsageError("--section source excludes counters", "CUPTI patches the machine code of kernels for it",
                     "Leave out --set, --metrics and other sections; collect them in another run.");
  }
  if (typed.replay_mode == "auto" && typed.samples.empty() && !needs_replays(options)) return;
  throw UsageError("--section source counts one launch of each configuration, and replays nothing", "",
                   "Leave out --replay-mode, --samples, --cache-control all and --keep-counters.");
}

// Only replays have raw counters to keep and flush caches, and measure the very launches that -c counts: auto means kernel
// where that is asked for.
capture::Collect collect_of(const TypedProfile& typed, const capture::ProfileOptions& options) {
  const std::string& replay_mode = typed.replay_mode;
  if (wants_source(typed)) {
    check_source(typed, options);
    return capture::Collect::source;
  }
  if (replay_mode == "none" || wants_stalls_alone(typed, options)) return capture::Collect::none;
  if (replay_mode == "iteration") return capture::Collect::iteration;
  if (replay_mode == "sample") return capture::Collect::sample;
  return replay_mode == "kernel" || needs_replays(options) || options.selection.launch_count ? capture::Collect::kernel
                                                                                             : capture::Collect::automatic;
}

// None: nothing is sampled. `stall` is a section that counters need replays for, and samples do not.
std::optional<std::uint32_t> pc_sampling_of(const TypedProfile& typed, capture::Collect collect) {
  const bool stalls = std::find(typed.sections.begin(), typed.sections.end(), "stall") != typed.sections.end();
  const bool source = collect == capture::Collect::source;
  const bool counts = collect != capture::Collect::none;
  if (source && !typed.pc_sampling.empty()) {
    throw UsageError("--section source excludes --pc-sampling", "CUPTI samples no code that it has patched",
                     "Sample in another run: --replay-mode none --pc-sampling.");
  }
  if (typed.pc_sampling.empty()) return stalls && !counts ? std::optional(cupti::kUsualPcPeriod) : std::nullopt;
  if (counts) {
    throw UsageError("--pc-sampling excludes counters", "", "Add --replay-mode none; collect counters in another run.");
  }
  if (typed.pc_sampling == "auto") return cupti::kUsualPcPeriod;
  const auto period = number<std::uint32_t>(typed.pc_sampling);
  if (period && *period >= cupti::kLeastPcPeriod && *period <= cupti::kMostPcPeriod) return period;
  throw UsageError("--pc-sampling: " + printable(typed.pc_sampling) + " is no whole number from 5 to 31", "",
                   "It is the exponent of a power of two: --pc-sampling=17 samples once in 131072 cycles.");
}

void check_sampling(const TypedProfile& typed, const capture::ProfileOptions& options) {
  if (options.collect != capture::Collect::sample) {
    if (options.sampling_interval_ns == 0) return;
    throw UsageError("--pm-sampling-interval is for --replay-mode sample", "", "Give that as well, or leave it out.");
  }
  if (options.sampling_interval_ns != 0 && options.sampling_interval_ns < kShortestSamplingIntervalNs) {
    throw UsageError("--pm-sampling-interval: the interval is too short to read the counters out", "",
                     "Give 0, or from 1000 (1 us) on.");
  }
  if (!typed.samples.empty() || needs_replays(options)) {
    throw UsageError("--replay-mode sample measures no launches one by one, takes caches as they are, and keeps no raw counters",
                     "", "Leave out --samples, --cache-control all and --keep-counters, or use --replay-mode kernel.");
  }
  if (options.selection.by_ranges()) {
    throw UsageError("--replay-mode sample samples whatever runs, within the NVTX ranges asked for and outside them", "",
                     "Leave out --nvtx-include and --nvtx-exclude, or use --replay-mode iteration.");
  }
}

// A mistyped verb shall not be run as a program.
void check_program_name(const std::vector<std::string>& program) {
  if (program.empty() || is_program(program.front())) return;
  const std::string& word = program.front();
  const std::string meant = meant_by(word);
  if (meant.empty()) return;
  throw UsageError(fmt::format("there is neither a verb nor a program {}", printable(word, 80)), "", meant);
}

void check_ranks(const std::string& ranks) try {
  if (ranks.empty()) return;
  const capture::Ranks asked = capture::Ranks::parse(ranks);
  const auto place = capture::place_of_process();
  const char* lacking = place ? asked.lacking(*place) : nullptr;
  if (lacking == nullptr) return;
  throw UsageError("--ranks " + printable(ranks, 80) + " cannot be told of rank " + std::to_string(place->rank),
                   fmt::format("the launcher sets none of {}", lacking), "Set one of them, or name ranks by number.");
} catch (const UsageError&) {
  throw;
} catch (const Error& error) {
  throw UsageError(error.what(), error.detail(), error.remedy());
}

void give_meaning(TypedProfile typed, ProfileCommand& command, Purpose purpose) {
  auto& options = command.options;
  options.selection.devices = parse_devices(typed.devices);
  options.all_processes = typed.target_processes == "all";
  options.profile_from_start = typed.profile_from_start == "on";
  options.cache_control = typed.cache_control == "all" ? capture::CacheControl::all : capture::CacheControl::none;
  options.collect = collect_of(typed, options);
  options.pc_sampling = pc_sampling_of(typed, options.collect);
  const bool iterates = options.collect == capture::Collect::iteration;
  check_sampling(typed, options);
  if (typed.samples.empty()) typed.samples = iterates ? "3" : "1";
  options.samples = typed.samples == "all" ? std::nullopt : number<std::uint64_t>(typed.samples);
  if (iterates && needs_replays(options)) {
    throw UsageError("--replay-mode iteration takes caches as they are, and keeps no raw counters", "",
                     "Leave out --cache-control all and --keep-counters, or use --replay-mode kernel.");
  }
  if (typed.samples != "all" && options.samples.value_or(0) == 0) {
    throw UsageError("--samples: " + printable(typed.samples) + " is neither a positive number nor all", "",
                     "Example: --samples 3");
  }
  check_ranks(options.ranks);
  command.verbosity = parse_verbosity(typed.verbosity);
  options.quiet = command.verbosity == Verbosity::quiet;
  command.reports_named = !typed.reports.empty() || !typed.formats.empty();
  command.sections_named = !typed.set.empty() || !typed.sections.empty() || !typed.metrics.empty();
  check_folding(command.folding);
  if (!typed.reports.empty()) command.outputs.reports = report::report_names(typed.reports, command.folding.simple());
  options.timeline = wants_timeline(typed.timeline, command, purpose);
  const bool source = options.collect == capture::Collect::source;
  command.without_ops = !options.timeline && typed.timeline == "auto" && !source;
  options.in_bursts = options.collect == capture::Collect::sample && typed.timeline != "on" && options.profile_from_start;
  if (options.fast_range_texts && command.folding.mode != Mode::pytorch) {
    throw UsageError("--fast-range-texts is about the ranges that --mode pytorch has PyTorch emit", "", "Add --mode pytorch.");
  }
  command.stacks = typed.stacks;
  if (command.stacks && command.folding.mode != Mode::pytorch) {
    throw UsageError("--stacks is about the modules that --mode pytorch marks", "", "Add --mode pytorch.");
  }
  options.iterations = needs_all_of_the_run(typed, command) ? 0 : typed.iterations;
  command.outputs.database = (options.timeline || source) && !command.folding.simple();
  command.outputs.formats = typed.formats;
  if (!typed.reports.empty() && typed.formats.empty()) command.outputs.formats = {"csv"};
}

}  // namespace

ProfileCommand ProfileArguments::command(std::vector<std::string> program, const cupti::Catalogue& catalogue, Purpose purpose) {
  ProfileCommand command = command_;
  command.program = std::move(program);
  give_meaning(typed_, command, purpose);
  if (!command.program.empty()) fill_placeholders(command.outputs);
  resolve_metrics(typed_, catalogue, command);
  check_cupti_path(command.options.cupti_path);
  return command;
}

std::optional<ProfileCommand> parse_profile(int argc, char** argv, const cupti::Catalogue& catalogue) {
  CLI::App app(
      "Measures the kernels of an unchanged program on NVIDIA GPUs: occupancy, stalls, memory, tensor cores. Says which op "
      "launched them, in which direction and iteration. Options stand before the program; what follows its name is the "
      "program's.",
      "dlkprof");
  ProfileArguments arguments(app, catalogue);
  std::string database;
  app.add_option("--database", database,
                 "Fold this again and report, and run no program: a database (.sqlite), a capture, or a folder")
      ->type_name("<file>")
      ->group("Output");
  bool dry_run = false;
  std::string chip;
  app.add_flag("--dry-run", dry_run,
               "Print what would be collected, and how many passes, seconds and MB it would take; with --database for the "
               "launches of that run")
      ->group("Collecting");
  app.add_option("--chip", chip, "With --dry-run: the GPU to plan for, such as H200 (default: this machine's)")
      ->type_name("<chip>")
      ->group("Collecting");
  auto parsed = parse(app, argc, argv, OptionsEnd::at_positional);
  if (parsed.done) return std::nullopt;
  if (!parsed.after_dashes) check_program_name(parsed.program);
  auto command = arguments.command(std::move(parsed.program), catalogue, Purpose::any);
  command.database = std::move(database);
  command.dry_run = dry_run;
  command.chip = std::move(chip);
  if (!command.chip.empty() && !dry_run) throw UsageError("--chip is for --dry-run", "", "A profile is of the GPUs here.");
  return command;
}

}  // namespace dlkprof::cli
