#include "cli/jobs/job_report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/error.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/installation.h"
#include "cli/outputs.h"
#include "job/reports.h"
#include "report/format/csv.h"
#include "report/format/json.h"
#include "report/format/markdown.h"

namespace dlkprof::cli {
namespace {

const job::JobReport& job_report_of(const std::string& name) {
  const auto& all = job::job_reports();
  const auto found = std::find_if(all.begin(), all.end(), [&name](const auto& one) { return name == one.name; });
  if (found != all.end()) return *found;
  const std::vector<std::string> names = job::job_report_names();
  throw UsageError(
      "there is no report " + printable(name, 80) + " of a job", "",
      fmt::format("There are: {}. For reports of one rank name its own capture or database.", fmt::join(names, ", ")));
}

void check_job_command(const ReportCommand& command) {
  if (command.folding.is_asked() || !command.by.empty() || command.kernels || !command.sections.empty() || !command.set.empty()) {
    throw UsageError("a job's database holds figures of ranks, which cannot be folded again", "",
                     "Name a rank's capture or database, or leave out the options of folding and of kernels.");
  }
  if (command.format == "svg") throw UsageError("reports of a job are no pictures", "", "Use table, csv, json or markdown.");
  check_stdout(command);
}

void write_rows(const std::string& format, const report::Rows& rows, const report::Sink& sink) {
  format == "json" ? report::write_json(rows, sink) : report::write_csv(rows, sink);
}

void print_job_report(const ReportCommand& command, const job::JobReport& one, const report::Rows& rows,
                      const report::Choice& choice) {
  const report::Page page{text_width(STDOUT_FILENO), is_styled(STDOUT_FILENO)};
  if (command.format == "table") {
    print_data(fmt::format("{}: one row per {}\n\n", one.name, one.a_row_per) +
               report::people_table(rows, choice, one.columns, page) + "\n");
  } else if (command.format == "markdown") {
    print_data(report::markdown_table(rows, choice, one.columns));
  } else {
    write_rows(command.format, report::choose(rows, choice).rows, [](std::string_view piece) { print_data(std::string(piece)); });
  }
}

}  // namespace

int report_job(const ReportCommand& command) {
  check_job_command(command);
  const std::vector<std::string>& reports = command.outputs.reports;
  for (const std::string& name : reports) (void)job_report_of(name);
  const job::JobAnalysis job = job::analyse_job(command.file);
  if (reports.empty() && !command.to_files && command.format != "csv" && command.format != "json") {
    print_data(job::job_screen(job, {text_width(STDOUT_FILENO), is_styled(STDOUT_FILENO)}));
    return 0;
  }
  for (const std::string& name : reports.empty() ? std::vector<std::string>{"ranks"} : reports) {
    const job::JobReport& one = job_report_of(name);
    const report::Table table = one.table(job);
    const report::Rows rows = report::rows_of(table);
    const report::Choice choice = report::named_by_heading(command.choice, rows, one.columns);
    if (!command.to_files) print_job_report(command, one, rows, choice);
    for (const std::string& format : command.outputs.formats) {
      const auto path = command.outputs.directory / fmt::format("{}_{}.{}", command.outputs.base_name, name, format);
      make_folder(command.outputs.directory);
      write_pieces(path, command.outputs.force,
                   [&](const report::Sink& sink) { write_rows(format, report::choose(rows, choice).rows, sink); });
    }
  }
  return 0;
}

}  // namespace dlkprof::cli
