#include "cli/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/say.h"
#include "base/text.h"
#include "cli/report_file.h"
#include "report/diagnosis/bottleneck_report.h"
#include "report/diagnosis/expert_systems_report.h"
#include "report/diagnosis/memory_report.h"
#include "report/diagnosis/missing_sections.h"
#include "report/diagnosis/occupancy_report.h"
#include "report/diagnosis/roofline_report.h"
#include "report/diagnosis/stall_report.h"
#include "report/diagnosis/top_stalls.h"
#include "report/format/csv.h"
#include "report/format/json.h"
#include "report/launches/coverage.h"
#include "report/launches/kernels_report.h"
#include "report/launches/measured_report.h"
#include "report/launches/sampling_report.h"
#include "report/launches/source_report.h"
#include "report/ops/coverage_report.h"
#include "report/ops/detail_report.h"
#include "report/ops/group_node_report.h"
#include "report/ops/iteration_report.h"
#include "report/ops/kernel_report.h"
#include "report/ops/model_dump.h"
#include "report/ops/op_type_report.h"
#include "report/ops/summary_report.h"
#include "report/ops/tensor_report.h"
#include "report/ops/top_ops.h"

namespace dlkprof::cli {
namespace {

namespace fs = std::filesystem;

// A report of ops; `summary` is not made of rows, and has no maker.
struct OpReport {
  const char* name;
  report::Rows (*make)(const report::Model& model);
  bool in_all = true;
};
// In the order of the guide, which is that of --reports=all; then ours. What is long is asked for by name.
constexpr std::array kOpReports{OpReport{"summary", nullptr},
                                OpReport{"detail", report::detail_report},
                                OpReport{"iteration", report::iteration_report},
                                OpReport{"kernel", report::kernel_report},
                                OpReport{"tensor", report::tensor_report},
                                OpReport{"op_type", report::op_type_report},
                                OpReport{"group_node", report::group_node_report},
                                OpReport{"expert_systems", report::expert_systems_report},
                                OpReport{"bottleneck", report::bottleneck_report},
                                OpReport{"occupancy", report::occupancy_report},
                                OpReport{"stall", report::stall_report},
                                OpReport{"memory", report::memory_report},
                                OpReport{"roofline", report::roofline_report},
                                OpReport{"coverage", report::coverage_report},
                                OpReport{"measured", report::measured_report},
                                OpReport{"source", report::source_report, false},
                                OpReport{"occupancy_curves", report::occupancy_curves_report, false},
                                OpReport{"sampling", report::sampling_report, false},
                                OpReport{"utilization", report::utilization_report, false}};
constexpr std::array kCaptureReports{"metrics", "kernels"};
constexpr std::array kOfSimpleMode{"summary", "kernel"};
const std::vector<std::string> kFormats{"csv", "json", "svg"};
// Of the 255 bytes of a file's name what is put behind it takes some 40, while it is written.
constexpr std::size_t kLongestBaseName = 200;
constexpr const char* kPicture = "svg";        // a format of
constexpr const char* kPictured = "roofline";  // alone

const OpReport* op_report(const std::string& name) {
  const auto* found =
      std::find_if(kOpReports.begin(), kOpReports.end(), [&name](const OpReport& one) { return name == one.name; });
  return found == kOpReports.end() ? nullptr : found;
}

std::vector<std::string> all_names() {
  std::vector<std::string> names(kCaptureReports.begin(), kCaptureReports.end());
  for (const OpReport& one : kOpReports) names.emplace_back(one.name);
  return names;
}

void check_name(const std::string& name, const std::vector<std::string>& names, const char* what) {
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  const std::string near = closest(name, names);
  throw UsageError(fmt::format("there is no {} '{}'", what, printable(name, 40)), "",
                   near.empty() ? fmt::format("There are: {}", fmt::join(names, ", ")) : fmt::format("Did you mean {}?", near));
}

bool is_in_simple_mode(const std::string& name) {
  return is_of_capture(name) || std::find(kOfSimpleMode.begin(), kOfSimpleMode.end(), name) != kOfSimpleMode.end();
}

const model::Run& only_run(const std::string& report, std::span<const model::Run> runs) {
  if (runs.size() == 1) return runs.front();
  throw UsageError(fmt::format("the report {} is of one capture", report), "",
                   runs.empty() ? "A database does not hold what it shows: name a capture, a .dlkcap file."
                                : "Name one of the captures, or write files with --formats: then each has its own.");
}

report::Rows op_rows(const std::string& name, const ReportInputs& inputs) {
  return op_report(name)->make(inputs.analysis->model());
}

std::vector<report::SummaryTable> summary_of(const ReportInputs& inputs) {
  const report::Model model = inputs.analysis->model();
  return inputs.simple ? report::simple_summary_tables(model) : report::summary_tables(model, {inputs.profile_name, inputs.runs});
}

report::Table capture_report(const std::string& name, const ReportInputs& inputs) {
  const model::Run& run = only_run(name, inputs.runs);
  return name == "kernels" ? report::kernels_report(run, inputs.sections) : report::metrics_report(run, inputs.unit_of);
}

// What was measured, and before it what became of it on the timeline where there is one.
std::string summary_text(const ReportInputs& inputs) {
  std::string text;
  if (inputs.analysis->has_ops() || inputs.runs.empty()) {
    const report::Model model = inputs.analysis->model();
    const report::SummaryInputs shown{.profile_name = {}, .runs = {}, .coverage = inputs.runs.empty()};
    text = report::summary_text(inputs.simple ? report::simple_summary_tables(model) : report::summary_tables(model, shown));
    if (!inputs.simple) text += "\n" + report::top_ops(model) + "\n" + report::top_findings(model);
    const std::string stalls = inputs.simple ? "" : report::top_stalls(model);
    if (!stalls.empty()) text += "\n" + stalls;
  }
  for (const model::Run& run : inputs.runs) text += (text.empty() ? "" : "\n") + report::coverage(run);
  return text;
}

bool has_format(const std::string& report, const std::string& format) { return format != kPicture || report == kPictured; }

// One file to write: what is in it and where it goes.
struct OutputFile {
  std::string report, format;
  std::span<const model::Run> runs;
  fs::path path;
};

fs::path file_of(const Outputs& outputs, const std::string& base_name, const std::string& what, const std::string& format) {
  return outputs.directory / fmt::format("{}_{}.{}", base_name, what, format);
}

std::vector<OutputFile> plan(const Outputs& outputs, std::span<const model::Run> runs) {
  std::vector<OutputFile> files;
  for (const std::string& report : outputs.reports) {
    for (const std::string& format : outputs.formats) {
      if (!has_format(report, format)) continue;
      if (!is_of_capture(report) || runs.size() < 2) {
        files.push_back({report, format, runs, file_of(outputs, outputs.base_name, report, format)});
        continue;
      }
      for (std::size_t i = 0; i < runs.size(); ++i) {
        files.push_back({report, format, runs.subspan(i, 1), file_of(outputs, runs[i].path.stem(), report, format)});
      }
    }
  }
  return files;
}

fs::path model_file(const Outputs& outputs) { return file_of(outputs, outputs.base_name, "model", "json"); }

void check_free(const std::vector<fs::path>& files) {
  for (const fs::path& file : files) {
    std::error_code failure;
    if (!fs::exists(fs::symlink_status(file, failure))) continue;
    throw UsageError(fmt::format("{} is there already", printable(file.string())), "",
                     "Name another with --base_name or --output_path, or replace it with --force.");
  }
}

}  // namespace

bool is_of_capture(const std::string& report) {
  return std::find(kCaptureReports.begin(), kCaptureReports.end(), report) != kCaptureReports.end();
}

std::vector<std::string> report_names(const std::vector<std::string>& names, bool simple) {
  std::vector<std::string> found;
  const auto add = [&found](const std::string& name) {
    if (std::find(found.begin(), found.end(), name) == found.end()) found.push_back(name);
  };
  for (const std::string& name : names) {
    if (name == "all") {
      for (const OpReport& one : kOpReports) {
        if (one.in_all && (!simple || is_in_simple_mode(one.name))) add(one.name);
      }
      continue;
    }
    const std::string known = name == "node_op" ? "op_type" : name;
    check_name(known, all_names(), "report");
    if (simple && !is_in_simple_mode(known)) {
      throw UsageError(fmt::format("there is no report {} in simple mode", known), "",
                       fmt::format("There are: {}. Leave out --mode=simple for the others.", fmt::join(kOfSimpleMode, ", ")));
    }
    add(known);
  }
  return found;
}

fs::path database_file(const Outputs& outputs) { return file_of(outputs, outputs.base_name, "dldb", "sqlite"); }

std::vector<fs::path> output_files(const Outputs& outputs) {
  std::vector<fs::path> paths;
  if (outputs.database) paths.push_back(database_file(outputs));
  for (const OutputFile& file : plan(outputs, {})) paths.push_back(file.path);
  if (outputs.model_data) paths.push_back(model_file(outputs));
  return paths;
}

std::vector<fs::path> earlier_files(const Outputs& outputs, const std::vector<fs::path>& captures) {
  std::vector<fs::path> paths = output_files(outputs);
  if (!outputs.database) paths.push_back(database_file(outputs));  // of another run, where this one writes none
  for (const fs::path& capture : captures) {
    paths.push_back(capture);
    for (const std::string& report : outputs.reports) {
      if (!is_of_capture(report)) continue;
      for (const std::string& format : outputs.formats) paths.push_back(file_of(outputs, capture.stem(), report, format));
    }
  }
  return paths;
}

void check_files(const fs::path& directory, const std::string& base_name, const std::vector<fs::path>& files, bool force) {
  if (base_name.empty() || base_name.find('/') != std::string::npos) {
    throw UsageError(fmt::format("'{}' cannot begin the name of a file", printable(base_name, 80)), "",
                     "Give the folder with --output_path, and --base_name without slashes.");
  }
  if (base_name.size() > kLongestBaseName) {
    throw UsageError(fmt::format("a base name of {} bytes is too long: {}", base_name.size(), printable(base_name, 80)), "",
                     fmt::format("Give --base_name one of {} bytes at most.", kLongestBaseName));
  }
  std::error_code failure;
  if (!files.empty() && fs::exists(directory, failure) && !fs::is_directory(directory, failure)) {
    throw UsageError(printable(directory.string()) + " is no folder", "", "Name another with --output_path.");
  }
  for (const fs::path& file : files) {  // which no --force removes
    if (!fs::is_directory(fs::symlink_status(file, failure))) continue;
    throw UsageError(printable(file.string()) + " is a folder", "",
                     "Take it away, or name another with --base_name or --output_path.");
  }
  if (!force) check_free(files);
}

void make_folder(const fs::path& folder) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) {
    throw Error("the folder " + printable(folder.string()) + " cannot be made", failure.message(),
                "Name a folder that you may write to: --output_path <folder>");
  }
}

