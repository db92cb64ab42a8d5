// Reports as files: their names, and that nothing there is overwritten unasked.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cupti/catalogue.h"
#include "report/metrics_report.h"
#include "report/table.h"

namespace dlkprof::cli {

// Where reports go: <directory>/<base_name>_<report>.<format>.
struct Outputs {
  std::filesystem::path directory = ".";
  std::string base_name = "dlkprof";
  std::vector<std::string> reports = {"metrics"};  // metrics, kernels, summary
  std::vector<std::string> formats;                // csv, json; none: no files
  bool force = false;                              // replace files
};

// Throws UsageError: a report or format that there is not, a base name with a slash, a folder that is not there, and,
// without `force`, a file that is. To be called before anything is run or written.
void check_outputs(const Outputs& outputs);

// The files that check_outputs() looks at and write_reports() writes.
[[nodiscard]] std::vector<std::filesystem::path> output_files(const Outputs& outputs);

// What reports are made from besides the run.
struct ReportInputs {
  std::vector<cupti::Section> sections;  // those shown
  report::UnitLookup unit_of;
};

// A report as data. `name` was checked.
[[nodiscard]] report::Table make_report(const model::Run& run, const std::string& name, const ReportInputs& inputs);

// Writes every report in every format and returns the files, after check_outputs(). Throws Error.
std::vector<std::filesystem::path> write_reports(const model::Run& run, const Outputs& outputs, const ReportInputs& inputs);

}  // namespace dlkprof::cli
