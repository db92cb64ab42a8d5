// The parts of the screen, each a few lines. Inside report/screen only.
#pragma once

#include <string>
#include <vector>

#include "advise/overview.h"
#include "report/format/layout.h"

namespace dlkprof::report {

using ScreenLines = std::vector<std::string>;

struct ScreenInputs {
  const model::Profile& profile;
  const advise::Overview& overview;
  std::string file;
  Page page;
};

// What holds the run back, in a sentence.
[[nodiscard]] std::string verdict_sentence(const ScreenInputs& inputs);
// Program, iteration time, GPU utilization, what was measured: a label and a line each.
[[nodiscard]] ScreenLines fact_lines(const ScreenInputs& inputs);
// Where GPU time goes: a row a layer group or kernel.
[[nodiscard]] ScreenLines share_lines(const ScreenInputs& inputs);
// What was skipped, and what the capture warns of.
[[nodiscard]] ScreenLines skipped_lines(const ScreenInputs& inputs);
// What to type next.
[[nodiscard]] ScreenLines next_lines(const ScreenInputs& inputs);

// Whether any process was to be measured launch by launch.
[[nodiscard]] bool wants_counters(const model::Timeline& timeline);

void add_lines(ScreenLines& lines, ScreenLines more);
// A label and words; words that do not fit go on in lines beneath them, `most` lines in all.
[[nodiscard]] ScreenLines labelled(const std::string& label, const std::string& words, const Page& page, std::size_t most);

}  // namespace dlkprof::report
