#include "report/screen/screen.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/diagnosis/reports.h"
#include "report/screen/screen_parts.h"

namespace dlkprof::report {
namespace {

constexpr std::size_t kScreenFindings = 3;
constexpr std::size_t kLabelColumns = 12;
constexpr std::size_t kNumberColumns = 3;  // before a finding

// Words are dropped until there is room for the dots.
std::string with_dots(std::string line, std::size_t width) {
  constexpr std::string_view kDots = "...", kAfterWord = " ...";
  if (display_width(line) + kDots.size() <= width) return line.append(kDots);
  while (display_width(line) + kAfterWord.size() > width) {
    const std::size_t word = line.rfind(' ');
    if (word == std::string::npos) return shorten_middle(line, width - kAfterWord.size()).append(kAfterWord);
    line.resize(word);
  }
  return line.append(kAfterWord);
}

// At most so many lines of wrapped text; what is cut ends in "...".
ScreenLines wrapped(const std::string& words, std::size_t indent, const Page& page, std::size_t most) {
  ScreenLines lines = split(wrap(printable(words), page.width, indent, indent), '\n');
  const bool is_cut = lines.size() > most;
  if (is_cut) lines.resize(most);
  if (!lines.empty()) lines.front() = std::string(indent, ' ') + lines.front();
  for (std::string& line : lines) line = shorten_middle(line, page.width);  // one long word
  if (is_cut) lines.back() = with_dots(std::move(lines.back()), page.width);
  return lines;
}

// The greatest of each rule: the same advice twice helps nobody. With how many more the rule found.
struct ShownFinding {
  const advise::Finding* finding = nullptr;
  std::size_t more = 0;
};
std::vector<ShownFinding> choose_findings(const advise::Findings& findings) {
  std::vector<ShownFinding> shown;
  for (const advise::Finding& finding : findings) {
    const auto same = std::find_if(shown.begin(), shown.end(),
                                   [&finding](const ShownFinding& one) { return one.finding->rule == finding.rule; });
    if (same != shown.end()) {
      ++same->more;
    } else {
      shown.push_back({&finding, 0});
    }
  }
  if (shown.size() > kScreenFindings) shown.resize(kScreenFindings);
  return shown;
}

ScreenLines finding_lines(const ShownFinding& shown, std::size_t number, const model::Profile& profile, const Page& page,
                          std::size_t advice_lines) {
  const advise::Finding& finding = *shown.finding;
  const model::Summary& summary = profile.aggregate.summary;
  const auto bound = static_cast<double>(finding.bound_ns.value_or(0));
  const double percent = 100 * bound / static_cast<double>(summary.wall_ns);
  const double iterations = summary.shown_iterations();
  const std::string gain = fmt::format("at most {:.1f} %, {}", percent, short_quantity(bound / iterations, "ns"));
  const std::string title = shorten_middle(fmt::format("{}. {}", number, finding.rule->headline), page.width - gain.size() - 2);
  ScreenLines lines{bold(title, page) + std::string(page.width - display_width(title) - gain.size(), ' ') + gain};
  const std::string more = shown.more == 0 ? "" : fmt::format(", and at {} more", shown.more);
  const std::string place = place_text(finding, profile.fold, page.width - kNumberColumns - 3 - more.size());
  if (!place.empty()) add_lines(lines, {"   at " + place + more});
  add_lines(lines, wrapped(finding.recommendation, kNumberColumns, page, advice_lines));
  return lines;
}

ScreenLines findings_of(const ScreenInputs& inputs, std::size_t advice_lines) {
  const advise::Findings& findings = inputs.overview.findings;
  if (findings.empty()) return {};
  constexpr const char* kHeading = "What to change (gains overlap)";
  const std::string right = inputs.overview.per_iteration ? "estimated gain per iteration" : "estimated gain";
  ScreenLines lines{bold(kHeading, inputs.page) + pad_left(right, inputs.page.width - std::string_view(kHeading).size())};
  const std::vector<ShownFinding> shown = choose_findings(findings);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    add_lines(lines, finding_lines(shown[i], i + 1, inputs.profile, inputs.page, advice_lines));
  }
  return lines;
}

// Blank lines go first where all does not fit.
std::string fit_screen(const std::vector<ScreenLines>& parts) {
  std::size_t count = 0, blanks = 0;
  for (const ScreenLines& part : parts) {
    count += part.size();
    if (!part.empty()) ++blanks;
  }
  blanks = count >= kScreenLines ? 0 : std::min(blanks - 1, kScreenLines - count);
  std::string text;
  std::size_t lines = 0;
  for (const ScreenLines& part : parts) {
    if (part.empty()) continue;
    if (!text.empty() && blanks > 0) {
      text += "\n";
      --blanks;
      ++lines;
    }
    for (const std::string& line : part) {
      if (lines++ < kScreenLines) text += line + "\n";
    }
  }
  return text;
}

// A sentence of the run, or one of each kind of its iterations.
ScreenLines verdict_lines(const ScreenInputs& inputs) {
  constexpr std::size_t kLinesOfOne = 3, kKinds = 3;
  const model::Aggregate& made = inputs.profile.aggregate;
  ScreenLines lines;
  for (std::size_t i = 0; made.is_mixed() && i < std::min(kKinds, made.kinds.size()); ++i) {
    if (!made.kinds[i].verdict.empty()) add_lines(lines, wrapped(made.kinds[i].verdict, 0, inputs.page, kLinesOfOne));
  }
  return lines.empty() ? wrapped(verdict_sentence(inputs), 0, inputs.page, kLinesOfOne) : lines;
}

}  // namespace

void add_lines(ScreenLines& lines, ScreenLines more) { std::move(more.begin(), more.end(), std::back_inserter(lines)); }

ScreenLines labelled(const std::string& label, const std::string& words, const Page& page, std::size_t most) {
  if (words.empty()) return {};
  ScreenLines lines = wrapped(words, kLabelColumns, page, most);
  if (!lines.empty()) lines.front().replace(0, kLabelColumns, pad_right(label, kLabelColumns));
  return lines;
}

std::string screen(const model::Profile& profile, const std::string& file, const Page& page) {
  const advise::Overview overview = advise::overview_of(profile);
  const ScreenInputs inputs{profile, overview, file, {std::max<std::size_t>(page.width, 60), page.styled}};
  ScreenLines verdict = verdict_lines(inputs);
  for (std::string& line : verdict) line = bold(line, inputs.page);
  std::vector<ScreenLines> parts{
      verdict, fact_lines(inputs), share_lines(inputs), findings_of(inputs, 3), skipped_lines(inputs), next_lines(inputs)};
  std::size_t lines = parts.size() - 1;  // blank ones between them
  for (const ScreenLines& part : parts) lines += part.size();
  if (lines > kScreenLines) parts[3] = findings_of(inputs, 2);
  return fit_screen(parts);
}

void judge_kinds(model::Profile& profile) {
  if (profile.aggregate.kinds.size() < 2) return;
  model::Aggregate all = std::move(profile.aggregate);
  for (model::KindRow& row : all.kinds) {
    const model::IterationRange range{all.first_iteration, all.last_iteration, profile.fold.kinds[row.kind].name};
    profile.aggregate = model::aggregate(profile.timeline, profile.fold, range);
    row.verdict = verdict_of(profile);
  }
  profile.aggregate = std::move(all);
}

std::string verdict_of(const model::Profile& profile) {
  const advise::Overview overview = advise::overview_of(profile);
  return verdict_sentence({profile, overview, "", {}});
}

}  // namespace dlkprof::report
