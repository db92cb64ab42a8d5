// dlkprof report: tables and data from a capture.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/installation.h"
#include "cli/outputs.h"
#include "cli/verbs.h"
#include "report/asked.h"
#include "report/csv.h"
#include "report/json.h"
#include "report/kernel_tables.h"
#include "report/summary.h"
#include "report/units.h"

namespace dlkprof::cli {
namespace {

struct ReportCommand {
  std::string file, format = "table", set, cupti_path;
  std::vector<std::string> sections, metrics;
  Outputs outputs;
  bool to_files = false;
};

bool parse_report(int argc, char** argv, ReportCommand& command) {
  CLI::App app("Reports from a capture; no GPU is needed.", "dlkprof report");
  std::string directory;
  std::string base_name;
  command.outputs.reports.clear();
  const auto list = [&app](const char* name, std::vector<std::string>& values, const char* help) {
    return app.add_option(name, values, help)->delimiter(',')->allow_extra_args(false);
  };
  app.add_option("file", command.file, "A capture: a .dlkcap file")->required();
  list("--reports", command.outputs.reports, "metrics, kernels, summary; on stdout one, in files any");
  app.add_option("--format", command.format, "What stdout gets")
      ->check(CLI::IsMember({"table", "csv", "json"}))
      ->capture_default_str();
  app.add_option("--set", command.set, "Show the sections of a set (dlkprof metrics --list-sets)");
  list("--section", command.sections, "Show a section; may be repeated (dlkprof metrics --list-sections)");
  list("--metrics", command.metrics, "Show these too, where their counters were kept (--keep-counters)");
  list("--formats", command.outputs.formats, "Write files: csv, json");
  app.add_option("--output_path", directory, "Write files to this folder");
  app.add_option("--base_name", base_name, "What their names begin with; default: the capture's name");
  app.add_flag("-f,--force", command.outputs.force, "Replace files that are there");
  app.add_option("--cupti-path", command.cupti_path, "The libcupti to evaluate counters with");
  if (parse(app, argc, argv).done) return false;

  Outputs& outputs = command.outputs;
  command.to_files = !outputs.formats.empty() || !directory.empty();
  if (command.to_files && outputs.formats.empty()) outputs.formats = {"csv"};
  if (!directory.empty()) outputs.directory = directory;
  outputs.base_name = base_name.empty() ? std::filesystem::path(command.file).stem().string() : base_name;
  if (outputs.reports.empty()) {
    const bool tables = command.format == "table" && !command.to_files;
    outputs.reports = tables ? std::vector<std::string>{"kernels", "summary"} : std::vector<std::string>{"metrics"};
  }
  return true;
}

void check_command(const ReportCommand& command) {
  check_outputs(command.outputs);
  if (!command.to_files && command.format != "table" && command.outputs.reports.size() > 1) {
    throw UsageError(fmt::format("stdout takes one report as {}", command.format), "",
                     fmt::format("Name one with --reports, or write files: --output_path . --formats {}", command.format));
  }
}

// What the command line asks to be shown, else what the capture was asked for.
report::Asked choose_sections(const ReportCommand& command, const model::Run& run, const cupti::Catalogue& catalogue) {
  report::Asked chosen;
  if (command.set.empty() && command.sections.empty()) {
    chosen = report::asked_of(run, catalogue);
  } else {
    std::vector<std::string> names = command.sections;
    if (!command.set.empty()) {
      const cupti::MetricSet& set = catalogue.set(command.set);
      names.insert(names.begin(), set.sections.begin(), set.sections.end());
    }
    for (const std::string& name : names) chosen.sections.push_back(catalogue.section(name));
  }
  for (const std::string& metric : command.metrics) {
    if (std::find(chosen.metrics.begin(), chosen.metrics.end(), metric) == chosen.metrics.end()) chosen.metrics.push_back(metric);
  }
  return chosen;
}

std::string as_table(const model::Run& run, const std::string& name, const report::Asked& chosen, const ReportInputs& inputs) {
  if (name == "kernels") {
    return report::kernel_tables(run, {chosen.sections, chosen.metrics, is_styled(STDOUT_FILENO)});
  }
  if (name == "summary") return report::summary(run);
  return report::to_text(make_report(run, name, inputs));
}

void print_reports(const ReportCommand& command, const model::Run& run, const report::Asked& chosen, const ReportInputs& inputs) {
  std::string text;
  for (const std::string& name : command.outputs.reports) {
    if (!text.empty()) text += "\n";
    if (command.format == "csv") {
      text += report::to_csv(make_report(run, name, inputs));
    } else if (command.format == "json") {
      text += report::to_json(make_report(run, name, inputs));
    } else {
      text += as_table(run, name, chosen, inputs);
    }
  }
  print_data(text);
}

// A report as data does not say what is wrong with the capture; whoever reads it shall see it once.
void print_warnings(const model::Run& run) {
  for (const capture::NoticeRecord& notice : run.notices) {
    if (notice.severity == capture::Severity::info) continue;
    const Error words(printable(notice.what), printable(notice.detail), printable(notice.remedy));
    fmt::print(stderr, "dlkprof: {}\n", words.message());
  }
}

}  // namespace

int run_report(int argc, char** argv) {
  ReportCommand command;
  if (!parse_report(argc, argv, command)) return 0;
  check_command(command);
  const cupti::Catalogue catalogue = load_catalogue();
  const model::Run run =
      model::load_run(command.file, {.evaluate_raw = true, .cupti_path = command.cupti_path, .metrics = command.metrics});
  const report::Asked chosen = choose_sections(command, run, catalogue);
  const ReportInputs inputs{chosen.sections, report::unit_lookup(catalogue, run, command.cupti_path)};
  if (command.to_files) {
    for (const std::filesystem::path& file : write_reports(run, command.outputs, inputs)) {
      fmt::print(stderr, "dlkprof: wrote {}\n", printable(file.string()));
    }
  } else {
    print_reports(command, run, chosen, inputs);
  }
  const std::vector<std::string>& reports = command.outputs.reports;
  const bool told =
      !command.to_files && command.format == "table" && std::find(reports.begin(), reports.end(), "summary") != reports.end();
  if (!told) print_warnings(run);
  return 0;
}

}  // namespace dlkprof::cli
