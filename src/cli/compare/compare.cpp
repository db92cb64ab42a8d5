// dlkprof compare: what changes between runs.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/adding_options.h"
#include "cli/arguments.h"
#include "cli/compare/compare_command.h"
#include "cli/verbs.h"

namespace dlkprof::cli {
namespace {

bool parse_compare(int argc, char** argv, CompareCommand& command) {
  CLI::App app("Compares runs, op by op and as a whole, such as those of two batch sizes. No GPU is needed.", "dlkprof compare");
  std::string directory;
  app.option_defaults()->group("Comparing");
  const auto add = adding_options(app);
  const auto listed = [](CLI::Option* option) { return option->delimiter(',')->allow_extra_args(false); };
  add("runs", command.files, "<run>",
      "2 to 16 captures (.dlkcap), databases (.sqlite) or folders with captures, or 2 to 16 databases of jobs; the others "
      "are compared with the first")
      ->required();
  add("--format", command.format, "<format>", "What stdout gets")->check(one_of({"table", "csv", "json"}))->capture_default_str();
  listed(add("--labels", command.labels, "<label,label>", "Names of the runs, in order (default: the files' names)"));
  listed(
      add("--batch_sizes", command.batch_sizes, "<n,n>", "Samples per iteration of each run (default: what the framework told)"))
      ->check(whole_number(1, std::uint64_t{1} << 53U));
  const CLI::Option* gate =
      add("--gate", command.gate, "<file>", "End with 3 where a rule of this file is broken (docs/user/compare.md)");
  listed(add("--formats", command.formats, "<format,format>", "Write files instead"))->check(one_of({"csv", "json"}));
  add("--output_path", directory, "<folder>", "Write files to this folder");
  add("--base_name", command.base_name, "<name>", "Prefix of the files' names, and of those of the captures in folders")
      ->capture_default_str();
  app.add_flag("-f,--force", command.force, "Replace files that are there");
  add_folding(app, command.folding);
  if (parse(app, argc, argv).done) return false;
  // As a pipeline gives it whose variable is not set: a gate that is not there must not pass.
  if (gate->count() > 0 && command.gate.empty()) throw UsageError("--gate names no file", "", "Give the path of the rules.");
  command.to_files = !command.formats.empty() || !directory.empty();
  if (command.to_files && command.formats.empty()) command.formats = {"csv"};
  if (!directory.empty()) command.directory = directory;
  return true;
}

}  // namespace

int run_compare(int argc, char** argv) {
  CompareCommand command;
  return parse_compare(argc, argv, command) ? compare_runs(command) : 0;
}

}  // namespace dlkprof::cli
