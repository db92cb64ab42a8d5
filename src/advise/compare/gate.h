// A gate for pipelines: rules that say how much worse a run may be than the one it is compared with. Times go by the rank test
// and by what two runs of one program differ by (gate_times.h), so that noise does not break a rule; counters that do not depend
// on the clock go by their values, so that no quiet machine is needed.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "advise/compare/compare_runs.h"

namespace dlkprof::advise {

using NameMatcher = std::function<bool(const std::string& name)>;

struct GateRule {
  enum class Kind : std::uint8_t { iteration_time, gpu_time, counter };
  std::string name;  // for messages; may be empty
  Kind kind = Kind::iteration_time;
  std::string counter;            // its metric
  NameMatcher ops;                // each op that it takes is looked at by itself; null: the run as a whole
  double most_percent = 0;        // that it may grow by
  double least_growth = 0;        // of a counter, in its unit and an iteration: what grows by less breaks nothing
  bool breaks_if_unknown = true;  // where it was not measured, or too few iterations are there to test
};

struct GateResult {
  enum class Verdict : std::uint8_t { kept, broken, unknown };
  const GateRule* rule = nullptr;
  Verdict verdict = Verdict::kept;
  std::string why;  // one line
  [[nodiscard]] bool breaks() const {
    return verdict == Verdict::broken || (verdict == Verdict::unknown && rule->breaks_if_unknown);
  }
};

// Whether a metric counts what the program does whatever the clock and the load: a sum of instructions, bytes, sectors, requests,
// wavefronts or operations.
[[nodiscard]] bool is_clock_free(std::string_view metric);

// A result for each rule, which outlive it: the worst op where a rule is of ops.
[[nodiscard]] std::vector<GateResult> check_gate(const std::vector<GateRule>& rules, const Comparison& comparison);

}  // namespace dlkprof::advise
