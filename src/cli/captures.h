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

}  // namespace dlkprof::cli
