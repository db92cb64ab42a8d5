#include "cli/mcp/served_runs.h"

#include <fmt/format.h>

#include <algorithm>

#include "advise/diagnosis.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/analysis.h"
#include "cli/run_loader.h"
#include "store/database.h"

namespace dlkprof::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBaseName = "dlkprof";  // of captures in a folder

}  // namespace

std::vector<std::string> ServedRuns::names() const {
  std::vector<std::string> names;
  for (const std::string& file : files_) names.push_back(valid_utf8(run_name(file)));
  return names;
}

std::string ServedRuns::file_of(const std::string& run) const {
  if (files_.empty()) {
    if (run.empty()) throw UsageError("no run is named", "", "Give the path of a capture or a database as \"run\".");
    return run;
  }
  if (run.empty() && files_.size() == 1) return files_.front();
  for (const std::string& file : files_) {
    if (run == file || run == run_name(file)) return file;
  }
  throw UsageError(run.empty() ? "no run is named" : fmt::format("there is no run {}", printable(run, 80)), "",
                   fmt::format("There are: {}", printable(fmt::format("{}", fmt::join(names(), ", ")))));
}

const model::Profile& ServedRuns::profile(const std::string& file) {
  if (profile_ == nullptr || loaded_ != file) {
    profile_ = std::make_unique<model::Profile>(analyse(load_run(run_files(file, kBaseName)), {}));
    loaded_ = file;
  }
  return *profile_;
}

fs::path ServedRuns::write_database(const std::string& file) {
  if (!folder_) folder_.emplace();
  const model::Profile& made = profile(file);
  const fs::path path = folder_->path() / "run_dldb.sqlite";
  store::write_database(path, made, advise::diagnosis_of(made));
  return path;
}

store::QueryDatabase& ServedRuns::database(const std::string& file) {
  if (database_ == nullptr || opened_ != file) {
    database_.reset();
    const RunFiles files = run_files(file, kBaseName);
    database_ = std::make_unique<store::QueryDatabase>(files.is_database() ? files.database : write_database(file));
    opened_ = file;
  }
  return *database_;
}

}  // namespace dlkprof::cli
