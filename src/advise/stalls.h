// What warps wait for between two instructions, and what usually helps.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "advise/quantities.h"

namespace dlkprof::advise {

struct StallReason {
  const char* name;     // as NVPerf's metrics have it: long_scoreboard
  const char* awaited;  // what a warp waits for, in a few words; "" where it is no wait
  const char* meaning;  // a sentence: what a warp waits for
  const char* remedy;   // a sentence: what usually helps; "" where it is no wait
};
// All that metrics/sections/stall.json asks for. After the warp stall reasons of Nsight Compute's Kernel Profiling Guide, in our
// own words.
[[nodiscard]] const std::vector<StallReason>& stall_reasons();

struct Stall {
  std::string name;
  const StallReason* reason = nullptr;  // none for one that this version does not know
  // That a warp waits for it, an instruction issued; not a number where samples hold none that was issued.
  double cycles = 0;
  double percent = 0;  // of all warp cycles, "selected" included

  [[nodiscard]] bool waits() const { return name != "selected"; }  // which is the issue itself
};
// By cycles, falling; those of 0 cycles are left out. "selected", the issue itself, comes last. Empty where none was measured.
[[nodiscard]] std::vector<Stall> stalls_of(const Values& values);

// The first that is a wait, which in the order of stalls_of() and of samples is the largest; null where there is none.
[[nodiscard]] const Stall* top_wait(const std::vector<Stall>& stalls);

// A reason by the name that PC sampling has for it, in the words of counters: smsp__pcsamp_warps_issue_stalled_no_instructions is
// no_instruction. What a warp does that waits for nothing, among them "selected", is no stall, but has a name as well.
[[nodiscard]] std::string stall_name(std::string_view sampled);
[[nodiscard]] const StallReason* find_stall_reason(std::string_view name);

}  // namespace dlkprof::advise
