#include "cli/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/error.h"
#include "base/long_file.h"
#include "base/new_file.h"
#include "base/say.h"
#include "base/text.h"
#include "report/diagnosis/reports.h"
#include "report/format/csv.h"
#include "report/format/json.h"
#include "report/format/markdown.h"
#include "report/launches/coverage.h"
#include "report/ops/reports.h"
#include "report/ops/summary_report.h"
#include "report/registry.h"

namespace dlkprof::cli {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kFormats{"csv", "json", "svg"};
// Of the 255 bytes of a file's name what is put behind it takes some 40, while it is written.
constexpr std::size_t kLongestBaseName = 200;

void check_name(const std::string& name, const std::vector<std::string>& names, const char* what) {
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  const std::string near = closest(name, names);
  throw UsageError(fmt::format("there is no {} '{}'", what, printable(name, 40)), "",
                   near.empty() ? fmt::format("There are: {}", fmt::join(names, ", ")) : fmt::format("Did you mean {}?", near));
}

report::Rows op_rows(const report::Report& report, const report::Inputs& inputs) {
  return inputs.by ? report::grouped_report(inputs.profile, *inputs.by) : report.rows(inputs);
}

std::vector<report::SummaryTable> summary_of(const report::Inputs& inputs, bool coverage) {
  if (inputs.simple) return report::simple_summary_tables(inputs.profile);
  return report::summary_tables(inputs.profile, {inputs.profile_name, coverage});
}

// What was measured, and before it what became of it on the timeline where there is one.
std::string summary_text(const report::Inputs& inputs) {
  const model::Profile& profile = inputs.profile;
  std::string text;
  if (profile.has_ops()) {
    text = report::summary_text(summary_of(inputs, false), inputs.page);
    const std::string stalls = inputs.simple ? "" : report::top_stalls(profile);
    if (!stalls.empty()) text += "\n" + stalls;
  }
  return text + (text.empty() ? "" : "\n") + report::coverage(profile.timeline);
}

fs::path file_of(const Outputs& outputs, const std::string& what, const std::string& format) {
  return outputs.directory / fmt::format("{}_{}.{}", outputs.base_name, what, format);
}

// One file to write: what is in it and where it goes.
struct OutputFile {
  std::string report, format;
  fs::path path;
};

std::vector<OutputFile> plan(const Outputs& outputs) {
  std::vector<OutputFile> files;
  for (const std::string& report : outputs.reports) {
    for (const std::string& format : outputs.formats) {
      if (!report::report_of(report).has_format(format)) continue;
      files.push_back({report, format, file_of(outputs, report, format)});
    }
  }
  return files;
}

fs::path model_file(const Outputs& outputs) { return file_of(outputs, "model", "json"); }

// `options`: that name the file.
void check_free(const fs::path& file, const std::string& options) {
  std::error_code failure;
  if (!fs::exists(fs::symlink_status(file, failure))) return;
  throw UsageError(fmt::format("{} is there already", printable(file.string())), "",
                   fmt::format("Name another with {}, or replace it with --force.", options));
}

// What no --force removes.
void check_regular(const fs::path& file, const std::string& options) {
  std::error_code failure;
  const fs::file_status status = fs::symlink_status(file, failure);
  if (!fs::exists(status) || fs::is_regular_file(status) || fs::is_symlink(status)) return;
  throw UsageError(printable(file.string()) + (fs::is_directory(status) ? " is a folder" : " is a device, a pipe or a socket"),
                   "", fmt::format("Name another file with {}.", options));
}

constexpr const char* kNamedBy = "--base_name or --output_path";
constexpr const char* kOutput = "--output";

}  // namespace

fs::path database_file(const Outputs& outputs) { return file_of(outputs, "dldb", "sqlite"); }

std::vector<fs::path> output_files(const Outputs& outputs) {
  std::vector<fs::path> paths;
  if (outputs.database) paths.push_back(database_file(outputs));
  for (const OutputFile& file : plan(outputs)) paths.push_back(file.path);
  if (outputs.model_data) paths.push_back(model_file(outputs));
  return paths;
}

std::vector<fs::path> earlier_files(const Outputs& outputs, const std::vector<fs::path>& captures) {
  std::vector<fs::path> paths = output_files(outputs);
  if (!outputs.database) paths.push_back(database_file(outputs));  // of another run, where this one writes none
  paths.insert(paths.end(), captures.begin(), captures.end());
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
  for (const fs::path& file : files) check_regular(file, kNamedBy);
  if (force) return;
  for (const fs::path& file : files) check_free(file, kNamedBy);
}

