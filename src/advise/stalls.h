// What warps wait for between two instructions, and what usually helps.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "advise/quantities.h"

namespace dlkprof::advise {

struct StallReason {
  const char* name;     // as NVPerf's metrics have it: long_scoreboard
  const char* meaning;  // a sentence: what a warp waits for
  const char* remedy;   // a sentence: what usually helps; "" where it is no wait
};
// All that metrics/sections/stall.json asks for. After the warp stall reasons of Nsight Compute's Kernel Profiling Guide, in our
// own words.
[[nodiscard]] const std::vector<StallReason>& stall_reasons();

struct Stall {
  std::string name;
  const StallReason* reason = nullptr;  // none for one that this version does not know
  double cycles = 0;                    // that a warp waits for it, an instruction issued
  double percent = 0;                   // of all warp cycles, "selected" included
};
// By cycles, falling; those of 0 cycles are left out. "selected", the issue itself, is among them. Empty where none was measured.
[[nodiscard]] std::vector<Stall> stalls_of(const Values& values);

}  // namespace dlkprof::advise
