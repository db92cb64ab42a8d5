// Profiling, which is what dlkprof does where no verb is named.

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/say.h"
#include "base/text.h"
#include "capture/ranks.h"
#include "cli/installation.h"
#include "cli/profile/child.h"
#include "cli/profile/dry_run.h"
#include "cli/profile/profile_command.h"
#include "cli/report_command.h"
#include "cli/verbs.h"
#include "select/selector.h"

namespace dlkprof::cli {
namespace {

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
  again.to_files = command.reports_named;
  if (!command.reports_named) again.outputs.reports.clear();
  again.folding = command.folding;
  again.keeps = true;
  return report_again(std::move(again));
}

// A launcher that starts dlkprof once a rank expects the program of each.
int run_unprofiled(const ProfileCommand& command) {
  if (command.verbosity >= Verbosity::normal) {
    say("dlkprof: rank {} is not among --ranks {}, and is not profiled\n", capture::rank_of_process().value_or(0),
        printable(command.options.ranks, 80));
  }
  try {
    return run_child(
               command.program, [](int) { return std::map<std::string, std::string>(); }, std::chrono::seconds(1), [] {})
        .exit_code;
  } catch (const CannotStart& failure) {
    say("dlkprof: the program cannot be started: {}\n", failure.what());
    return failure.exit_code();
  }
}

}  // namespace

int run_profile(int argc, char** argv) {
  const auto catalogue = load_catalogue();
  auto command = parse_profile(argc, argv, catalogue);
  if (!command) return 0;
  if (command->dry_run) {
    (void)select::Selector::compile(command->options.selection);
    print_dry_run(*command, command->chip);
    return 0;
  }
  if (!command->database.empty()) {
    if (!command->program.empty()) {
      throw UsageError("--database runs no program, and one is given: " + printable(command->program.front()), "",
                       "Leave out one of the two.");
    }
    return report_database(*command);
  }
  if (command->program.empty()) {
    throw UsageError("there is no program to profile", "", "Example: dlkprof --kernel-id ::regex:gemm: python train.py");
  }
  if (capture::is_of_another_rank(command->options.ranks)) return run_unprofiled(*command);
  check_profile(*command, catalogue);
  const ProfileOutcome outcome = profile(std::move(*command), catalogue);
  if (!outcome.not_started.empty()) say("dlkprof: the program cannot be started: {}\n", outcome.not_started);
  return outcome.program.exit_code;
}

}  // namespace dlkprof::cli
