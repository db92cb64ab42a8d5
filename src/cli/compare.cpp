// dlkprof compare: what changes between runs.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/compare_command.h"
#include "cli/verbs.h"

namespace dlkprof::cli {
namespace {

bool parse_compare(int argc, char** argv, CompareCommand& command) {
  CLI::App app("Compares runs, op by op and as a whole, such as those of two batch sizes; no GPU is needed.", "dlkprof compare");
  std::string directory;
  const auto listed = [](CLI::Option* option) { return option->delimiter(',')->allow_extra_args(false); };
  app.add_option("runs", command.files,
                 "2 to 16 captures (.dlkcap), databases (.sqlite) or folders with captures; the first is what the others are "
                 "compared with")
      ->required();
  app.add_option("--format", command.format, "What stdout gets")
      ->check(CLI::IsMember({"table", "csv", "json", "html"}))
      ->capture_default_str();
  listed(app.add_option("--labels", command.labels, "What the runs are called, in their order; default: the files' names"));
  listed(app.add_option("--batch_sizes", command.batch_sizes,
                        "Samples an iteration of the runs, in their order; default: as the program's framework said"))
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 53U));
  listed(app.add_option("--formats", command.formats, "Write files: csv, json, html"))
      ->check(CLI::IsMember({"csv", "json", "html"}));
  app.add_option("--output_path", directory, "Write files to this folder");
  app.add_option("--base_name", command.base_name, "What their names begin with, and those of the captures in folders")
      ->capture_default_str();
  app.add_flag("-f,--force", command.force, "Replace files that are there");
  add_folding(app, command.folding);
  if (parse(app, argc, argv).done) return false;
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
