#include "model/samples/instruction_counts.h"

#include <algorithm>
#include <set>
#include <utility>

namespace dlkprof::model {

InstructionCounts::InstructionCounts(const PcSamples& samples)
    : samples_(samples), sums_(samples.counts.empty() ? 0 : samples.instructions.size()), launches_(samples.functions.size()) {
  std::vector<std::size_t> places;  // by metric; that of no known one is beyond the last
  for (const std::string& name : samples.sass_metrics) {
    const auto known = std::find(cupti::kSassMetrics.begin(), cupti::kSassMetrics.end(), name);
    places.push_back(static_cast<std::size_t>(known - cupti::kSassMetrics.begin()));
    if (places.back() < is_known_.size()) is_known_[places.back()] = true;
  }
  std::set<std::pair<std::uint32_t, std::uint32_t>> launches;  // function and configuration
  for (const SassCount& count : samples.counts) {
    launches.emplace(samples.instructions[count.instruction].function, count.config);
    if (const std::size_t place = places[count.metric]; place < is_known_.size()) {
      std::uint64_t& sum = sums_[count.instruction][place];
      sum = std::min(sum + count.value, kMostPcSamples);
    }
  }
  for (const auto& [function, config] : launches) ++launches_[function];
}

std::uint64_t InstructionCounts::launches(std::uint32_t instruction) const {
  return launches_[samples_.instructions[instruction].function];
}

std::optional<std::uint64_t> InstructionCounts::of(std::uint32_t instruction, SassMetric metric) const {
  const auto place = static_cast<std::size_t>(metric);
  if (!is_known_[place] || launches(instruction) == 0) return {};
  return sums_[instruction][place];
}

std::optional<std::uint64_t> InstructionCounts::excess(std::uint32_t instruction, SassMetric asked, SassMetric ideal) const {
  const auto all = of(instruction, asked), least = of(instruction, ideal);
  if (!all || !least) return {};
  return *all - std::min(*all, *least);  // files may say anything
}

std::optional<double> InstructionCounts::per_warp(std::uint32_t instruction, SassMetric threads) const {
  const auto warps = of(instruction, SassMetric::instructions), counted = of(instruction, threads);
  if (warps.value_or(0) == 0 || !counted) return {};
  return static_cast<double>(*counted) / static_cast<double>(*warps);
}

}  // namespace dlkprof::model
