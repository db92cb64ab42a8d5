// What was skipped, what the capture warns of, and what to type next.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>

#include "base/text.h"
#include "report/launches/launch_text.h"
#include "report/screen/screen_parts.h"

namespace dlkprof::report {
namespace {

constexpr std::size_t kSkippedLines = 3, kNoticeLines = 2;

struct SkippedLaunches {
  std::uint64_t launches = 0;
  std::set<std::uint32_t> kernels;
};

// "gemm (20), relu (10)"
std::string launched_most(const model::Timeline& timeline) {
  std::map<std::string, std::uint64_t> launches;
  for (const model::LaunchCounts& counts : timeline.counts) {
    if (counts.kernel != model::kNone) launches[timeline.kernels[counts.kernel].name] += counts.launches;
  }
  std::vector<std::pair<std::uint64_t, std::string>> most;
  for (const auto& [name, count] : launches) most.emplace_back(count, name);
  std::stable_sort(most.begin(), most.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(4, most.size()); ++i) {
    text += fmt::format("{}{} ({})", i == 0 ? "" : ", ", shorten_middle(most[i].second, 24), with_separators(most[i].first));
  }
  return text;
}

ScreenLines skipped_by_reason(const ScreenInputs& inputs) {
  const model::Timeline& timeline = inputs.profile.timeline;
  std::map<capture::SkipReason, SkippedLaunches> reasons;
  std::uint64_t launches = 0, matched = 0, near_missed = 0;
  for (const model::LaunchCounts& counts : timeline.counts) {
    launches += counts.launches;
    matched += counts.matched;
    near_missed += counts.near_missed;
    if (counts.skipped == 0) continue;
    SkippedLaunches& skipped = reasons[counts.reason];
    skipped.launches += counts.skipped;
    skipped.kernels.insert(counts.kernel);
  }
  ScreenLines lines;
  const auto add = [&](const std::string& words) {
    if (lines.size() == kSkippedLines) return;
    const ScreenLines more =
        labelled(lines.empty() ? "Skipped" : "", words, inputs.page, std::min<std::size_t>(2, kSkippedLines - lines.size()));
    add_lines(lines, more);
  };
  for (const auto& [reason, skipped] : reasons) {
    add(fmt::format("{} of {}: {}", counted(skipped.launches, "launch", "launches"),
                    counted(skipped.kernels.size(), "kernel", "kernels"), skip_reason_text(reason)));
  }
  if (near_missed > 0) {
    add(fmt::format("{}, see --kernel-name-base demangled", counted(near_missed, "near miss", "near misses")));
  }
  if (matched == 0 && launches > 0) add("None was matched; launched most: " + launched_most(timeline));
  if (matched > 0 && matched + near_missed < launches) {
    add(fmt::format("{} that the selection leaves out", counted(launches - matched - near_missed, "launch", "launches")));
  }
  return lines;
}

// The gravest first. The summary has the rest of their words, and what to do.
ScreenLines notice_lines(const ScreenInputs& inputs) {
  std::vector<const capture::NoticeRecord*> notices;
  for (const capture::NoticeRecord& notice : inputs.profile.timeline.notices) notices.push_back(&notice);
  std::stable_sort(notices.begin(), notices.end(), [](const auto* a, const auto* b) { return a->severity > b->severity; });
  const std::size_t shown = notices.size() <= kNoticeLines ? notices.size() : kNoticeLines - 1;
  ScreenLines lines;
  for (std::size_t i = 0; i < shown; ++i) {
    const std::string words = notices[i]->what + (notices[i]->detail.empty() ? "" : ": " + notices[i]->detail);
    add_lines(lines, labelled(notice_label(notices[i]->severity), words, inputs.page, 1));
  }
  if (shown < notices.size())
    add_lines(lines, labelled("", fmt::format("and {} more notices", notices.size() - shown), inputs.page, 1));
  return lines;
}

struct Suggestion {
  std::string options, what;
};

// A file name as a shell takes it for one word.
std::string quoted(const std::string& file) {
  const std::string shown = printable(file);
  const auto is_plain = [](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
           std::string_view("_./-=+:,@%").find(letter) != std::string_view::npos;
  };
  return std::all_of(shown.begin(), shown.end(), is_plain) ? shown : "'" + shown + "'";
}

// A file of a long name stands on a line of its own, so that it can be copied.
ScreenLines report_command(const std::string& file, std::size_t width) {
  const std::string line = fmt::format("Next: dlkprof report {} with", file);
  if (display_width(line) <= width) return {line};
  return {"Next: dlkprof report with the options below, of", shorten_middle("  " + file, width)};
}

// Of the report, what suits what was found; then how to collect what is missing.
std::vector<Suggestion> report_suggestions(const ScreenInputs& inputs) {
  const advise::Overview& overview = inputs.overview;
  std::vector<Suggestion> all;
  if (!inputs.profile.timeline.notices.empty())
    all.push_back({"--reports summary", "notices in full, and what was not measured"});
  if (!overview.findings.empty()) all.push_back({"--reports expert_systems", "all findings in full sentences"});
  if (overview.launches_measured > 0) all.push_back({"--kernels", "counters of the longest kernels"});
  if (overview.instructions_counted) {
    all.push_back({"--reports source",
                   overview.pc_sampled ? "what each instruction did, and where warps wait" : "what each instruction did"});
  } else if (overview.pc_sampled) {
    all.push_back({"--reports source", "where in the source warps wait"});
  }
  if (overview.has_ops) all.push_back({"--by module", "a row for each module, or by type, op, kernel"});
  if (all.empty() && overview.gpu_ns > 0) all.push_back({"--reports kernel", "a row for each kernel"});
  return all;
}

std::vector<Suggestion> profile_suggestions(const ScreenInputs& inputs) {
  const advise::Overview& overview = inputs.overview;
  if (!overview.has_times) return {{"--mode pytorch", "records ops and iterations; or --mode jax"}};
  const bool was_asked = wants_counters(inputs.profile.timeline);
  if (overview.launches_measured == 0 && overview.gpu_ns > 0 && !was_asked)
    return {{"--set detailed", "measures what bounds each kernel"}};
  return {};
}

}  // namespace

ScreenLines skipped_lines(const ScreenInputs& inputs) {
  ScreenLines lines = skipped_by_reason(inputs);
  add_lines(lines, notice_lines(inputs));
  return lines;
}

ScreenLines next_lines(const ScreenInputs& inputs) {
  constexpr std::size_t kMostSuggestions = 4, kOptionColumns = 28;
  std::vector<Suggestion> reports = report_suggestions(inputs);
  std::vector<Suggestion> profiles = profile_suggestions(inputs);
  reports.resize(std::min(reports.size(), kMostSuggestions - profiles.size()));
  ScreenLines lines;
  const auto add = [&](const ScreenLines& command, const std::vector<Suggestion>& all) {
    if (all.empty()) return;
    add_lines(lines, command);
    for (const Suggestion& one : all) {
      lines.push_back(shorten_middle("  " + pad_right(one.options, kOptionColumns) + one.what, inputs.page.width));
    }
  };
  add(report_command(quoted(inputs.file), inputs.page.width), reports);
  add({lines.empty() ? "Next: profile again with" : "or profile again with"}, profiles);
  return lines;
}

}  // namespace dlkprof::report
