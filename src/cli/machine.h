// The GPUs of this machine and who may read their counters. Nothing here needs a GPU, a driver or CUPTI: what is not
// there is said.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace dlkprof::cupti {
class Library;
}

namespace dlkprof::cli {

// "dlkprof 0.2.0 (commit 1bfcea3, built with CUDA 13.0 and CUPTI 130000)", as CUPTI numbers its interface.
[[nodiscard]] std::string version_text();

// NVPerf's name for the chip of a data-centre GPU that somebody names as it is sold: GH100 for H200. Another word as it is.
[[nodiscard]] std::string chip_named(const std::string& word);

// The chip asked for, else that of the first GPU here. Throws UsageError where there is none.
[[nodiscard]] std::string choose_chip(const std::string& asked, const cupti::Library& library,
                                      const std::filesystem::path& cupti_path);

// Whether the driver lets only administrators read counters, from the text of /proc/driver/nvidia/params; none where it
// does not say.
[[nodiscard]] std::optional<bool> counters_for_admins_only(const std::string& params);

// Whether this process has CAP_SYS_ADMIN, from the text of /proc/self/status.
[[nodiscard]] bool has_sys_admin(const std::string& status);

}  // namespace dlkprof::cli
