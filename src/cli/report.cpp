// dlkprof report: tables and data from a capture or a database.

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/arguments.h"
#include "cli/report_command.h"
#include "cli/verbs.h"
#include "report/registry.h"

namespace dlkprof::cli {
namespace {

// "dlkprof" for dlkprof_dldb.sqlite and for dlkprof.dlkcap.
std::string base_name_of(const std::string& file) {
  constexpr std::string_view kDatabase = "_dldb";
  std::string name = std::filesystem::path(file).stem().string();
  if (name.size() > kDatabase.size() && name.ends_with(kDatabase)) name.resize(name.size() - kDatabase.size());
  return name;
}

bool parse_report(int argc, char** argv, ReportCommand& command) {
  CLI::App app("Reports from a capture or a database; no GPU is needed.", "dlkprof report");
  std::string directory;
  std::string base_name;
  command.outputs.reports.clear();
  const auto list = [&app](const char* name, std::vector<std::string>& values, const std::string& help) {
    return app.add_option(name, values, help)->delimiter(',')->allow_extra_args(false);
  };
  app.add_option("file", command.file, "A capture (.dlkcap), a database (.sqlite), or a folder with captures")->required();
  list("--reports", command.outputs.reports, report::describe_names() + ". As csv or json stdout takes one");
  app.add_option("--format", command.format, "What stdout gets; svg of roofline alone")
      ->check(CLI::IsMember({"table", "csv", "json", "svg"}))
      ->capture_default_str();
  app.add_option("-k,--kernel-name", command.kernel_name,
                 "Show rows of this kernel or op alone; regex:<pattern> for part of a name");
  app.add_option("--top", command.choice.top, "Show so many rows; 0 shows all; default: 20 in a table, else all")
      ->check(not_negative());
  app.add_option("--sort", command.choice.sort, "Sort by a column: numbers falling, names rising");
  list("--columns", command.choice.columns, "Show these columns, by name, with or without the unit");
  app.add_option("--set", command.set, "Show the sections of a set (dlkprof metrics --list-sets)");
  list("--section", command.sections, "Show a section; may be repeated (dlkprof metrics --list-sections)");
  list("--metrics", command.metrics, "Show these too, where their counters were kept (--keep-counters)");
  list("--formats", command.outputs.formats, "Write files: csv, json; of roofline also svg");
  app.add_option("--output_path", directory, "Write files to this folder");
  app.add_option("--base_name", base_name, "What their names begin with; default: the file's name");
  app.add_flag("--dump_model_data", command.outputs.model_data, "Write ops, instances and iterations to <base_name>_model.json");
  app.add_flag("-f,--force", command.outputs.force, "Replace files that are there");
  app.add_option("--cupti-path", command.cupti_path, "The libcupti to evaluate counters with");
  add_folding(app, command.folding);
  if (parse(app, argc, argv).done) return false;

  Outputs& outputs = command.outputs;
  command.to_files = !outputs.formats.empty() || !directory.empty();
  if (command.to_files && outputs.formats.empty()) outputs.formats = {"csv"};
  if (!directory.empty()) outputs.directory = directory;
  std::error_code ignored;
  const bool is_folder = std::filesystem::is_directory(command.file, ignored);
  if (!base_name.empty()) {
    outputs.base_name = base_name;
  } else if (!is_folder) {
    outputs.base_name = base_name_of(command.file);
  }
  return true;
}

}  // namespace

int run_report(int argc, char** argv) {
  ReportCommand command;
  if (!parse_report(argc, argv, command)) return 0;
  return report_again(std::move(command));
}

}  // namespace dlkprof::cli
