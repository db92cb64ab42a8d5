// What one rule finds in a run.
#pragma once

#include <string>
#include <string_view>

#include "advise/rules.h"
#include "support/diagnosed_run.h"

namespace dlkprof::test {

inline advise::Findings found(const model::Profile& profile, std::string_view rule) {
  advise::Findings all = advise::diagnose(profile);
  std::erase_if(all, [rule](const advise::Finding& finding) { return finding.rule->name != rule; });
  return all;
}

inline bool fires(const model::Profile& profile, std::string_view rule) { return !found(profile, rule).empty(); }

}  // namespace dlkprof::test
