#include "advise/sampled_stalls.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace dlkprof::advise {
namespace {

constexpr const char* kIssued = "selected";

// By reason.
struct Tally {
  std::uint64_t samples = 0;
  double cycles = 0;
  std::map<std::uint32_t, double> by_reason;
  std::map<std::uint32_t, std::uint64_t> samples_by_reason;

  void add(const model::PcStall& stall) {
    samples += stall.samples;
    cycles += static_cast<double>(stall.cycles);
    by_reason[stall.reason] += static_cast<double>(stall.cycles);
    samples_by_reason[stall.reason] += stall.samples;
  }
};

std::uint64_t stalled_in(const Tally& tally, const std::vector<std::string>& names) {
  std::uint64_t stalled = 0;
  for (const auto& [reason, samples] : tally.samples_by_reason) {
    if (stall_name(names[reason]) != kIssued) stalled += samples;
  }
  return stalled;
}

// Samples find a warp in each state as often as warps are in it: as many issue as issue slots are used, so that what counters
// give as cycles an instruction issued is the quotient of the two.
std::vector<Stall> stalls_in(const Tally& tally, const std::vector<std::string>& names) {
  double issued = 0;
  std::vector<Stall> stalls;
  for (const auto& [reason, cycles] : tally.by_reason) {
    const std::string name = stall_name(names[reason]);
    if (name == kIssued) issued = cycles;
    if (cycles > 0) stalls.push_back({name, find_stall_reason(name), cycles, 100 * cycles / tally.cycles});
  }
  for (Stall& stall : stalls) stall.cycles = issued > 0 ? stall.cycles / issued : std::numeric_limits<double>::quiet_NaN();
  std::stable_sort(stalls.begin(), stalls.end(), [](const Stall& a, const Stall& b) { return a.percent > b.percent; });
  return stalls;
}

std::uint32_t kernel_of(const model::PcSamples& samples, std::uint32_t instruction) {
  return samples.functions[samples.instructions[instruction].function].kernel;
}

std::map<std::uint32_t, Tally> tally_kernels(const model::PcSamples& samples) {
  std::map<std::uint32_t, Tally> kernels;
  for (const model::PcStall& stall : samples.stalls) kernels[kernel_of(samples, stall.instruction)].add(stall);
  return kernels;
}

// What lies in one place of a kernel.
struct Part {
  std::uint32_t kernel = 0;
  std::uint64_t samples = 0, stalled = 0;
  double of_kernel = 0, cycles = 0;
  double percent = 0;  // of its kernel
  std::vector<Stall> stalls;
};

// `place_of(instruction)`: what it is put together with. Kernels by cycles, falling; within one its places likewise.
template <typename Place>
std::vector<std::pair<Place, Part>> ranked_parts(const model::PcSamples& samples, const auto& place_of) {
  const std::map<std::uint32_t, Tally> kernels = tally_kernels(samples);
  std::map<Place, std::pair<std::uint32_t, Tally>> tallies;  // with the kernel
  for (const model::PcStall& stall : samples.stalls) {
    auto& [kernel, tally] = tallies[place_of(stall.instruction)];
    kernel = kernel_of(samples, stall.instruction);
    tally.add(stall);
  }
  std::vector<std::pair<Place, Part>> ranked;
  for (const auto& [place, of] : tallies) {
    const auto& [kernel, tally] = of;
    if (tally.samples == 0) continue;
    const double all = kernels.at(kernel).cycles;
    ranked.push_back({place,
                      {kernel, tally.samples, stalled_in(tally, samples.reasons), all, tally.cycles, 100 * tally.cycles / all,
                       stalls_in(tally, samples.reasons)}});
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& one, const auto& other) {
    const Part &a = one.second, &b = other.second;
    if (a.of_kernel != b.of_kernel) return a.of_kernel > b.of_kernel;
    return a.kernel != b.kernel ? a.kernel < b.kernel : a.cycles > b.cycles;
  });
  return ranked;
}

}  // namespace

std::vector<SampledKernel> sampled_kernels(const model::PcSamples& samples) {
  std::vector<SampledKernel> kernels;
  for (const auto& [kernel, tally] : tally_kernels(samples)) {
    if (tally.samples == 0) continue;
    kernels.push_back({kernel, tally.samples, tally.cycles, stalls_in(tally, samples.reasons)});
  }
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const SampledKernel& a, const SampledKernel& b) { return a.cycles > b.cycles; });
  return kernels;
}

std::vector<SampledInstruction> instructions_of(const model::PcSamples& samples, const model::InstructionCounts& counts) {
  std::vector<Tally> tallies(samples.instructions.size());
  for (const model::PcStall& stall : samples.stalls) tallies[stall.instruction].add(stall);
  const std::map<std::uint32_t, Tally> kernels = tally_kernels(samples);
  std::map<std::uint32_t, std::uint64_t> executed_of;  // by kernel
  const auto executed = [&counts](std::uint32_t instruction) {
    return counts.of(instruction, model::SassMetric::instructions).value_or(0);
  };
  for (std::uint32_t i = 0; i < tallies.size(); ++i) {
    std::uint64_t& sum = executed_of[kernel_of(samples, i)];
    sum = std::min(sum + executed(i), model::kMostPcSamples);
  }
  // Each falling but the numbers.
  using Rank = std::tuple<double, std::uint64_t, std::uint32_t, double, std::uint64_t, std::uint32_t>;
  std::vector<std::pair<Rank, SampledInstruction>> ranked;
  for (std::uint32_t i = 0; i < tallies.size(); ++i) {
    const Tally& tally = tallies[i];
    if (tally.samples == 0 && counts.launches(i) == 0) continue;
    const std::uint32_t kernel = kernel_of(samples, i);
    const auto sampled = kernels.find(kernel);
    const double cycles = sampled == kernels.end() ? 0 : sampled->second.cycles;
    ranked.push_back(
        {{-cycles, ~executed_of[kernel], kernel, -tally.cycles, ~executed(i), i},
         {i, tally.samples, stalled_in(tally, samples.reasons),
          cycles > 0 ? std::optional(100 * tally.cycles / cycles) : std::nullopt, stalls_in(tally, samples.reasons)}});
  }
  std::sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<SampledInstruction> all;
  all.reserve(ranked.size());
  for (auto& [rank, row] : ranked) all.push_back(std::move(row));
  return all;
}

std::vector<SampledLine> sampled_lines(const model::PcSamples& samples) {
  using Line = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // kernel, file, line
  const auto line_of = [&samples](std::uint32_t instruction) {
    const model::PcInstruction& at = samples.instructions[instruction];
    return Line{kernel_of(samples, instruction), at.file, at.line};
  };
  std::vector<SampledLine> lines;
  for (auto& [line, part] : ranked_parts<Line>(samples, line_of)) {
    const auto& [kernel, file, number] = line;
    if (number != 0) lines.push_back({kernel, file, number, part.samples, part.percent, std::move(part.stalls)});
  }
  return lines;
}

}  // namespace dlkprof::advise