void check_outputs(const Outputs& outputs) {
  for (const std::string& report : outputs.reports) check_name(report, all_names(), "report");
  for (const std::string& format : outputs.formats) {
    check_name(format, kFormats, "format for files");
    const auto has = [&format](const std::string& report) { return has_format(report, format); };
    if (outputs.reports.empty() || std::any_of(outputs.reports.begin(), outputs.reports.end(), has)) continue;
    check_format(outputs.reports.front(), format);
  }
  check_files(outputs.directory, outputs.base_name, output_files(outputs), outputs.force);
}

void check_format(const std::string& report, const std::string& format) {
  if (has_format(report, format)) return;
  throw UsageError(fmt::format("there is no {} of the report {}", format, report), "",
                   fmt::format("Only {} has one: --reports={}", kPictured, kPictured));
}

void print_hints(const std::vector<std::string>& reports, const ReportInputs& inputs) {
  if (inputs.analysis == nullptr) return;
  for (const std::string& name : reports) {
    const std::string hint = report::missing_sections(name, inputs.analysis->model());
    if (!hint.empty()) say("dlkprof: {}\n", hint);
  }
}

void write_report(const std::string& name, const std::string& format, const ReportInputs& inputs, const report::Sink& sink) {
  const bool csv = format == "csv";
  const auto write_rows = [&](const report::Rows& rows) { csv ? report::write_csv(rows, sink) : report::write_json(rows, sink); };
  if (is_of_capture(name)) {
    const report::Table table = capture_report(name, inputs);
    write_rows(report::rows_of(table));
  } else if (name == "summary") {
    const auto tables = summary_of(inputs);
    sink(csv ? report::to_csv(report::flatten(tables)) : report::summary_json(tables));
  } else if (format == kPicture) {
    sink(report::roofline_svg(inputs.analysis->model()));
  } else {
    write_rows(op_rows(name, inputs));
  }
}

