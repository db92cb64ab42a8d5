#include "cli/profile/profile_options.h"

#include <dlkprof/version.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/text.h"
#include "capture/ranks.h"
#include "cli/arguments.h"
#include "cli/profile/placeholders.h"
#include "cupti/pc_sampler.h"
#include "report/registry.h"

namespace dlkprof::cli {
namespace {

// A bound for typing errors; evaluating samples keeps up with some 10 us.
constexpr std::uint64_t kShortestSamplingIntervalNs = 1'000, kLongestSamplingIntervalNs = 100'000'000;
// Below, what CUPTI takes to be set up is more; above is no machine's.
constexpr std::uint64_t kLeastMemoryMb = 200, kMostMemoryMb = 1'000'000;

void add_selecting(CLI::App& app, capture::Selection& selection, TypedProfile& typed, capture::ProfileOptions& options) {
  const auto group = [](CLI::Option* option) { return option->group("Selecting kernels (as in Nsight Compute)"); };
  group(app.add_option("--kernel-id", selection.kernel_id,
                       "context:stream:[regex:]name:invocation; empty fields match all. "
                       "Example: ::regex:gemm: takes every kernel with gemm in its name"));
  group(app.add_option("-k,--kernel-name", selection.kernel_name, "A kernel's name, or regex:<pattern> for part of it"));
  group(app.add_option("--kernel-name-base", selection.kernel_name_base, "The form of the name that is matched"))
      ->check(CLI::IsMember({"function", "demangled", "mangled"}))
      ->capture_default_str();
  // The checks, as CLI11 takes -1 for a very large unsigned number.
  group(app.add_option("-s,--launch-skip", selection.launch_skip, "Skip so many matching launches first"))->check(not_negative());
  group(app.add_option("-c,--launch-count", selection.launch_count, "Select at most so many matching launches"))
      ->check(not_negative());
  group(app.add_option("--launch-skip-before-match", selection.launch_skip_before_match,
                       "Skip so many launches of any kernel first"))
      ->check(not_negative());
  group(app.add_option("--filter-mode", selection.filter_mode, "What launches are skipped and counted over"))
      ->check(CLI::IsMember({"global", "per-gpu", "per-launch-config"}))
      ->capture_default_str();
  group(app.add_option("--devices", typed.devices, "CUDA ordinals, comma-separated; all where not given"));
  group(app.add_option("--target-processes", typed.target_processes, "all, or application-only: no child processes"))
      ->check(CLI::IsMember({"all", "application-only"}))
      ->capture_default_str();
  group(app.add_option("--ranks", options.ranks, "Of a distributed run only these ranks: 0,8-15"));
  group(app.add_option("--profile-from-start", typed.profile_from_start,
                       "off: only between cudaProfilerStart and cudaProfilerStop"))
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
  group(app.add_option("-y,--delay", options.delay_seconds, "Measure nothing in the first seconds"))->check(not_negative());
  group(app.add_option("-d,--duration", options.duration_seconds, "Measure for so many seconds; 0: to the end"))
      ->check(not_negative());
}

void add_collecting(CLI::App& app, TypedProfile& typed, capture::ProfileOptions& options) {
  const auto group = [](CLI::Option* option) { return option->group("Collecting"); };
  group(app.add_option("--set", typed.set,
                       "A set of sections; default basic, with --replay-mode sample quick (dlkprof metrics --list-sets)"));
  group(app.add_option("--section", typed.sections, "A section; may be repeated (dlkprof metrics --list-sections)"))
      ->allow_extra_args(false);
  group(app.add_option("--metrics", typed.metrics, "Metrics by NVPerf's names, comma-separated"))
      ->delimiter(',')
      ->allow_extra_args(false);
  group(app.add_option("--replay-mode", typed.replay_mode,
                       "kernel: replay each selected launch; iteration: replay nothing, spread passes over the program's own "
                       "repetitions; auto: replay the first launch of each configuration, and use repetitions for further "
                       "--samples and for what must not be replayed; sample: sample the whole GPU at intervals while the program "
                       "runs at its own speed; none: only count and time"))
      ->check(CLI::IsMember({"auto", "kernel", "iteration", "sample", "none"}))
      ->capture_default_str();
  group(app.add_option("--samples", typed.samples,
                       "Launches measured of each launch configuration, or all; default 1, with --replay-mode iteration 3"));
  group(app.add_option("--max-overhead", options.max_overhead_seconds,
                       "Seconds that measuring in the program's own repetitions may take in all; 0: no limit"))
      ->check(not_negative())
      ->capture_default_str();
  group(app.add_option(
            "--max-memory", options.max_memory_mb,
            "Megabytes of host memory that measuring in the program's own repetitions may add to the program: with more, "
            "more launches are measured at a time, each at less cost"))
      ->check(CLI::Range(kLeastMemoryMb, kMostMemoryMb))
      ->capture_default_str();
  group(app.add_option("--pm-sampling-interval", options.sampling_interval_ns,
                       "Nanoseconds between two samples of --replay-mode sample; 0: the least that can be kept up with"))
      ->check(CLI::Range(std::uint64_t{0}, kLongestSamplingIntervalNs))
      ->capture_default_str();
  group(app.add_option("--cache-control", typed.cache_control,
                       "all: flush the caches before each pass; none: leave them as the replay finds them"))
      ->check(CLI::IsMember({"all", "none"}))
      ->capture_default_str();
  group(app.add_flag("--pc-sampling{auto}", typed.pc_sampling,
                     "Sample what warps wait for, by instruction and source line, at the program's own speed: once in 2^n "
                     "cycles (--pc-sampling=n, 5 to 31; 17 where not said). Needs --replay-mode none, with which --section stall "
                     "does the same, as it does where nothing else is asked for"));
  group(app.add_option("--timeline", typed.timeline,
                       "on: record ops and iterations; off: counters only, and least disturbance; auto: on unless kernels are "
                       "picked by name and nothing is asked about ops, and with --replay-mode sample while samples are taken"))
      ->check(CLI::IsMember({"auto", "on", "off"}))
      ->capture_default_str();
  group(app.add_flag("--keep-counters", options.keep_counters,
                     "Keep raw counters in the capture, to evaluate other metrics later"));
}

void add_output(CLI::App& app, TypedProfile& typed, ProfileCommand& command) {
  const auto group = [](CLI::Option* option) { return option->group("Output"); };
  group(app.add_option("--reports", typed.reports, "Reports to write to files: " + report::describe_names()))
      ->delimiter(',')
      ->allow_extra_args(false);
  group(app.add_option("--formats", typed.formats, "Their formats: csv, json; of roofline also svg; default csv"))
      ->delimiter(',')
      ->allow_extra_args(false);
  group(app.add_option("--output_path", command.outputs.directory, "Where captures, the database and reports go"))
      ->capture_default_str();
  group(app.add_option("--base_name", command.outputs.base_name, "What their names begin with"))->capture_default_str();
  group(app.add_flag("--dump_model_data", command.outputs.model_data,
                     "Write ops, instances and iterations to <base_name>_model.json"));
  group(app.add_flag("-f,--force", command.outputs.force, "Replace files that are there"));
  group(app.add_option("-v,--verbosity", typed.verbosity, "What is said on stderr besides errors"))
      ->check(CLI::IsMember({"quiet", "minimal", "normal", "detailed", "diagnostic"}))
      ->capture_default_str();
  app.set_version_flag("-V,--version", "dlkprof " DLKPROF_VERSION);
}

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
}

// What --timeline off does not give.
bool asks_for_ops(const ProfileCommand& command) {
  const auto& reports = command.outputs.reports;
  const bool by_report = command.reports_named && !std::all_of(reports.begin(), reports.end(), report::is_of_launches);
  return by_report || command.outputs.model_data || command.folding.is_asked();
}

// A timeline costs a few per cent of a program's speed: who only picks kernels to be measured shall not pay for it.
bool wants_timeline(const std::string& typed, const ProfileCommand& command, Purpose purpose) {
  const auto& selection = command.options.selection;
  const bool picks = !selection.kernel_id.empty() || !selection.kernel_name.empty();
  const bool ops = purpose == Purpose::comparing || asks_for_ops(command);
  if (typed == "off" && ops) {
    throw UsageError("there are no ops and iterations with --timeline off", "",
                     "Leave it out, or what asks for them: sweep, --mode, --key_node, --iter_start, --iter_stop, --domains, "
                     "--dump_model_data, and all --reports but metrics and kernels.");
  }
  const bool samples = command.options.collect == capture::Collect::sample;
  if (typed == "off" && samples) {
    throw UsageError("--replay-mode sample needs the timeline", "samples are given to kernels by the times of both",
                     "Leave out --timeline off, or use another --replay-mode.");
  }
  if (samples) return true;
  if (typed != "auto") return typed == "on";
  return ops || !picks || command.options.collect == capture::Collect::none;
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

// Only replays have raw counters to keep and flush caches, and measure the very launches that -c counts: auto means kernel
// where that is asked for.
capture::Collect collect_of(const TypedProfile& typed, const capture::ProfileOptions& options) {
  const std::string& replay_mode = typed.replay_mode;
  if (replay_mode == "none" || wants_stalls_alone(typed, options)) return capture::Collect::none;
  if (replay_mode == "iteration") return capture::Collect::iteration;
  if (replay_mode == "sample") return capture::Collect::sample;
  return replay_mode == "kernel" || needs_replays(options) || options.selection.launch_count ? capture::Collect::kernel
                                                                                             : capture::Collect::automatic;
}

// None: nothing is sampled. `stall` is a section that counters need replays for, and samples do not.
std::optional<std::uint32_t> pc_sampling_of(const TypedProfile& typed, capture::Collect collect) {
  const bool stalls = std::find(typed.sections.begin(), typed.sections.end(), "stall") != typed.sections.end();
  const bool counts = collect != capture::Collect::none;
  if (typed.pc_sampling.empty()) return stalls && !counts ? std::optional(cupti::kUsualPcPeriod) : std::nullopt;
  if (counts) {
    throw UsageError("--pc-sampling cannot go on while launches are measured with counters", "",
                     "Add --replay-mode none; what counters show comes from a run of its own.");
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
    throw UsageError("--pm-sampling-interval: the counters cannot be read out as often", "", "Give 0, or from 1000 (1 us) on.");
  }
  if (!typed.samples.empty() || needs_replays(options)) {
    throw UsageError("--replay-mode sample measures no launches one by one, takes caches as they are, and keeps no raw counters",
                     "", "Leave out --samples, --cache-control all and --keep-counters, or use --replay-mode kernel.");
  }
}

void check_ranks(const std::string& ranks) try {
  if (!ranks.empty()) (void)capture::Ranks::parse(ranks);
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
  options.in_bursts = options.collect == capture::Collect::sample && typed.timeline != "on" && options.profile_from_start;
  command.outputs.database = options.timeline && !command.folding.simple();
  command.outputs.formats = typed.formats;
  if (!typed.reports.empty() && typed.formats.empty()) command.outputs.formats = {"csv"};
}

}  // namespace

ProfileArguments::ProfileArguments(CLI::App& app) {
  add_selecting(app, command_.options.selection, typed_, command_.options);
  add_collecting(app, typed_, command_.options);
  add_folding(app, command_.folding);
  add_output(app, typed_, command_);
}

ProfileCommand ProfileArguments::command(std::vector<std::string> program, const cupti::Catalogue& catalogue, Purpose purpose) {
  ProfileCommand command = command_;
  command.program = std::move(program);
  give_meaning(typed_, command, purpose);
  if (!command.program.empty()) fill_placeholders(command.outputs);
  resolve_metrics(typed_, catalogue, command);
  return command;
}

std::optional<ProfileCommand> parse_profile(int argc, char** argv, const cupti::Catalogue& catalogue) {
  CLI::App app(
      "Measures the kernels of an unchanged program on NVIDIA GPUs: occupancy, stalls, memory, tensor cores;\n"
      "and says which op launched them, in which direction and iteration.\n"
      "  dlkprof [options] [--] <program> [arguments]   profile a program\n"
      "  dlkprof [options] --database=<file>            fold and report again, without the program\n"
      "  dlkprof report <file>                          report from a capture or a database\n"
      "  dlkprof compare <base> <other>...              what changes between runs\n"
      "  dlkprof sweep -L <name> <values> -- <program>  profile a program with each of the values, and compare\n"
      "  dlkprof demo                                   show the recorded captures\n"
      "  dlkprof metrics                                metrics, sections and sets\n"
      "  dlkprof doctor                                 what works on this machine",
      "dlkprof");
  ProfileArguments arguments(app);
  std::string database;
  app.add_option("--database", database,
                 "Fold this again and report, and run no program: a database (.sqlite), a capture, or a folder")
      ->group("Output");
  bool dry_run = false;
  std::string chip;
  app.add_flag("--dry-run", dry_run,
               "Print what would be collected and how: passes, seconds, memory; with --database for the launches of that run")
      ->group("Collecting");
  app.add_option("--chip", chip, "With --dry-run: NVPerf's name of a GPU, such as GH100; default: this machine's")
      ->group("Collecting");
  auto parsed = parse(app, argc, argv, OptionsEnd::at_positional);
  if (parsed.done) return std::nullopt;
  auto command = arguments.command(std::move(parsed.program), catalogue, Purpose::any);
  command.database = std::move(database);
  command.dry_run = dry_run;
  command.chip = std::move(chip);
  if (!command.chip.empty() && !dry_run) throw UsageError("--chip is for --dry-run", "", "A profile is of the GPUs here.");
  return command;
}

}  // namespace dlkprof::cli
