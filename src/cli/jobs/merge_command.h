// dlkprof merge: the ranks of a job as one database.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace dlkprof::cli {

struct MergeCommand {
  std::vector<std::string> files;  // captures, databases of runs and of jobs, folders
  std::filesystem::path output = "job_dldb.sqlite";
  std::string engine = "local", scheduler;  // scheduler: of Dask; empty: workers on this machine
  std::string python = "python3";           // that has Dask
  std::size_t threads = 0;                  // 0: all cores
  bool force = false;
};

// Returns the exit code; throws UsageError and Error.
[[nodiscard]] int merge_ranks(const MergeCommand& command);

// The captures and databases that `files` name, in folders too: sorted, each once. Of a folder that has captures its runs'
// databases are left out, as they hold the same. Throws UsageError where there is no such file, or none in a folder.
[[nodiscard]] std::vector<std::filesystem::path> rank_files(const std::vector<std::string>& files,
                                                            const std::filesystem::path& output);

}  // namespace dlkprof::cli
