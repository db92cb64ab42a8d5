// Reports: their names, how they are made, and as files, which are never overwritten unasked.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "report/registry.h"

namespace dlkprof::cli {

// Where reports go: <directory>/<base_name>_<report>.<format>.
struct Outputs {
  std::filesystem::path directory = ".";
  std::string base_name = "dlkprof";
  std::vector<std::string> reports = {"metrics"};  // as report::report_names() gives them
  std::vector<std::string> formats;                // csv, json, svg; none: no files
  bool force = false;                              // replace files
  bool database = false;                           // <base_name>_dldb.sqlite is written too
  bool model_data = false;                         // and <base_name>_model.json
};

// Throws UsageError: a report or format that there is not, a base name with a slash, a folder that is not there, and,
// without `force`, a file that is. To be called before anything is run or written.
void check_outputs(const Outputs& outputs);

// The part of it for any files of a folder: throws UsageError where the base name has a slash, `directory` is no folder, and,
// without `force`, where a file is there already.
void check_files(const std::filesystem::path& directory, const std::string& base_name,
                 const std::vector<std::filesystem::path>& files, bool force);

// For one file that --output names, made of `inputs`: throws UsageError where it is one of them, is no regular file, or, without
// `force`, is there already.
void check_output(const std::filesystem::path& file, const std::vector<std::string>& inputs, bool force);

// Throws Error.
void make_folder(const std::filesystem::path& folder);

// The files that check_outputs() looks at.
[[nodiscard]] std::vector<std::filesystem::path> output_files(const Outputs& outputs);

[[nodiscard]] std::filesystem::path database_file(const Outputs& outputs);

// What an earlier run of that name left behind: its captures, the database, and the reports that are asked for now.
[[nodiscard]] std::vector<std::filesystem::path> earlier_files(const Outputs& outputs,
                                                               const std::vector<std::filesystem::path>& captures);

// Throws UsageError where the report does not come in this format.
void check_format(const std::string& report, const std::string& format);

// Says on stderr, a line a report, what was not measured that it shows, and how to collect it.
void print_hints(const std::vector<std::string>& reports, const report::Inputs& inputs);

// A report as data: csv or json, or svg. `name` is one of report::report_names().
void write_report(const std::string& name, const std::string& format, const report::Inputs& inputs, const report::Sink& sink);

// For people.
[[nodiscard]] std::string report_text(const std::string& name, const report::Inputs& inputs);

// Writes every report in every format, and the model where it is asked for, and returns the files, after check_outputs(). The
// folder is made. Throws Error.
std::vector<std::filesystem::path> write_reports(const Outputs& outputs, const report::Inputs& inputs);

// Gives `produce` a sink into a new private file under a temporary name beside `path`, then moves it there: never half a file.
// With `replace` false an existing `path` is refused. Throws Error.
void write_pieces(const std::filesystem::path& path, bool replace, const std::function<void(const report::Sink&)>& produce);

}  // namespace dlkprof::cli
