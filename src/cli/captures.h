// Which captures in a folder are those of a run.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace dlkprof::cli {

// <base_name>.dlkcap and <base_name>_<pid>….dlkcap in `folder`, sorted, as far as their names tell: batch_4.dlkcap may be of
// process 4 of the base name batch, or the first of batch_4.
[[nodiscard]] std::vector<std::filesystem::path> captures_by_name(const std::filesystem::path& folder,
                                                                  const std::string& base_name);

// Whether a capture of such a name tells of itself that it was written under another base name. One that cannot be read, or that
// somebody has named otherwise since, does not.
[[nodiscard]] bool is_of_another_run(const std::filesystem::path& capture, const std::string& base_name);

// Those of captures_by_name() that are of no other run.
[[nodiscard]] std::vector<std::filesystem::path> captures_in(const std::filesystem::path& folder, const std::string& base_name);

// What a command is about: captures, a database, or an SQLite file of Nsight Systems.
struct RunFiles {
  std::vector<std::filesystem::path> captures;
  std::filesystem::path database;
  std::filesystem::path nsys = {};
  [[nodiscard]] bool is_database() const { return !database.empty(); }
};

// The run that `path` names: a capture, a database, or a folder with the captures of `base_name`. Throws UsageError where there
// is no such file, or no such capture in the folder; Error where it cannot be read.
[[nodiscard]] RunFiles run_files(const std::filesystem::path& path, const std::string& base_name);

}  // namespace dlkprof::cli
