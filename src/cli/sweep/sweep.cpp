// dlkprof sweep: a program profiled with each of several values, and compared.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "capture/ranks.h"
#include "cli/arguments.h"
#include "cli/installation.h"
#include "cli/sweep/sweep_command.h"
#include "cli/verbs.h"

namespace dlkprof::cli {
namespace {

constexpr const char* kExample = "Example: dlkprof sweep -L batch_size 4,512 -- python train.py --batch_size {batch_size}";

void add_sweeping(CLI::App& app, std::vector<std::string>& lists, SweepCommand& command) {
  const auto group = [](CLI::Option* option) { return option->group("Sweeping"); };
  group(app.add_option("-L,--parameter-list", lists,
                       "A name, and values separated by commas for {name} in the program's arguments; may be repeated: all "
                       "combinations are run, at most 16"))
      ->type_size(2)
      ->type_name("<name> <value,value>")
      ->allow_extra_args(false);
  group(app.add_flag("--resume", command.resume,
                     "Keep the runs that are there already, made by the same command with the same options"));
  group(app.add_flag("--dry-run", command.dry_run, "Print the databases and the commands, and run nothing"));
  group(app.add_option("--format", command.comparison.format, "The comparison on stdout"))
      ->check(one_of({"table", "csv", "json"}))
      ->capture_default_str();
  group(app.add_option("--compare_formats", command.comparison.formats, "Write it to <base_name>_compare.<format> instead"))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(one_of({"csv", "json"}));
}

std::vector<Parameter> parameters_of(const std::vector<std::string>& lists) {
  if (lists.empty()) throw UsageError("there is nothing to sweep over", "", kExample);
  std::vector<Parameter> parameters;
  for (std::size_t i = 0; i + 1 < lists.size(); i += 2) parameters.push_back(parse_parameter(lists[i], lists[i + 1]));
  const bool compares = std::any_of(parameters.begin(), parameters.end(), [](const auto& one) { return one.values.size() > 1; });
  if (!compares)
    throw UsageError("there is nothing to compare: one value gives one run", "", "Give two values: -L batch_size 4,512");
  return parameters;
}

// Each rank would sweep by itself, in the others' way; --ranks keeps single programs from being profiled, not sweeps.
void check_is_not_of_launcher(const std::string& ranks) {
  if (!capture::is_of_another_rank(ranks)) return;
  throw UsageError(
      "a sweep is started once, not by each rank",
      fmt::format("this is rank {}, which is not among --ranks {}", capture::rank_of_process().value_or(0), printable(ranks, 80)),
      "Start the launcher from the sweep: dlkprof sweep ... -- mpirun ...");
}

std::optional<SweepCommand> parse_sweep(int argc, char** argv, const cupti::Catalogue& catalogue) {
  CLI::App app(
      "Profiles a program once with each combination of values, and compares the runs. {name} in the program's arguments "
      "stands for the value.",
      "dlkprof sweep");
  SweepCommand command;
  std::vector<std::string> lists;
  add_sweeping(app, lists, command);
  ProfileArguments arguments(app, catalogue);
  auto parsed = parse(app, argc, argv, OptionsEnd::at_positional);
  if (parsed.done) return std::nullopt;
  command.parameters = parameters_of(lists);
  if (parsed.program.empty()) throw UsageError("there is no program to profile", "", kExample);
  command.profile = arguments.command(std::move(parsed.program), catalogue, Purpose::comparing);
  check_is_not_of_launcher(command.profile.options.ranks);
  if (command.profile.folding.simple()) {
    throw UsageError("simple mode has neither ops nor iterations to compare", "", "Leave out --mode=simple.");
  }
  command.comparison.to_files = !command.comparison.formats.empty();
  return command;
}

}  // namespace

int run_sweep(int argc, char** argv) {
  const auto catalogue = load_catalogue();
  const auto command = parse_sweep(argc, argv, catalogue);
  return command ? sweep(*command, catalogue) : 0;
}

}  // namespace dlkprof::cli
