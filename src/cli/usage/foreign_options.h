// Options of DLProf, Nsight Compute and Nsight Systems that dlkprof does not have, and what to give instead.
#pragma once

#include <string>
#include <string_view>

namespace dlkprof::cli {

// What answers an option, spelled with dashes ("--file-formats", "-o"): whose it is, and what to do. Empty for one that is
// nobody's.
[[nodiscard]] std::string foreign_option(std::string_view option);

// The same for a value of an option that is ours: --mode=trtexec, --section SpeedOfLight. `option` is without its dashes.
[[nodiscard]] std::string foreign_value(std::string_view option, std::string_view value);

}  // namespace dlkprof::cli
