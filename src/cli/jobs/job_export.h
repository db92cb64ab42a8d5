// dlkprof export: the database of a job as files of other tools.
#pragma once

#include <filesystem>
#include <string>

#include "export/job_run.h"

namespace dlkprof::cli {

// Reads the job when the formats ask for its parts, and lives no longer than what it returns. Throws Error as JobDatabase does.
[[nodiscard]] exports::JobRun job_run_of(const std::filesystem::path& file, const std::string& label);

}  // namespace dlkprof::cli
