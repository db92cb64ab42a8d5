// What the rules of the expert system found, for people: a list in full sentences.
#pragma once

#include <string>

#include "advise/rules.h"
#include "model/profile.h"
#include "report/format/choice.h"
#include "report/format/layout.h"

namespace dlkprof::report {

// By estimated gain, falling: for each finding its title, the op, what was found, and the change to make. The first 20, unless
// the choice says how many; its `accepts` is asked for ops and kernels. Throws UsageError where it names columns.
[[nodiscard]] std::string findings_text(const model::Profile& profile, const Choice& choice, const Page& page);

// Where a finding was made, in at most `width` columns: "gemm of .../fc/aten::mm bprop"; empty for the run.
[[nodiscard]] std::string place_text(const advise::Finding& finding, const model::Fold& fold, std::size_t width);

}  // namespace dlkprof::report