std::string report_text(const std::string& name, const ReportInputs& inputs) {
  if (is_of_capture(name)) return report::to_text(capture_report(name, inputs));
  if (name == "summary") return summary_text(inputs);
  return report::to_text(report::to_table(op_rows(name, inputs)));
}

std::vector<fs::path> write_reports(const Outputs& outputs, const ReportInputs& inputs) {
  Outputs checked = outputs;
  checked.database = false;  // has been written already
  check_outputs(checked);
  const std::vector<OutputFile> files = plan(outputs, inputs.runs);
  std::vector<fs::path> paths;
  for (const OutputFile& file : files) paths.push_back(file.path);
  if (!outputs.force) check_free(paths);
  if (!files.empty() || outputs.model_data) make_folder(outputs.directory);
  for (const OutputFile& file : files) {
    ReportInputs its_own = inputs;
    its_own.runs = file.runs;
    write_pieces(file.path, outputs.force,
                 [&](const report::Sink& sink) { write_report(file.report, file.format, its_own, sink); });
  }
  if (outputs.model_data) {
    paths.push_back(model_file(outputs));
    write_pieces(paths.back(), outputs.force,
                 [&](const report::Sink& sink) { report::write_model(inputs.analysis->model(), sink); });
  }
  return paths;
}

}  // namespace dlkprof::cli
