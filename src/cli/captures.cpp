#include "cli/captures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <system_error>
#include <variant>

#include "base/error.h"
#include "base/text.h"
#include "capture/options.h"
#include "capture/reader.h"
#include "export/nsys_import.h"
#include "job/database.h"
#include "store/database.h"

namespace dlkprof::cli {
namespace {

namespace fs = std::filesystem;

bool is_capture_name(const std::string& name, const std::string& base_name) {
  constexpr std::string_view kSuffix = ".dlkcap";
  if (!name.starts_with(base_name) || !name.ends_with(kSuffix)) return false;
  if (name.size() < base_name.size() + kSuffix.size()) return false;
  const auto middle = name.substr(base_name.size(), name.size() - base_name.size() - kSuffix.size());
  if (middle.empty()) return true;
  // _<pid> or _<pid>_<n>, as capture/writer.h names them; not the captures of a base name that begins with ours.
  return middle[0] == '_' && middle.size() > 1 &&
         std::all_of(middle.begin() + 1, middle.end(), [](unsigned char c) { return std::isdigit(c) != 0 || c == '_'; });
}

constexpr std::size_t kMostFiles = 10;

// The names in `folder` of files that a command may be about.
std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder, ignored)) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".dlkcap" || extension == ".sqlite") names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Error no_file(const fs::path& path) {
  const std::string near = closest(path.filename().string(), names_in(path.parent_path()));
  return {fmt::format("there is no file {}", printable(path.string())), "",
          near.empty() ? "Name a capture (.dlkcap), a database (.sqlite), or a folder with captures."
                       : fmt::format("Did you mean {}?", printable((path.parent_path() / near).string()))};
}

UsageError no_captures(const fs::path& folder, const std::string& base_name) {
  std::string there;
  std::vector<std::string> names = names_in(folder);
  const std::size_t shown = std::min(names.size(), kMostFiles);
  for (std::size_t i = 0; i < shown; ++i) there += (i == 0 ? "only " : ", ") + printable(names[i], 80);
  if (shown < names.size()) there += fmt::format(" and {} more", names.size() - shown);
  return {fmt::format("there are no captures {}*.dlkcap in {}", printable(base_name), printable(folder.string())), there,
          "Name one file, or say with --base_name what the names of a run's captures begin with."};
}

void refuse_job(const fs::path& path) {
  if (!job::is_job_database(path)) return;
  throw UsageError(printable(path.native()) + " is the database of a job, which holds figures of ranks and no run", "",
                   "Name a rank's own capture or database; dlkprof report, compare, view and export read jobs.");
}

}  // namespace

std::vector<fs::path> captures_by_name(const fs::path& folder, const std::string& base_name) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (is_capture_name(entry.path().filename().string(), base_name)) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool is_of_another_run(const fs::path& capture, const std::string& base_name) {
  try {
    const auto record = capture::Reader::open(capture).next();
    const auto* process = record ? std::get_if<capture::ProcessRecord>(&*record) : nullptr;
    if (process == nullptr) return false;
    const std::string own = capture::options_from_json(process->options_json).base_name;
    return own != base_name && is_capture_name(capture.filename().string(), own);
  } catch (const Error&) {
    return false;
  }
}

std::vector<fs::path> captures_in(const fs::path& folder, const std::string& base_name) {
  std::vector<fs::path> found = captures_by_name(folder, base_name);
  std::erase_if(found, [&base_name](const fs::path& capture) { return is_of_another_run(capture, base_name); });
  return found;
}

RunFiles run_files(const fs::path& path, const std::string& base_name) {
  std::error_code failure;
  if (!fs::exists(path, failure) && !failure) throw no_file(path);
  if (!fs::is_directory(path, failure)) {
    refuse_job(path);
    if (exports::is_nsys_sqlite(path)) return {.captures = {}, .database = {}, .nsys = path};
    return store::is_database(path) ? RunFiles{{}, path} : RunFiles{{path}, {}};
  }
  RunFiles files{captures_in(path, base_name), {}};
  if (files.captures.empty()) throw no_captures(path, base_name);
  return files;
}

}  // namespace dlkprof::cli
