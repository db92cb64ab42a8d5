// Profiling: starts the program with the injected library, waits, and shows what came.

#include <dlkprof/version.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <future>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/child.h"
#include "cli/installation.h"
#include "cli/profile_options.h"
#include "cli/progress.h"
#include "cli/report_command.h"
#include "cli/verbs.h"
#include "cupti/host.h"
#include "model/coverage_times.h"
#include "report/coverage.h"
#include "report/expert_systems_report.h"
#include "report/kernel_tables.h"
#include "report/summary_report.h"
#include "report/top_ops.h"
#include "report/units.h"
#include "select/selector.h"
#include "store/database.h"

namespace dlkprof::cli {
namespace {

namespace fs = std::filesystem;

constexpr auto kTick = std::chrono::milliseconds(300);
// So many tables are read; a training run that selects hundreds of kernels shall not flood its log.
constexpr std::size_t kMostTables = 20;

bool stderr_is_terminal() { return isatty(STDERR_FILENO) != 0; }

// A metric that no chip knows is mistyped. Where CUPTI is not found the run itself will say so.
void check_metrics_exist(const std::vector<std::string>& metrics, const fs::path& cupti_path) {
  if (metrics.empty()) return;
  const auto& library = cupti::Library::open(cupti_path);
  auto unknown = metrics;
  std::vector<std::string> bases;
  for (const auto& chip : cupti::Host::chips(library)) {
    const auto host = cupti::Host::create(library, chip);
    std::erase_if(unknown, [&](const std::string& metric) { return host.offers(metric); });
    if (unknown.empty()) return;
    for (const auto type : {cupti::MetricType::counter, cupti::MetricType::ratio, cupti::MetricType::throughput}) {
      const auto some = host.base_metrics(type);
      bases.insert(bases.end(), some.begin(), some.end());
    }
  }
  const auto& metric = unknown.front();
  const auto near = closest(metric.substr(0, metric.find('.')), bases);
  throw UsageError("--metrics: no GPU has a metric " + printable(metric, 120), "",
                   (near.empty() ? "" : "Did you mean " + near + ".<sum|avg|...>? ") +
                       "List them: dlkprof metrics --chip GH100 --query <regex> --submetrics");
}

// Makes the folder for what comes, and makes sure before the program starts that files can be made in it.
void prepare_folder(ProfileCommand& command) {
  auto& folder = command.outputs.directory;
  std::error_code error;
  fs::create_directories(folder, error);
  folder = fs::absolute(folder, error).lexically_normal();
  try {
    const auto trial = folder / fmt::format(".dlkprof-{}", getpid());
    (void)create_private(trial);
    fs::remove(trial, error);
  } catch (const Error& failure) {
    throw UsageError("--output_path: nothing can be written to " + printable(folder.string()), failure.detail(),
                     "Name a folder that you may write to.");
  }
  check_outputs(command.outputs);
  for (const auto& capture : captures_in(folder, command.outputs.base_name)) {
    if (!command.outputs.force) {
      throw UsageError(printable(capture.string()) + " is there already", "",
                       "Give --force to replace it, or another --base_name or --output_path.");
    }
    fs::remove(capture, error);
  }
  command.options.output_directory = folder.string();
}

fs::path injected_library() {
  const auto path = install_root() / "lib" / "libdlkprof_inject.so";
  if (!fs::exists(path)) {
    throw Error("the library to inject is missing", path.string(), "Keep bin/, lib/ and share/ of the installation together.");
  }
  return path;
}

// What makes every Python that the program starts tell what PyTorch does: python/inject/sitecustomize.py, found through the
// search path, before what the user has there.
std::map<std::string, std::string> python_environment(const ProfileCommand& command) {
  if (command.folding.mode != Mode::pytorch) return {};
  const fs::path folder = share_folder() / "python" / "inject";
  if (!fs::exists(folder)) {
    throw Error("the Python part of --mode=pytorch is missing", folder.string(),
                "Keep bin/, lib/ and share/ of the installation together.");
  }
  const char* search = std::getenv("PYTHONPATH");
  const std::string others = search != nullptr && *search != '\0' ? std::string(":") + search : "";
  const bool quiet = command.verbosity == Verbosity::quiet;
  return {{"PYTHONPATH", folder.string() + others}, {"DLKPROF_PYTHON", quiet ? "pytorch,quiet" : "pytorch"}};
}

// What the program's environment gets: the driver loads the library for CUDA, NVTX for itself.
std::map<std::string, std::string> injection_environment(capture::ProfileOptions options, const fs::path& library, int pid) {
  options.application_pid = static_cast<std::uint32_t>(pid);
  return {{"CUDA_INJECTION64_PATH", library.string()},
          {"NVTX_INJECTION64_PATH", library.string()},
          {capture::kOptionsVariable, capture::to_json(options)}};
}

// How many launches will be measured, where the options say so.
std::optional<std::uint64_t> expected_launches(const capture::ProfileOptions& options) {
  const bool all = !options.samples && options.selection.filter_mode == "global";
  return all ? options.selection.launch_count : std::nullopt;
}

// The tables of the launches measured, for people.
void show_kernels(const model::Run& run, const ProfileCommand& command) {
  auto shown = run;
  const bool all = command.verbosity >= Verbosity::detailed || shown.launches.size() <= kMostTables;
  if (!all) shown.launches.resize(kMostTables);
  const report::KernelTablesOptions tables{command.sections, command.extra_metrics, is_styled(STDERR_FILENO)};
  fmt::print(stderr, "{}", report::kernel_tables(shown, tables));
  if (!all) {
    fmt::print(stderr, "... and {} launches more: dlkprof report {}\n\n", run.launches.size() - kMostTables,
               printable(run.path.string()));
  }
}

// The operations that took most time, or in simple mode its three figures.
void show_ops(const Analysis& analysis, const ProfileCommand& command) {
  if (!analysis.has_ops()) return;
  const std::string text = command.folding.simple()
                               ? report::summary_text(report::simple_summary_tables(analysis.model()))
                               : report::top_ops(analysis.model()) + "\n" + report::top_findings(analysis.model());
  fmt::print(stderr, "{}\n", text);
}

void show(const std::vector<model::Run>& runs, const Analysis& analysis, const ProfileCommand& command) {
  if (command.verbosity >= Verbosity::normal) {
    for (const auto& run : runs) show_kernels(run, command);
  }
  show_ops(analysis, command);
  for (const auto& run : runs) fmt::print(stderr, "{}", report::coverage(run));
}

std::vector<fs::path> write_files(const std::vector<model::Run>& runs, const Analysis& analysis, const ProfileCommand& command,
                                  const cupti::Catalogue& catalogue) {
  std::vector<fs::path> files;
  std::future<void> database;  // written beside the reports: with millions of ranges each takes seconds
  if (command.outputs.database) {
    files.push_back(database_file(command.outputs));
    database = std::async(std::launch::async, [&command, &analysis, path = files.back()] {
      store::write_database(path, analysis.timeline,
                            {command.folding.fold, command.folding.range, analysis.fold, analysis.aggregate});
    });
  }
  const ReportInputs inputs{runs,
                            &analysis,
                            command.folding.simple(),
                            command.outputs.base_name,
                            command.sections,
                            report::unit_lookup(catalogue, runs.front(), command.options.cupti_path)};
  for (auto& file : write_reports(command.outputs, inputs)) files.push_back(std::move(file));
  if (command.reports_named && command.verbosity != Verbosity::quiet) print_hints(command.outputs.reports, inputs);
  if (database.valid()) database.get();
  return files;
}

void report_captures(const ProfileCommand& command, const cupti::Catalogue& catalogue) {
  const auto captures = captures_in(command.outputs.directory, command.outputs.base_name);
  const bool quiet = command.verbosity == Verbosity::quiet;
  if (captures.empty()) {
    if (!quiet) fmt::print(stderr, "dlkprof: the program launched no CUDA kernel, so there is no capture\n");
    return;
  }
  // Large captures take seconds either way.
  std::future<model::Timeline> timeline = std::async(std::launch::async, [&] { return model::load_timeline(captures); });
  std::vector<model::Run> runs;
  for (const auto& path : captures) {
    runs.push_back(model::load_run(path, {.evaluate_raw = false, .cupti_path = {}, .metrics = {}}));
  }
  const Analysis analysis = analyse_somehow(timeline.get(), command.folding);
  model::add_gpu_times(runs, analysis.timeline);
  if (!quiet) show(runs, analysis, command);
  for (const auto& file : write_files(runs, analysis, command, catalogue)) {
    if (!quiet) fmt::print(stderr, "dlkprof: wrote {}\n", printable(file.string()));
  }
}

// The program has run, and its exit code is what counts: whatever goes wrong now is said, and no more.
void report_unharmed(const ProfileCommand& command, const cupti::Catalogue& catalogue) {
  // A file that may not grow (ulimit -f) is to be an error, not our end.
  (void)std::signal(SIGXFSZ, SIG_IGN);
  try {
    report_captures(command, catalogue);
  } catch (const std::exception& failure) {
    const auto* error = dynamic_cast<const Error*>(&failure);
    fmt::print(stderr, "dlkprof: {}\n", error != nullptr ? error->message() : failure.what());
  }
}

// What profiling and reporting have in common on the command line.
int report_database(const ProfileCommand& command) {
  ReportCommand again;
  again.file = command.database;
  again.cupti_path = command.options.cupti_path;
  if (command.sections_named) {
    for (const auto& section : command.sections) again.sections.push_back(section.name);
  }
  again.metrics = command.extra_metrics;
  again.outputs = command.outputs;
  again.outputs.database = false;
  again.to_files = command.reports_named;
  if (!command.reports_named) again.outputs.reports.clear();
  again.folding = command.folding;
  again.keep_aggregation = true;
  return report_again(std::move(again));
}

}  // namespace

int run_profile(int argc, char** argv) {
  const auto catalogue = load_catalogue();
  auto command = parse_profile(argc, argv, catalogue);
  if (!command) return 0;
  if (!command->database.empty()) return report_database(*command);
  if (command->program.empty()) {
    throw UsageError("there is no program to profile", "", "Example: dlkprof --kernel-id ::regex:gemm: python train.py");
  }
  (void)select::Selector::compile(command->options.selection);
  check_metrics_exist(command->extra_metrics, command->options.cupti_path);
  const auto library = injected_library();
  const auto python = python_environment(*command);
  prepare_folder(*command);

  const bool talk = command->verbosity >= Verbosity::normal;
  Progress progress(command->outputs.directory, command->outputs.base_name, expected_launches(command->options),
                    stderr_is_terminal());
  try {
    const auto result = run_child(
        command->program,
        [&](int pid) {
          auto variables = injection_environment(command->options, library, pid);
          variables.insert(python.begin(), python.end());
          return variables;
        },
        kTick,
        [&] {
          if (talk) progress.update();
        });
    progress.finish();
    if (result.signal != 0 && command->verbosity != Verbosity::quiet) {
      fmt::print(stderr, "dlkprof: the program was ended by signal {} ({})\n", result.signal, strsignal(result.signal));
    }
    report_unharmed(*command, catalogue);
    return result.exit_code;
  } catch (const CannotStart& failure) {
    fmt::print(stderr, "dlkprof: the program cannot be started: {}\n", failure.what());
    return failure.exit_code();
  }
}

}  // namespace dlkprof::cli