void check_output(const fs::path& file, const std::vector<std::string>& inputs, bool force) {
  std::error_code failure;
  if (const fs::path folder = file.parent_path(); fs::exists(folder, failure) && !fs::is_directory(folder, failure))
    throw UsageError(printable(folder.string()) + " is no folder", "", "Name another file with --output.");
  check_regular(file, kOutput);
  for (const std::string& input : inputs) {
    if (fs::equivalent(file, input, failure))
      throw UsageError(printable(file.string()) + " is read, and cannot be written", "", "Name another file with --output.");
  }
  if (!force) check_free(file, kOutput);
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
  for (const std::string& report : outputs.reports) (void)report::report_of(report);
  for (const std::string& format : outputs.formats) {
    check_name(format, kFormats, "format for files");
    const auto has = [&format](const std::string& name) { return report::report_of(name).has_format(format); };
    if (outputs.reports.empty() || std::any_of(outputs.reports.begin(), outputs.reports.end(), has)) continue;
    check_format(outputs.reports.front(), format);
  }
  check_files(outputs.directory, outputs.base_name, output_files(outputs), outputs.force);
}

void check_format(const std::string& report, const std::string& format) {
  if (report::report_of(report).has_format(format)) return;
  throw UsageError(fmt::format("there is no {} of the report {}", format, report), "",
                   "Only roofline has one: --reports=roofline");
}

namespace {

// A report without rows is not to pass for one that was forgotten.
void say_if_empty(const report::Report& report, const report::Rows& rows) {
  if (rows.count == 0 && report.when_empty != nullptr)
    say("dlkprof: the report {} has no rows: {}\n", report.name, report.when_empty);
}

std::vector<report::PeopleColumn> columns_for_people(const report::Report& report, const report::Inputs& inputs) {
  return report::people_columns(inputs.by ? "grouped" : report.name);
}

report::Choice choice_of(const report::Report& report, const report::Inputs& inputs, const report::Rows& rows) {
  return report::named_by_heading(inputs.choice, rows, columns_for_people(report, inputs));
}

std::string report_markdown(const report::Report& report, const report::Inputs& inputs) {
  if (report.rows == nullptr) {
    const report::Table table = report::flatten(summary_of(inputs, true));
    return report::markdown_table(report::rows_of(table), {.top = 0}, {});
  }
  const report::Rows rows = op_rows(report, inputs);
  say_if_empty(report, rows);
  return report::markdown_table(rows, choice_of(report, inputs, rows), columns_for_people(report, inputs));
}

}  // namespace

void print_hints(const std::vector<std::string>& reports, const report::Inputs& inputs) {
  for (const std::string& name : reports) {
    const std::string hint = report::missing_sections(name, inputs.profile);
    if (!hint.empty()) say("dlkprof: {}\n", hint);
  }
}

void write_report(const std::string& name, const std::string& format, const report::Inputs& inputs, const report::Sink& sink) {
  const bool csv = format == "csv";
  const report::Report& report = report::report_of(name);
  const auto write_rows = [&](const report::Rows& all) {
    const report::Rows rows = report::choose(all, choice_of(report, inputs, all)).rows;
    csv ? report::write_csv(rows, sink) : report::write_json(rows, sink);
  };
  if (format == "svg") {
    sink(report.picture(inputs.profile));
  } else if (format == "markdown") {
    sink(report_markdown(report, inputs));
  } else if (!csv && report.json != nullptr) {
    sink(report.json(inputs.profile));
  } else if (report.rows != nullptr) {
    const report::Rows rows = op_rows(report, inputs);
    say_if_empty(report, rows);
    write_rows(rows);
  } else {
    const auto tables = summary_of(inputs, true);
    sink(csv ? report::to_csv(report::flatten(tables)) : report::summary_json(tables));
  }
}

std::string report_text(const std::string& name, const report::Inputs& inputs) {
  const report::Report& report = report::report_of(name);
  if (report.text != nullptr) return report.text(inputs.profile, inputs.choice, inputs.page);
  if (report.rows == nullptr) return summary_text(inputs);
  const report::Rows rows = op_rows(report, inputs);
  say_if_empty(report, rows);
  return report::people_table(rows, choice_of(report, inputs, rows), columns_for_people(report, inputs), inputs.page);
}

void write_pieces(const fs::path& path, bool replace, const std::function<void(const report::Sink&)>& produce) {
  NewFile file(path);
  LongFile out(file.fd(), path);
  produce([&out](std::string_view piece) {
    out.write(std::span(reinterpret_cast<const std::uint8_t*>(piece.data()), piece.size()));
  });
  file.move_to_target(replace);
}

std::vector<fs::path> write_reports(const Outputs& outputs, const report::Inputs& inputs) {
  Outputs checked = outputs;
  checked.database = false;  // has been written already
  check_outputs(checked);
  const std::vector<OutputFile> files = plan(outputs);
  std::vector<fs::path> paths;
  if (!files.empty() || outputs.model_data) make_folder(outputs.directory);
  for (const OutputFile& file : files) {
    paths.push_back(file.path);
    write_pieces(file.path, outputs.force,
                 [&](const report::Sink& sink) { write_report(file.report, file.format, inputs, sink); });
  }
  if (outputs.model_data) {
    paths.push_back(model_file(outputs));
    write_pieces(paths.back(), outputs.force, [&](const report::Sink& sink) { report::write_model(inputs.profile, sink); });
  }
  return paths;
}

}  // namespace dlkprof::cli
