// dlkprof report: tables and data from a capture or a database.

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/adding_options.h"
#include "cli/arguments.h"
#include "cli/captures.h"
#include "cli/installation.h"
#include "cli/jobs/job_report.h"
#include "cli/report_command.h"
#include "cli/run_loader.h"
#include "cli/verbs.h"
#include "job/reports.h"
#include "report/registry.h"

namespace dlkprof::cli {
namespace {

std::vector<std::string> known_reports() {
  std::vector<std::string> names = report::known_names();
  for (std::string& name : job::job_report_names()) names.push_back(std::move(name));
  return names;
}

// What options that were given mean for the others.
void settle(ReportCommand& command, const std::string& kernels, const std::string& directory, const std::string& base_name) {
  check_cupti_path(command.cupti_path);
  if (!kernels.empty()) command.kernels = std::stoul(kernels);
  Outputs& outputs = command.outputs;
  command.to_files = !outputs.formats.empty() || !directory.empty();
  if (command.to_files && outputs.formats.empty()) outputs.formats = {"csv"};
  if (!directory.empty()) outputs.directory = directory;
  std::error_code ignored;
  const bool is_folder = std::filesystem::is_directory(command.file, ignored);
  if (!base_name.empty()) {
    outputs.base_name = base_name;
  } else if (!is_folder) {
    outputs.base_name = run_name(command.file);
  }
}

bool parse_report(int argc, char** argv, ReportCommand& command) {
  CLI::App app("Shows reports of a capture or a database, or writes them to files. No GPU is needed.", "dlkprof report");
  std::string directory;
  std::string base_name;
  std::string kernels;
  command.outputs.reports.clear();
  app.option_defaults()->group("Reporting");
  const auto add = adding_options(app);
  const auto list = [&add](const char* names, std::vector<std::string>& values, const char* type, const char* help) {
    return add(names, values, type, help)->delimiter(',')->allow_extra_args(false);
  };
  add("file", command.file, "<file>",
      "A capture (.dlkcap), a database (.sqlite), a folder with captures, a job's database (dlkprof merge), or an SQLite file "
      "of Nsight Systems")
      ->required();
  list("--reports", command.outputs.reports, "<report,report>",
       "Reports to show; tables and files take several, csv, json and svg on stdout one")
      ->check(suggested(known_reports()));
  add("--format", command.format, "<format>", "What stdout gets; svg is of the report roofline alone")
      ->check(one_of({"table", "csv", "json", "markdown", "svg"}))
      ->capture_default_str();
  add("-k,--kernel-name", command.kernel_name, "<name>",
      "Show rows of this kernel or op alone; regex:<pattern> for part of a name");
  add("--top", command.choice.top, "<n>", "Show n rows; 0 shows all (default: 20 in a table, else all)")->check(not_negative());
  add("--sort", command.choice.sort, "<column>", "Sort by a column: numbers falling, names rising");
  list("--columns", command.choice.columns, "<column,column>",
       "Show these columns, by heading or by name in csv, with or without the unit");
  app.add_flag("--kernels{5}", kernels, "Show the counters of the n longest kernels, section by section; 0: of all (default: 5)")
      ->type_name("[=<n>]")
      ->check(not_negative());
  add("--by", command.by, "<what>", "Show ops in groups: layer, op, type, module, direction or kernel")
      ->check(one_of({model::by_names().begin(), model::by_names().end()}));
  add("--set", command.set, "<set>", "Show the sections of a set (dlkprof metrics --list-sets)");
  list("--section", command.sections, "<section,section>", "Show these sections (dlkprof metrics --list-sections)");
  list("--metrics", command.metrics, "<metric,metric>", "Show these too, where their counters were kept (--keep-counters)");
  list("--formats", command.outputs.formats, "<format,format>",
       "Write files instead: csv (names as they are, not made safe for spreadsheets), json; of roofline also svg")
      ->check(suggested({"csv", "json", "svg"}));
  add("--output_path", directory, "<folder>", "Write files to this folder");
  add("--base_name", base_name, "<name>", "Prefix of the files' names (default: the file's name)");
  app.add_flag("--dump_model_data", command.outputs.model_data, "Write ops, instances and iterations to <base_name>_model.json");
  app.add_flag("-f,--force", command.outputs.force, "Replace files that are there");
  add("--cupti-path", command.cupti_path, "<path>", "The libcupti to evaluate counters with, or its folder");
  add_folding(app, command.folding);
  if (parse(app, argc, argv).done) return false;

  settle(command, kernels, directory, base_name);
  return true;
}

}  // namespace

int run_report(int argc, char** argv) {
  ReportCommand command;
  if (!parse_report(argc, argv, command)) return 0;
  if (job::is_job_database(command.file)) return report_job(command);
  return report_again(std::move(command));
}

}  // namespace dlkprof::cli
