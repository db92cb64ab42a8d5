// Profiling: starts the program with the injected library, waits, and shows what came.

#include <dlkprof/version.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/child.h"
#include "cli/installation.h"
#include "cli/profile_options.h"
#include "cli/progress.h"
#include "cli/verbs.h"
#include "cupti/host.h"
#include "report/kernel_tables.h"
#include "report/summary.h"
#include "report/units.h"
#include "select/selector.h"

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

void show(const model::Run& run, const ProfileCommand& command) {
  if (command.verbosity == Verbosity::quiet) return;
  if (command.verbosity >= Verbosity::normal) {
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
  fmt::print(stderr, "{}", report::summary(run));
}

void report_captures(const ProfileCommand& command, const cupti::Catalogue& catalogue) {
  const auto captures = captures_in(command.outputs.directory, command.outputs.base_name);
  if (captures.empty() && command.verbosity != Verbosity::quiet) {
    fmt::print(stderr, "dlkprof: the program launched no CUDA kernel, so there is no capture\n");
  }
  for (const auto& path : captures) {
    const auto run = model::load_run(path, {.evaluate_raw = false, .cupti_path = {}, .metrics = {}});
    show(run, command);
    auto outputs = command.outputs;
    outputs.base_name = path.stem().string();
    if (outputs.formats.empty()) continue;
    const ReportInputs inputs{command.sections, report::unit_lookup(catalogue, run, command.options.cupti_path)};
    for (const auto& file : write_reports(run, outputs, inputs)) {
      if (command.verbosity != Verbosity::quiet) fmt::print(stderr, "dlkprof: wrote {}\n", printable(file.string()));
    }
  }
}

// `dlkprof --database=<file> --reports=...` is `dlkprof report <file>` with DLProf's spelling.
int report_again(const ProfileCommand& command) {
  std::vector<std::string> words{"report", command.database, "--base_name=" + command.outputs.base_name};
  if (!command.outputs.formats.empty()) {
    words.push_back("--output_path=" + command.outputs.directory.string());
    words.push_back(fmt::format("--reports={}", fmt::join(command.outputs.reports, ",")));
    words.push_back(fmt::format("--formats={}", fmt::join(command.outputs.formats, ",")));
  }
  if (command.outputs.force) words.emplace_back("--force");
  for (const auto& section : command.sections) words.push_back("--section=" + section.name);
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  return run_report(static_cast<int>(argv.size()), argv.data());
}

}  // namespace

int run_profile(int argc, char** argv) {
  const auto catalogue = load_catalogue();
  auto command = parse_profile(argc, argv, catalogue);
  if (!command) return 0;
  if (!command->database.empty()) return report_again(*command);
  if (command->program.empty()) {
    throw UsageError("there is no program to profile", "", "Example: dlkprof --kernel-id ::regex:gemm: python train.py");
  }
  (void)select::Selector::compile(command->options.selection);
  check_metrics_exist(command->extra_metrics, command->options.cupti_path);
  const auto library = injected_library();
  prepare_folder(*command);

  const bool talk = command->verbosity >= Verbosity::normal;
  Progress progress(command->outputs.directory, command->outputs.base_name, expected_launches(command->options),
                    stderr_is_terminal());
  try {
    const auto result = run_child(
        command->program, [&](int pid) { return injection_environment(command->options, library, pid); }, kTick,
        [&] {
          if (talk) progress.update();
        });
    progress.finish();
    if (result.signal != 0 && command->verbosity != Verbosity::quiet) {
      fmt::print(stderr, "dlkprof: the program was ended by signal {} ({})\n", result.signal, strsignal(result.signal));
    }
    report_captures(*command, catalogue);
    return result.exit_code;
  } catch (const CannotStart& failure) {
    fmt::print(stderr, "dlkprof: the program cannot be started: {}\n", failure.what());
    return failure.exit_code();
  }
}

}  // namespace dlkprof::cli
