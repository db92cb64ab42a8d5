#include "cli/profile/profile_command.h"

#include <dlkprof/version.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <future>

#include "advise/diagnosis.h"
#include "base/error.h"
#include "base/file.h"
#include "base/say.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/captures.h"
#include "cli/failure.h"
#include "cli/ignored_signal.h"
#include "cli/installation.h"
#include "cli/metric_names.h"
#include "cli/profile/fingerprint.h"
#include "cli/profile/kept_memory.h"
#include "cli/profile/progress.h"
#include "cli/sass.h"
#include "cupti/machine.h"
#include "report/diagnosis/reports.h"
#include "report/launches/kernel_tables.h"
#include "report/launches/reports.h"
#include "report/screen/screen.h"
#include "select/selector.h"
#include "store/database.h"

namespace dlkprof::cli {
namespace {

namespace fs = std::filesystem;

constexpr auto kTick = std::chrono::milliseconds(300);

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
  if (folder.native().find(':') != std::string::npos) {
    throw UsageError(
        "--mode=pytorch cannot be used from this installation",
        "its folder has a colon in its name, which PYTHONPATH takes for the end of it: " + printable(folder.native()),
        "Move the installation to a folder without one.");
  }
  const char* search = std::getenv("PYTHONPATH");
  const std::string others = search != nullptr && *search != '\0' ? std::string(":") + search : "";
  std::string words = "pytorch";
  if (command.options.fast_range_texts) words += ",fast-range-texts";
  if (command.stacks) words += ",stacks";
  if (command.verbosity == Verbosity::quiet) words += ",quiet";
  return {{"PYTHONPATH", folder.string() + others}, {"DLKPROF_PYTHON", words}};
}

// What the options of the library do not say of a run.
std::string fingerprint_of(const ProfileCommand& command) {
  const auto iteration = [](const std::optional<std::uint32_t>& one) { return one ? std::to_string(*one) : ""; };
  Fingerprint print;
  print.add(std::to_string(command.program.size()));
  for (const std::string& word : command.program) print.add(word);
  const Folding& folding = command.folding;
  print.add(std::to_string(static_cast<int>(folding.mode)));
  print.add(folding.fold.key_node);
  for (const std::string& domain : folding.fold.domains) print.add(domain);
  print.add(iteration(folding.range.start));
  print.add(iteration(folding.range.stop));
  if (!folding.range.kind.empty()) print.add("kind " + folding.range.kind);
  if (command.stacks) print.add("stacks");
  return print.text();
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
void show_kernels(const model::Timeline& timeline, const ProfileCommand& command) {
  say("{}", report::kernel_tables(timeline, {command.sections, command.extra_metrics, is_styled(STDERR_FILENO)}));
}

// What a report is asked for by: the database where one is written, else the capture, or the folder of several.
std::string reported_file(const ProfileCommand& command, const model::Timeline& timeline) {
  fs::path file = command.outputs.directory;
  if (timeline.processes.size() == 1) file /= timeline.processes.front().capture;
  if (command.outputs.database) file = database_file(command.outputs);
  return file.lexically_proximate(fs::current_path()).string();
}

void show(const model::Profile& profile, const ProfileCommand& command) {
  if (command.verbosity >= Verbosity::detailed) show_kernels(profile.timeline, command);
  const report::Page page{text_width(STDERR_FILENO), is_styled(STDERR_FILENO)};
  say("\n{}\n", report::screen(profile, reported_file(command, profile.timeline), page));
}

std::vector<fs::path> write_files(const model::Profile& profile, const ProfileCommand& command,
                                  const cupti::Catalogue& catalogue) {
  std::vector<fs::path> files;
  std::future<void> database;  // written beside the reports: with millions of ranges each takes seconds
  if (command.outputs.database) {
    files.push_back(database_file(command.outputs));
    database = std::async(std::launch::async, [&profile, path = files.back()] {
      store::write_database(path, profile, advise::diagnosis_of(profile));
    });
  }
  const report::Inputs inputs{.profile = profile,
                              .simple = command.folding.simple(),
                              .profile_name = command.outputs.base_name,
                              .sections = command.sections,
                              .metrics = command.extra_metrics,
                              .unit_of = report::unit_lookup(catalogue, profile.timeline, command.options.cupti_path),
                              .sass = sass_for(command.outputs.reports, profile.timeline)};
  for (auto& file : write_reports(command.outputs, inputs)) files.push_back(std::move(file));
  if (command.reports_named && command.verbosity != Verbosity::quiet) print_hints(command.outputs.reports, inputs);
  if (database.valid()) database.get();
  return files;
}

// The database keeps how the program ended, whatever the program itself may have said of it.
void note_ending(model::Timeline& timeline, const ChildResult& program) {
  const auto is_ours = [](const capture::Fact& fact) {
    return fact.source == kFactSource && (fact.name == kExitCodeFact || fact.name == kToldToEndFact);
  };
  std::erase_if(timeline.facts, is_ours);
  timeline.facts.push_back({kFactSource, kExitCodeFact, std::to_string(program.exit_code)});
  if (program.told_to_end == 0) return;
  timeline.facts.push_back({kFactSource, kToldToEndFact, std::to_string(program.told_to_end)});
}

// Whom files of ours belong to there: on a network disk root may be somebody else.
uid_t owner_in(const fs::path& folder) {
  const auto trial = folder / fmt::format(".dlkprof-{}", getpid());
  struct stat status {};
  std::error_code ignored;
  try {
    const UniqueFd file = create_private(trial);
    if (fstat(file.get(), &status) != 0) status.st_uid = geteuid();
  } catch (const Error&) {  // nothing is written there any more
    return geteuid();
  }
  fs::remove(trial, ignored);
  return status.st_uid;
}

// In a folder that others may write to, a capture of that name may be anybody's.
std::vector<fs::path> own_captures(const ProfileCommand& command, bool quiet) {
  std::vector<fs::path> captures = captures_in(command.outputs.directory, command.outputs.base_name);
  if (captures.empty()) return captures;
  std::erase_if(captures, [quiet, owner = owner_in(command.outputs.directory)](const fs::path& capture) {
    struct stat status {};
    if (lstat(capture.c_str(), &status) != 0 || (status.st_uid == owner && S_ISREG(status.st_mode))) return false;
    if (!quiet) say("dlkprof: {} is left out: it is another user's, or no file\n", printable(capture.native()));
    return true;
  });
  return captures;
}

// Each once, beside their folding: the program has ended and waits for nothing, and a node that fails later loses none of them.
std::future<void> flush_beside(const std::vector<fs::path>& captures, bool quiet) {
  return std::async(std::launch::async, [captures, quiet] {
    for (const fs::path& capture : captures) {
      const std::error_code failure = flush_file(capture);
      if (!failure || quiet) continue;
      say("dlkprof: {} may not be on its disk yet: {}. It is whole as long as this machine runs: copy it to another disk.\n",
          printable(capture.native()), failure.message());
    }
  });
}

// Whether a database was written.
bool report_captures(const ProfileCommand& command, const cupti::Catalogue& catalogue, const ChildResult& program) {
  const bool quiet = command.verbosity == Verbosity::quiet;
  const auto captures = own_captures(command, quiet);
  if (captures.empty()) {
    if (!quiet) {
      say("dlkprof: no capture was made: either the program launched no CUDA kernel, or dlkprof's library was not in it when it "
          "did "
          "(the program clears its environment, goes on in the background, or is itself a profiler), or could not write (then it "
          "says so above)\n");
    }
    return false;
  }
  const std::future<void> flushed = flush_beside(captures, quiet);  // waits at the end
  model::Timeline timeline = model::load_timeline(captures);
  note_ending(timeline, program);
  const model::Profile profile = analyse_somehow(std::move(timeline), command.folding);
  if (!quiet) show(profile, command);
  for (const auto& file : write_files(profile, command, catalogue)) {
    if (!quiet) say("dlkprof: wrote {}\n", printable(file.string()));
  }
  if (command.without_ops && !quiet)
    say("dlkprof: no ops, iterations and database, as only kernels were picked: add --mode pytorch\n");
  return command.outputs.database;
}

// The program has run, and its exit code is what counts: whatever goes wrong now is said, and no more.
bool report_unharmed(const ProfileCommand& command, const cupti::Catalogue& catalogue, const ChildResult& program) {
  const KeptMemory memory;
  const IgnoredSignal guard(SIGXFSZ);  // a file that may not grow (ulimit -f) is to be an error, not our end
  try {
    return report_captures(command, catalogue, program);
  } catch (const std::exception& failure) {
    say("dlkprof: {}\n", words_of(failure, captures_in(command.outputs.directory, command.outputs.base_name)));
    return false;
  }
}

// What is not to pass for this run's where it leaves none, after check_place().
void remove_earlier(const Outputs& outputs) {
  if (!outputs.force) return;  // then nothing of that name was there
  std::error_code ignored;
  for (const auto& file : earlier_files(outputs, captures_in(outputs.directory, outputs.base_name))) {
    if (!fs::is_directory(fs::symlink_status(file, ignored))) fs::remove(file, ignored);
  }
}

// Another tool of the user's is not loaded then, and would be looked for in vain.
void say_what_is_replaced(const fs::path& library) {
  for (const char* name : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"}) {
    const char* const set = std::getenv(name);
    if (set == nullptr || *set == '\0' || set == library.native()) continue;
    say("dlkprof: {} is {}: that library is not loaded into the program, as there can be only one, and dlkprof sets its own\n",
        name, printable(set));
  }
}

ChildResult run_program(const ProfileCommand& command) {
  const auto library = injected_library();
  const auto python = python_environment(command);
  const auto options = options_for(command);
  Progress progress(command.outputs.directory, command.outputs.base_name, expected_launches(options));
  const auto environment = [&](int pid) {
    auto variables = injection_environment(options, library, pid);
    variables.insert(python.begin(), python.end());
    return variables;
  };
  if (command.verbosity != Verbosity::quiet) say_what_is_replaced(library);
  const bool talk = command.verbosity >= Verbosity::normal;
  return run_child(command.program, environment, kTick, [&] {
    if (talk) progress.update();
  });
}

}  // namespace

capture::ProfileOptions options_for(const ProfileCommand& command) {
  auto options = command.options;
  options.output_directory = command.outputs.directory.string();
  options.base_name = command.outputs.base_name;
  options.fingerprint = fingerprint_of(command);
  return options;
}

void check_profile(const ProfileCommand& command, const cupti::Catalogue& catalogue) {
  cupti::require_profiler();
  (void)select::Selector::compile(command.options.selection);
  check_metrics_exist(command.extra_metrics, catalogue, command.options.cupti_path);
  (void)injected_library();
  (void)python_environment(command);
}

void check_place(ProfileCommand& command) {
  auto& folder = command.outputs.directory;
  std::error_code error;
  if (folder.empty()) folder = ".";
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
  if (valid_utf8(folder.native()) != folder.native()) {
    throw UsageError("captures cannot be written to " + printable(folder.native()), "the folder's name is not UTF-8",
                     "Name another with --output_path.");
  }
  try {
    (void)capture::to_json(options_for(command));
  } catch (const Error& failure) {  // in the child it would be too late
    throw UsageError(failure.what(), failure.detail(), failure.remedy());
  }
  const auto captures = captures_in(folder, command.outputs.base_name);
  if (command.outputs.force || captures.empty()) return;
  throw UsageError(printable(captures.front().string()) + " is there already", "",
                   "Give --force to replace it, or another --base_name or --output_path.");
}

ProfileOutcome profile(ProfileCommand command, const cupti::Catalogue& catalogue) {
  check_place(command);
  remove_earlier(command.outputs);
  ProfileOutcome outcome;
  try {
    outcome.program = run_program(command);
  } catch (const CannotStart& failure) {
    outcome.program.exit_code = failure.exit_code();
    outcome.not_started = failure.what();
    return outcome;
  }
  const IgnoredSignal guard(SIGPIPE);  // what is left to do is not to be lost where nobody reads what we say
  if (outcome.program.signal != 0 && command.verbosity != Verbosity::quiet) {
    const int signal = outcome.program.signal;
    say("dlkprof: the program was ended by signal {} ({})\n", signal, strsignal(signal));
  }
  outcome.has_database = report_unharmed(command, catalogue, outcome.program);
  return outcome;
}

}  // namespace dlkprof::cli
