// What belongs to an installation of dlkprof, and how it talks to the terminal.
#pragma once

#include <filesystem>

#include "cupti/catalogue.h"

namespace dlkprof::cli {

// share/dlkprof of this installation.
[[nodiscard]] std::filesystem::path share_folder();

// The sections and sets of this installation. Throws Error.
[[nodiscard]] cupti::Catalogue load_catalogue();

// Throws UsageError where --cupti-path was given and is no libcupti that can be used: another one is not what was asked for.
void check_cupti_path(const std::filesystem::path& path);

// Whether what goes to `fd` may carry bold type and bars: a terminal that can show them, and NO_COLOR is not set
// (no-color.org).
[[nodiscard]] bool is_styled(int fd);

// Writes `text` to stdout, all of it. Throws Error (a full disk, a reader that went away).
void print_data(const std::string& text);

}  // namespace dlkprof::cli
