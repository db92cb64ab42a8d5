#include "cli/sweep/sweep_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/say.h"
#include "base/text.h"
#include "cli/ignored_signal.h"
#include "cli/installation.h"
#include "cli/profile/end_signals.h"
#include "cli/profile/profile_command.h"
#include "cli/sweep/earlier_run.h"

namespace dlkprof::cli {
namespace {

constexpr int kFailed = 1, kEndedBySignal = 128;  // + the signal

// A run and what became of it.
struct SweepRun {
  PlannedRun plan;
  ProfileCommand profile;
  bool done = false;      // its database can be compared
  bool kept = false;      // an earlier sweep made it
  bool refolded = false;  // it is kept, but first to be folded as this sweep asks
  std::string failure;    // in words; empty where it was not started or is done
};

std::vector<SweepRun> runs_of(const SweepCommand& command) {
  std::vector<SweepRun> runs;
  for (PlannedRun& plan : plan_sweep(command.parameters, command.profile.program, command.profile.outputs.base_name)) {
    SweepRun run{std::move(plan), command.profile};
    run.profile.program = run.plan.program;
    run.profile.outputs.base_name = run.plan.base_name;
    runs.push_back(std::move(run));
  }
  return runs;
}

std::string shown_label(const SweepRun& run) { return printable(run.plan.label, 120); }

// Keeps what is complete, and lets what is incomplete be replaced.
void resume_run(SweepRun& run) {
  Outputs& outputs = run.profile.outputs;
  const EarlierRun earlier = earlier_run_of(run.profile);
  run.done = earlier == EarlierRun::complete;
  run.refolded = earlier == EarlierRun::refolded;
  run.kept = run.done || run.refolded;
  if (earlier == EarlierRun::incomplete) outputs.force = true;
  if (earlier == EarlierRun::other && !outputs.force) {
    throw UsageError(fmt::format("the files {} were not made by this command with these options",
                                 printable((outputs.directory / outputs.base_name).string())),
                     "", "Give --force as well to make that run again, or another --base_name or --output_path.");
  }
}

CompareCommand comparison_of(const SweepCommand& command, const std::vector<SweepRun>& runs) {
  CompareCommand comparison = command.comparison;
  const Outputs& outputs = command.profile.outputs;
  comparison.directory = outputs.directory;
  comparison.base_name = outputs.base_name;
  comparison.force = outputs.force || command.resume;  // one of fewer runs is out of date
  for (const SweepRun& run : runs) {
    if (!run.done) continue;
    comparison.files.push_back(database_file(run.profile.outputs).string());
    comparison.labels.push_back(run.plan.label);
    if (run.plan.batch_size) comparison.batch_sizes.push_back(*run.plan.batch_size);
  }
  return comparison;
}

// All that can be found wrong, before the first program starts.
void check_sweep(const SweepCommand& command, const cupti::Catalogue& catalogue, std::vector<SweepRun>& runs) {
  check_profile(command.profile, catalogue);
  check_comparison_files(comparison_of(command, {}));
  for (SweepRun& run : runs) {
    if (!run.kept) check_place(run.profile);
  }
}

// Why a run is not one to compare; empty where it is.
std::string failure_of(const ProfileOutcome& outcome) {
  const ChildResult& program = outcome.program;
  if (!outcome.not_started.empty()) return outcome.not_started;
  if (program.signal != 0) return fmt::format("ended by signal {} ({})", program.signal, strsignal(program.signal));
  if (program.exit_code != 0) return fmt::format("exit code {}", program.exit_code);
  return outcome.has_database ? "" : "it left nothing to compare";
}

// Returns the signal that told us to end meanwhile, or 0.
int make_run(SweepRun& run, const cupti::Catalogue& catalogue) {
  ProfileOutcome outcome;
  try {
    if (run.refolded) {
      fold_again(run.profile);
    } else {
      outcome = profile(run.profile, catalogue);
      run.failure = failure_of(outcome);
    }
  } catch (const Error& error) {  // what was checked has changed meanwhile, or there are no processes left
    run.failure = error.message();
  }
  run.done = run.failure.empty();
  return outcome.program.told_to_end != 0 ? outcome.program.told_to_end : EndSignals::noted();
}

// One run after the other. Returns the signal that ended it early, or 0.
int make_runs(std::vector<SweepRun>& runs, const cupti::Catalogue& catalogue) {
  const EndSignals guard;
  int signal = 0;
  for (std::size_t i = 0; i < runs.size() && signal == 0; ++i) {
    SweepRun& run = runs[i];
    const std::string which = fmt::format("run {} of {}, {}", i + 1, runs.size(), shown_label(run));
    if (run.profile.verbosity != Verbosity::quiet) {
      const char* kept = run.refolded ? ": is there already, and is folded again" : ": is there already";
      say("dlkprof: {}{}\n", which, run.kept ? kept : "");
    }
    if (run.done) continue;
    signal = make_run(run, catalogue);
    if (!run.done) say("dlkprof: {}, failed: {}\n", which, run.failure);
  }
  return signal;
}

// What has to be known before the comparison is read.
void tell_what_is_missing(const std::vector<SweepRun>& runs) {
  const auto done = static_cast<std::size_t>(std::count_if(runs.begin(), runs.end(), [](const auto& run) { return run.done; }));
  std::string missing;
  for (const SweepRun& run : runs) {
    if (!run.done) {
      missing += fmt::format("\n  {}: {}", shown_label(run), run.failure.empty() ? "not started" : "failed, " + run.failure);
    }
  }
  if (!missing.empty()) say("dlkprof: {} of {} runs are missing:{}\n", runs.size() - done, runs.size(), missing);
  if (done < kLeastRuns) say("dlkprof: there is nothing to compare: that takes {} runs\n", kLeastRuns);
}

// Whether it was made. What goes wrong is said, and no more: how the runs ended is the sweep's exit code.
bool compare_somehow(const CompareCommand& comparison) {
  const IgnoredSignal guard(SIGXFSZ);  // a file that may not grow (ulimit -f) is an error as well
  try {
    return compare_runs(comparison) == 0;
  } catch (const std::exception& failure) {
    const auto* error = dynamic_cast<const Error*>(&failure);
    say("dlkprof: the runs cannot be compared: {}\n", error != nullptr ? error->message() : failure.what());
    return false;
  }
}

// As it would be typed in a shell.
std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted;
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return "'" + printable(quoted) + "'";
}

void print_runs(const std::vector<SweepRun>& runs) {
  for (const SweepRun& run : runs) {
    std::string line = printable(database_file(run.profile.outputs).string()) + (run.kept ? " (is there already):" : ":");
    for (const std::string& word : run.plan.program) line += " " + shell_word(word);
    print_data(line + "\n");
  }
}

}  // namespace

int sweep(const SweepCommand& command, const cupti::Catalogue& catalogue) {
  std::vector<SweepRun> runs = runs_of(command);
  if (command.resume) std::for_each(runs.begin(), runs.end(), resume_run);
  if (command.dry_run) {
    print_runs(runs);
    return 0;
  }
  check_sweep(command, catalogue, runs);
  remove_comparison_files(comparison_of(command, {}));
  const int signal = make_runs(runs, catalogue);
  tell_what_is_missing(runs);
  const CompareCommand comparison = comparison_of(command, runs);
  const bool compared = comparison.files.size() < kLeastRuns || compare_somehow(comparison);
  if (signal != 0) return kEndedBySignal + signal;
  return compared && comparison.files.size() == runs.size() ? 0 : kFailed;
}

}  // namespace dlkprof::cli
