// Comparing runs: `dlkprof compare <base> <other>...`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/analysis.h"

namespace dlkprof::cli {

inline constexpr std::size_t kLeastRuns = 2, kMostRuns = 16;

struct CompareCommand {
  std::vector<std::string> files;          // captures, databases of ours, or folders with captures
  std::vector<std::string> labels;         // one a file; none: by the names of the files
  std::vector<std::uint64_t> batch_sizes;  // one a file; none: as recorded
  std::string format = "table";            // what stdout gets: table, csv, json
  std::vector<std::string> formats;        // of files: csv, json
  std::filesystem::path directory = ".";
  std::string base_name = "dlkprof";  // of captures in a folder, and of the files written
  std::string gate;                   // file with rules; empty: none
  bool force = false, to_files = false;
  Folding folding;
};

// Throws UsageError where a file that is to be written is in the way. compare_runs() looks, too.
void check_comparison_files(const CompareCommand& command);

// Of an earlier comparison, where they may be replaced: they are not to pass for this one where there is none.
void remove_comparison_files(const CompareCommand& command);

// Returns the exit code, which is that of the gate; throws UsageError and Error.
[[nodiscard]] int compare_runs(const CompareCommand& command);

}  // namespace dlkprof::cli
