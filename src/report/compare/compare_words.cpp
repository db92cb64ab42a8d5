#include "report/compare/compare_words.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text.h"
#include "report/format/layout.h"
#include "report/ops/fields.h"

namespace dlkprof::report {
namespace {

constexpr std::size_t kRunLabelWidth = 40;

}  // namespace

std::string times_text(double ratio) {
  if (ratio >= 100) return humanize(std::round(ratio), "").value + "x";
  return ratio >= 10 ? fmt::format("{:.1f}x", ratio) : fmt::format("{:.3g}x", ratio);
}

std::string share_text_of(double share) {
  const double percent = 100 * share;
  return percent > 0 && percent < 0.1 ? "below 0.1 %" : fmt::format("{:.1f} %", percent);
}

std::string time_text_of(double ns) {
  const Quantity quantity = humanize(std::round(ns), "ns");
  return quantity.value + " " + quantity.unit;
}

std::string run_label(const advise::RunFigures& run) { return printable(run.label, kRunLabelWidth); }

std::string op_words(const advise::OpFigures& op) {
  std::string text = printable(op.type, kWordsWidth);
  if (op.direction != model::Direction::none) text += fmt::format(" ({})", model::name_in(model::kDirections, op.direction));
  // The end of a long path says more than its beginning; so it is cut before it is made printable.
  constexpr std::size_t kPath = 100;
  const bool is_long = op.name.size() > kPath;
  const std::string end = is_long ? op.name.substr(op.name.size() - kPath) : op.name;
  return text + " of " + (is_long ? "..." : "") + printable(end, kWordsWidth);
}

std::string at_samples(const advise::Comparison& of) {
  return of.batch_ratio && *of.batch_ratio != 1 ? fmt::format(" at {} the samples", times_text(*of.batch_ratio)) : "";
}

}  // namespace dlkprof::report
