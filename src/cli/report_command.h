// Reporting from files: `dlkprof report <file>`, and `dlkprof --database=<file>`, which also keeps the aggregation.
#pragma once

#include <string>
#include <vector>

#include "cli/analysis.h"
#include "cli/outputs.h"

namespace dlkprof::cli {

struct ReportCommand {
  std::string file;              // a capture, a database of ours, or a folder with captures
  std::string format = "table";  // what stdout gets: table, csv, json, markdown, svg
  std::string set, cupti_path;
  std::vector<std::string> sections, metrics;  // shown besides
  std::string kernel_name;                     // -k: rows of such kernels and ops alone
  report::Choice choice;                       // of rows and columns
  std::string by;                              // groups of ops: one of model::by_names()
  std::optional<std::size_t> kernels;          // cards of so many kernels; 0: of all
  Outputs outputs;                             // without reports: those that suit the file
  bool to_files = false;                       // else to stdout
  Folding folding;
  bool keeps = false;  // what was folded: as an aggregation of the database, or, of captures, as a database
};

// Throws UsageError where stdout would get several reports as data.
void check_stdout(const ReportCommand& command);

// Returns the exit code; throws UsageError and Error.
[[nodiscard]] int report_again(ReportCommand command);

}  // namespace dlkprof::cli
