#include "advise/sampled_stalls.h"

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <utility>

namespace dlkprof::advise {
namespace {

constexpr const char* kIssued = "selected";

// By reason.
struct Tally {
  std::uint64_t samples = 0;
  double cycles = 0;
  std::map<std::uint32_t, double> by_reason;

  void add(const model::PcStall& stall) {
    samples += stall.samples;
    cycles += static_cast<double>(stall.cycles);
    by_reason[stall.reason] += static_cast<double>(stall.cycles);
  }
};

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

std::vector<SampledInstruction> sampled_instructions(const model::PcSamples& samples) {
  const std::map<std::uint32_t, Tally> kernels = tally_kernels(samples);
  std::map<std::uint32_t, Tally> tallies;
  for (const model::PcStall& stall : samples.stalls) tallies[stall.instruction].add(stall);
  struct Rank {
    double kernel = 0, own = 0;  // cycles
    std::uint32_t number = 0;    // of the kernel
  };
  std::vector<std::pair<Rank, SampledInstruction>> ranked;
  for (const auto& [instruction, tally] : tallies) {
    if (tally.samples == 0) continue;
    const std::uint32_t kernel = kernel_of(samples, instruction);
    const double all = kernels.at(kernel).cycles;
    ranked.push_back(
        {{all, tally.cycles, kernel}, {instruction, tally.samples, 100 * tally.cycles / all, stalls_in(tally, samples.reasons)}});
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& one, const auto& other) {
    const Rank &a = one.first, &b = other.first;
    if (a.kernel != b.kernel) return a.kernel > b.kernel;
    return a.number != b.number ? a.number < b.number : a.own > b.own;
  });
  std::vector<SampledInstruction> instructions;
  instructions.reserve(ranked.size());
  for (auto& [rank, instruction] : ranked) instructions.push_back(std::move(instruction));
  return instructions;
}

}  // namespace dlkprof::advise
