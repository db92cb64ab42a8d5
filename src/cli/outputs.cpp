#include "cli/outputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "report/csv.h"
#include "report/json.h"
#include "report/kernels_report.h"
#include "report/summary.h"

namespace dlkprof::cli {
namespace {

void check_name(const std::string& name, const std::vector<std::string>& names, const char* what) {
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  const std::string near = closest(name, names);
  throw UsageError(fmt::format("there is no {} '{}'", what, printable(name, 40)), "",
                   near.empty() ? fmt::format("There are: {}", fmt::join(names, ", ")) : fmt::format("Did you mean {}?", near));
}

// One file to write: what is in it and where it goes.
struct OutputFile {
  std::string report, format;
  std::filesystem::path path;
};

std::vector<OutputFile> plan(const Outputs& outputs) {
  std::vector<OutputFile> files;
  for (const std::string& report : outputs.reports) {
    for (const std::string& format : outputs.formats) {
      files.push_back({report, format, outputs.directory / fmt::format("{}_{}.{}", outputs.base_name, report, format)});
    }
  }
  return files;
}

}  // namespace

std::vector<std::filesystem::path> output_files(const Outputs& outputs) {
  std::vector<std::filesystem::path> paths;
  for (const OutputFile& file : plan(outputs)) paths.push_back(file.path);
  return paths;
}

void check_outputs(const Outputs& outputs) {
  for (const std::string& report : outputs.reports) check_name(report, {"metrics", "kernels", "summary"}, "report");
  for (const std::string& format : outputs.formats) check_name(format, {"csv", "json"}, "format for files");
  if (outputs.base_name.empty() || outputs.base_name.find('/') != std::string::npos) {
    throw UsageError(fmt::format("'{}' cannot begin the name of a file", printable(outputs.base_name, 80)), "",
                     "Give the folder with --output_path, and --base_name without slashes.");
  }
  const std::vector<std::filesystem::path> files = output_files(outputs);
  std::error_code failure;
  if (!files.empty() && !std::filesystem::is_directory(outputs.directory, failure)) {
    throw UsageError(fmt::format("there is no folder {}", printable(outputs.directory.string())),
                     failure ? failure.message() : "", "Make it first, or name another with --output_path.");
  }
  if (outputs.force) return;
  for (const std::filesystem::path& file : files) {
    if (!std::filesystem::exists(std::filesystem::symlink_status(file, failure))) continue;
    throw UsageError(fmt::format("{} is there already", printable(file.string())), "",
                     "Name another with --base_name or --output_path, or replace it with --force.");
  }
}

report::Table make_report(const model::Run& run, const std::string& name, const ReportInputs& inputs) {
  if (name == "kernels") return report::kernels_report(run, inputs.sections);
  if (name == "summary") return report::summary_report(run);
  return report::metrics_report(run, inputs.unit_of);
}

std::vector<std::filesystem::path> write_reports(const model::Run& run, const Outputs& outputs, const ReportInputs& inputs) {
  check_outputs(outputs);
  for (const OutputFile& file : plan(outputs)) {
    const report::Table table = make_report(run, file.report, inputs);
    write_file(file.path, file.format == "csv" ? report::to_csv(table) : report::to_json(table), outputs.force);
  }
  return output_files(outputs);
}

}  // namespace dlkprof::cli
