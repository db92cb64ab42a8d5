// Profiling, which is what dlkprof does where no verb is named.

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "base/error.h"
#include "cli/installation.h"
#include "cli/profile_command.h"
#include "cli/report_command.h"
#include "cli/verbs.h"

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
  check_profile(*command);
  const ProfileOutcome outcome = profile(std::move(*command), catalogue);
  if (!outcome.not_started.empty()) fmt::print(stderr, "dlkprof: the program cannot be started: {}\n", outcome.not_started);
  return outcome.program.exit_code;
}

}  // namespace dlkprof::cli
