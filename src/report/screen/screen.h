// The one screen of a profile: what holds it back, where its GPU time goes, what to change, what was skipped, and what to type
// next.
#pragma once

#include <cstddef>
#include <string>

#include "model/profile.h"
#include "report/format/layout.h"

namespace dlkprof::report {

inline constexpr std::size_t kScreenLines = 50;
inline constexpr std::size_t kScreenWidth = 80;  // wider terminals only get longer names

// `file` is the capture or database as a command line names it. At most kScreenLines lines, as wide as the page.
[[nodiscard]] std::string screen(const model::Profile& profile, const std::string& file, const Page& page);

// The same as Markdown of at most kMarkdownLines lines, with ops in the place of layers, their spread, and the evidence of
// findings.
inline constexpr std::size_t kMarkdownLines = 60;
[[nodiscard]] std::string screen_markdown(const model::Profile& profile, const std::string& file);

// The sentence that the screen begins with: what holds the run back.
[[nodiscard]] std::string verdict_of(const model::Profile& profile);

// Sets KindRow::verdict of all kinds, where there are several. While it works, the profile's aggregate is that of one kind.
void judge_kinds(model::Profile& profile);

}  // namespace dlkprof::report
