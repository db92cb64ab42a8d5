// The rules of `compare --gate`, read from a file.
#pragma once

#include <filesystem>
#include <vector>

#include "advise/compare/gate.h"

namespace dlkprof::cli {

inline constexpr int kGateBroken = 3;  // exit code

// Throws UsageError: no such file, no JSON, a rule that cannot be.
[[nodiscard]] std::vector<advise::GateRule> load_gate(const std::filesystem::path& path);

// Checks each run against the first, says a line for each rule on stderr, and returns the exit code.
[[nodiscard]] int apply_gate(const std::vector<advise::GateRule>& rules, const std::vector<const advise::Comparison*>& pairs);

}  // namespace dlkprof::cli
