// The report `expert_systems`: what the rules of the expert system found (guide, 10.9).
#pragma once

#include <cstddef>
#include <string>

#include "report/ops/fields.h"

namespace dlkprof::report {

// By time at stake, falling.
[[nodiscard]] Rows expert_systems_report(const Model& model);

inline constexpr std::size_t kTopFindings = 3;

// The findings most worth acting on, for the end of a profile: a heading and a line each; empty where nothing was found.
[[nodiscard]] std::string top_findings(const Model& model, std::size_t most = kTopFindings);

}  // namespace dlkprof::report
