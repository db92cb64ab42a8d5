#include "advise/sampled_loops.h"

#include <algorithm>

namespace dlkprof::advise {
namespace {

const model::SassInstruction* instruction_at(const model::SassFunction* function, std::uint64_t offset) {
  return function == nullptr ? nullptr : function->at(offset);
}

}  // namespace

SourcePlace source_of(const model::PcSamples& samples, const model::PcInstruction& at, const model::SassInstruction* known) {
  if (at.line != 0 || known == nullptr) return {samples.files[at.file], at.line};
  return {known->file, known->line};
}

SampledLoops::Tallies SampledLoops::tally(const model::PcSamples& samples, const model::Sass& sass) {
  Tallies tallies(samples.functions.size());
  for (std::uint32_t i = 0; i < tallies.size(); ++i) {
    if (const model::SassFunction* function = sass.of(i)) tallies[i].resize(function->loops.size());
  }
  for (const model::PcStall& stall : samples.stalls) {
    const model::PcInstruction& at = samples.instructions[stall.instruction];
    const model::SassFunction* function = sass.of(at.function);
    const auto cycles = static_cast<double>(stall.cycles);
    const model::SassInstruction* known = instruction_at(function, at.offset);
    if (known == nullptr) continue;
    const SourcePlace place = source_of(samples, at, known);
    for (std::uint32_t loop = known->loop; loop != model::kNoLoop; loop = function->loops[loop].around) {
      Tally& sum = tallies[at.function][loop];
      sum.cycles += cycles;
      if (place.line == 0) continue;
      Lines& lines = sum.files[place.file];
      lines.first = lines.first == 0 ? place.line : std::min(lines.first, place.line);
      lines.last = std::max(lines.last, place.line);
      lines.cycles += cycles;
    }
  }
  return tallies;
}

SampledLoops::SampledLoops(const model::PcSamples& samples, const model::Sass& sass) {
  std::map<std::uint32_t, double> kernels;
  for (const model::PcStall& stall : samples.stalls) {
    kernels[samples.functions[samples.instructions[stall.instruction].function].kernel] += static_cast<double>(stall.cycles);
  }
  const Tallies tallies = tally(samples, sass);
  loops_.resize(tallies.size());
  for (std::uint32_t i = 0; i < tallies.size(); ++i) {
    for (std::size_t loop = 0; loop < tallies[i].size(); ++loop) {
      const model::SassLoop& known = sass.of(i)->loops[loop];
      const Tally& sum = tallies[i][loop];
      const auto most = std::max_element(sum.files.begin(), sum.files.end(),
                                         [](const auto& a, const auto& b) { return a.second.cycles < b.second.cycles; });
      const Lines lines = most == sum.files.end() ? Lines{} : most->second;
      const double all = kernels[samples.functions[i].kernel];
      const auto percent = all > 0 ? std::optional(100 * sum.cycles / all) : std::nullopt;
      loops_[i].push_back({known.head, known.last, percent, lines.first, lines.last});
    }
  }
  for (const model::PcInstruction& at : samples.instructions) {
    const model::SassInstruction* known = instruction_at(sass.of(at.function), at.offset);
    innermost_.push_back(known == nullptr || known->loop == model::kNoLoop ? nullptr : &loops_[at.function][known->loop]);
  }
}

const SampledLoop* SampledLoops::of(std::uint32_t instruction) const { return innermost_[instruction]; }

}  // namespace dlkprof::advise
