// The options of profiling as the command line knows them. What they mean is in profile_options.cpp.
#include <CLI/CLI.hpp>

#include "cli/arguments.h"
#include "cli/machine.h"
#include "cli/profile/profile_options.h"
#include "cli/usage/programs.h"
#include "cli/verbs.h"
#include "report/registry.h"

namespace dlkprof::cli {
namespace {

constexpr std::uint64_t kLongestSamplingIntervalNs = 100'000'000;
// Below, what CUPTI takes to be set up is more; above is no machine's.
constexpr std::uint64_t kLeastMemoryMb = 200, kMostMemoryMb = 1'000'000;
constexpr std::uint64_t kMostCaptureMb = 10'000'000;

void add_selecting(CLI::App& app, capture::Selection& selection, TypedProfile& typed, capture::ProfileOptions& options) {
  const auto add = [&app](const char* names, auto& value, const char* type, const char* help) {
    return app.add_option(names, value, help)->type_name(type)->group("Selecting kernels (as in Nsight Compute)");
  };
  add("--kernel-id", selection.kernel_id, "<id>",
      "context:stream:[regex:]name:invocation; empty fields match all: ::regex:gemm: takes every kernel with gemm in its name");
  add("-k,--kernel-name", selection.kernel_name, "<name>", "A kernel's name, or regex:<pattern> for part of it");
  add("--kernel-name-base", selection.kernel_name_base, "<form>", "The form of the name that is matched")
      ->check(one_of({"function", "demangled", "mangled"}))
      ->capture_default_str();
  // The checks, as CLI11 takes -1 for a very large unsigned number.
  add("-s,--launch-skip", selection.launch_skip, "<n>", "Skip the first n matching launches")->check(not_negative());
  add("-c,--launch-count", selection.launch_count, "<n>", "Select at most n matching launches")->check(not_negative());
  add("--launch-skip-before-match", selection.launch_skip_before_match, "<n>", "Skip the first n launches of any kernel")
      ->check(not_negative());
  add("--filter-mode", selection.filter_mode, "<over>", "Over what launches are skipped and counted")
      ->check(one_of({"global", "per-gpu", "per-launch-config"}))
      ->capture_default_str();
  const auto add_nvtx = [&add](const char* name, std::vector<std::string>& value, const char* help) {
    add(name, value, "<ranges>", help)->allow_extra_args(false);
  };
  add_nvtx(
      "--nvtx-include", selection.nvtx_include,
      "Only launches within NVTX ranges: forward/ pushed and popped, a/*/b nested, [a outermost, b] innermost, forward started "
      "and ended, net@forward/ of a domain, regex:<pattern> for a name; several times: within any");
  add_nvtx("--nvtx-exclude", selection.nvtx_exclude, "Not those within such ranges");
  add("--devices", typed.devices, "<n,n>", "Only launches on these GPUs, by CUDA's numbers (default: all)");
  add("--target-processes", typed.target_processes, "<which>", "application-only leaves out child processes")
      ->check(one_of({"all", "application-only"}))
      ->capture_default_str();
  add("--ranks", options.ranks, "<n,n-n,n/node,n/job>",
      "Only these ranks of a distributed run, such as 0,8-15; 1/node is the first of each node, 16/job a sample of 16");
  add("--profile-from-start", typed.profile_from_start, "<switch>", "off: only between cudaProfilerStart and cudaProfilerStop")
      ->check(one_of({"on", "off"}))
      ->capture_default_str();
  add("-y,--delay", options.delay_seconds, "<seconds>", "Measure nothing in the first seconds")->check(not_negative());
  add("-d,--duration", options.duration_seconds, "<seconds>",
      "Measure for this many seconds; the program runs on (default or 0: to its end)")
      ->check(not_negative());
}

void add_collecting(CLI::App& app, TypedProfile& typed, capture::ProfileOptions& options, const cupti::Catalogue& catalogue) {
  const auto grouped = [](CLI::Option* option) { return option->group("Collecting"); };
  const auto add = [&](const char* names, auto& value, const char* type, const char* help) {
    return grouped(app.add_option(names, value, help)->type_name(type));
  };
  std::vector<std::string> sets, sections;
  for (const cupti::MetricSet& set : catalogue.sets()) sets.push_back(set.name);
  for (const cupti::Section& section : catalogue.sections()) sections.push_back(section.name);
  add("--set", typed.set, "<set>", "A set of sections (default: basic; quick with --replay-mode sample)")->check(suggested(sets));
  sections.emplace_back(kSourceSection);
  add("--section", typed.sections, "<section>", "A section; may be repeated. source: what instructions did, in a run of its own")
      ->check(suggested(sections))
      ->allow_extra_args(false);
  add("--metrics", typed.metrics, "<metric,metric>", "Metrics by NVPerf's names")->delimiter(',')->allow_extra_args(false);
  add("--replay-mode", typed.replay_mode, "<mode>",
      "kernel: replay each selected launch. iteration: replay nothing; take each pass from another launch, in windows. sample: "
      "sample the whole GPU at intervals while the program runs at its own speed. none: only count and "
      "time. auto: like iteration in a process with PyTorch, JAX, TensorFlow or TensorRT; in any other, replay the first launch "
      "of each configuration, and measure in windows what cannot be replayed and further --samples")
      ->check(one_of({"auto", "kernel", "iteration", "sample", "none"}))
      ->capture_default_str();
  add("--samples", typed.samples, "<n>|all",
      "Launches measured of each launch configuration (default: 1; 3 with --replay-mode iteration)");
  add("--max-overhead", options.max_overhead_seconds, "<seconds>",
      "Seconds that measuring in windows may take in all; 0: no limit")
      ->check(not_negative())
      ->capture_default_str();
  add("--max-memory", options.max_memory_mb, "<MB>",
      "Host memory that windows of a GPU may take; with more of it they hold more launches, each at less cost")
      ->check(whole_number(kLeastMemoryMb, kMostMemoryMb))
      ->capture_default_str();
  add("--max-capture", options.max_capture_mb, "<MB>",
      "The largest capture of a process; at this size its profiling ends, and what was recorded is reported")
      ->check(whole_number(1, kMostCaptureMb))
      ->capture_default_str();
  add("--pm-sampling-interval", options.sampling_interval_ns, "<ns>",
      "Time between two samples of --replay-mode sample (default: 10 us, or the shortest that the host can keep up with)")
      ->check(whole_number(0, kLongestSamplingIntervalNs));
  add("--cache-control", typed.cache_control, "<caches>", "all: flush the caches before each pass; none: leave them alone")
      ->check(one_of({"all", "none"}))
      ->capture_default_str();
  grouped(app.add_flag("--pc-sampling{auto}", typed.pc_sampling,
                       "Sample what warps wait for, by instruction and source line, once in 2^n cycles; n is 5 to 31 (default: "
                       "17). Needs --replay-mode none"))
      ->type_name("[=<n>]");
  add("--timeline", typed.timeline, "<switch>",
      "on: record ops and iterations. off: record counters only. auto: on, unless kernels are picked by name and nothing is "
      "asked about ops")
      ->check(one_of({"auto", "on", "off"}))
      ->capture_default_str();
  add("--iterations", typed.iterations, "<n>",
      "Once everything is measured, record n more iterations, then detach; later launches are not counted. 0 records the whole "
      "run, as does --timeline on")
      ->check(not_negative())
      ->capture_default_str();
  grouped(app.add_flag("--fast-range-texts", options.fast_range_texts,
                       "With --mode pytorch: replace the functions of PyTorch that write the texts of its ranges by faster ones, "
                       "if dlkprof knows them; the capture says so"));
  grouped(app.add_flag("--stacks", typed.stacks,
                       "With --mode pytorch: record where in Python each module is called, for Stack Trace in report detail"));
  grouped(app.add_flag("--keep-counters", options.keep_counters,
                       "Keep raw counters in the capture, to evaluate other metrics later"));
  add("--cupti-path", options.cupti_path, "<path>", "The libcupti to use, or its folder (default: that of CUDA_HOME or nvcc)");
}

void add_output(CLI::App& app, TypedProfile& typed, ProfileCommand& command) {
  const auto grouped = [](CLI::Option* option) { return option->group("Output"); };
  const auto add = [&](const char* names, auto& value, const char* type, const char* help) {
    return grouped(app.add_option(names, value, help)->type_name(type));
  };
  add("--reports", typed.reports, "<report,report>", "Reports to write to files when the program has ended")
      ->check(suggested(report::known_names()))
      ->delimiter(',')
      ->allow_extra_args(false);
  add("--formats", typed.formats, "<format,format>",
      "Formats of these files: csv (names as they are, not made safe for spreadsheets), json; roofline also svg (default: csv)")
      ->check(suggested({"csv", "json", "svg"}))
      ->delimiter(',')
      ->allow_extra_args(false);
  add("--output_path", command.outputs.directory, "<folder>", "Folder of captures, the database and reports")
      ->default_str("the current folder");
  add("--base_name", command.outputs.base_name, "<name>", "Prefix of the files' names")->capture_default_str();
  grouped(app.add_flag("--dump_model_data", command.outputs.model_data,
                       "Write ops, instances and iterations to <base_name>_model.json"));
  grouped(app.add_flag("-f,--force", command.outputs.force, "Replace files that are there"));
  add("-v,--verbosity", typed.verbosity, "<level>", "Messages on stderr besides errors")
      ->check(one_of({"quiet", "minimal", "normal", "detailed", "diagnostic"}))
      ->capture_default_str();
  app.set_version_flag("-V,--version", version_text(), "Print the version");
}

}  // namespace

ProfileArguments::ProfileArguments(CLI::App& app, const cupti::Catalogue& catalogue) {
  add_selecting(app, command_.options.selection, typed_, command_.options);
  add_collecting(app, typed_, command_.options, catalogue);
  add_folding(app, command_.folding);
  add_output(app, typed_, command_);
}

}  // namespace dlkprof::cli
