#include "report/launches/launch_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "model/aggregate/provenance.h"
#include "report/format/layout.h"

namespace dlkprof::report {
namespace {

std::string name(const model::Timeline& timeline, const model::Config& config, std::string model::Kernel::*which) {
  if (config.kernel == model::kNone) return fmt::format("unknown function {}", config.key.function);
  return timeline.kernels[config.kernel].*which;
}

}  // namespace

std::string dim_text(const capture::Dim3& size) { return fmt::format("({}, {}, {})", size.x, size.y, size.z); }

std::string base_name(const model::Timeline& timeline, const model::Config& config) {
  return name(timeline, config, &model::Kernel::name);
}
std::string demangled_name(const model::Timeline& timeline, const model::Config& config) {
  return name(timeline, config, &model::Kernel::long_name);
}
std::string mangled_name(const model::Timeline& timeline, const model::Config& config) {
  return config.kernel == model::kNone ? "" : timeline.kernels[config.kernel].mangled;
}

const char* replay_mode_name(capture::ReplayMode mode) {
  constexpr std::array kNames{"none", "kernel", "iteration", "sample"};
  return kNames.at(static_cast<std::size_t>(mode));
}

const char* skip_reason_text(capture::SkipReason reason) {
  return reason == capture::SkipReason::none ? "no reason recorded" : model::incomplete_text(model::as_incomplete(reason));
}

const char* notice_label(capture::Severity severity) {
  if (severity == capture::Severity::error) return "Error";
  return severity == capture::Severity::warning ? "Warning" : "Note";
}

Cell sampling_period(const model::PcSamples& samples) {
  if (samples.totals.empty()) return {};
  std::uint32_t shortest = samples.totals.front().shortest_log2, longest = samples.totals.front().longest_log2;
  for (const model::PcTotals& totals : samples.totals) {
    shortest = std::min(shortest, totals.shortest_log2);
    longest = std::max(longest, totals.longest_log2);
  }
  if (shortest == longest) return std::uint64_t{1} << longest;
  return fmt::format("{} to {}", std::uint64_t{1} << shortest, std::uint64_t{1} << longest);
}

}  // namespace dlkprof::report
