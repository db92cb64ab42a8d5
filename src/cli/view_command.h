// Seeing runs: `dlkprof view <file>...`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/analysis.h"

namespace dlkprof::cli {

inline constexpr std::size_t kMostRunsSeen = 8;

struct ViewCommand {
  std::vector<std::string> files;   // captures, databases of ours, or folders with captures
  std::vector<std::string> labels;  // one a file; none: by the names of the files
  std::filesystem::path directory = ".";
  std::string base_name, cupti_path;
  bool force = false, no_open = false;
  std::optional<std::uint16_t> port;  // serve on it rather than write; 0: any that is free
  Folding folding;
};

// Returns the exit code; throws UsageError and Error.
[[nodiscard]] int view_runs(const ViewCommand& command);

}  // namespace dlkprof::cli
