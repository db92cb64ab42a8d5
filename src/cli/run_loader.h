// Runs by their files, as all verbs that read them load them.
#pragma once

#include <string>

#include "cli/captures.h"
#include "model/timeline/timeline.h"

namespace dlkprof::cli {

// Of captures or of a database. Counters that captures kept raw are evaluated where there is an `evaluator`. Throws Error.
[[nodiscard]] model::Timeline load_run(const RunFiles& files, model::RawEvaluator* evaluator = nullptr);

// What a run is called where nobody says: "dlkprof" for dlkprof_dldb.sqlite and for dlkprof.dlkcap; of a folder its own name.
[[nodiscard]] std::string run_name(const std::string& file);

// A report as data does not say what is wrong with its captures: said on stderr, after `file` where it is not empty.
void say_notices(const model::Timeline& timeline, const std::string& file = "");

}  // namespace dlkprof::cli
