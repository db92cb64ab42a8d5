// Jobs' databases in the verbs that read runs.
#pragma once

#include "cli/report_command.h"

namespace dlkprof::cli {

// `dlkprof report <job database>`: the screen, or reports over ranks. Throws UsageError and Error.
[[nodiscard]] int report_job(const ReportCommand& command);

}  // namespace dlkprof::cli
