// Stall reasons from PC sampling: of kernel functions, whatever op launched them, and of their instructions, with those that were
// counted and not sampled.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "advise/stalls.h"
#include "model/samples/instruction_counts.h"
#include "model/timeline/pc_samples.h"

namespace dlkprof::advise {

struct SampledKernel {
  std::uint32_t kernel = 0;  // index into Timeline::kernels
  std::uint64_t samples = 0;
  double cycles = 0;          // that the samples stand for
  std::vector<Stall> stalls;  // by share, falling
};
// By cycles sampled, falling: the kernels that kept the GPU busiest come first. Functions of the same name are one kernel.
[[nodiscard]] std::vector<SampledKernel> sampled_kernels(const model::PcSamples& samples);

struct SampledInstruction {
  std::uint32_t instruction = 0;  // index into PcSamples::instructions
  std::uint64_t samples = 0;
  std::uint64_t stalled = 0;      // of them, at which a warp did not issue
  std::optional<double> percent;  // of all samples of its kernel; none: it has none
  std::vector<Stall> stalls;      // by share, falling
};
// Those that were sampled or counted. Kernels as above, then by instructions executed; within a kernel the instructions with most
// samples first, then those executed most often.
[[nodiscard]] std::vector<SampledInstruction> instructions_of(const model::PcSamples& samples,
                                                              const model::InstructionCounts& counts);

struct SampledLine {
  std::uint32_t kernel = 0, file = 0, line = 0;  // indices into Timeline::kernels and PcSamples::files; from 1
  std::uint64_t samples = 0;
  double percent = 0;         // of all of its kernel
  std::vector<Stall> stalls;  // by share, falling
};
// Of the instructions whose line is known. Kernels as above; within one the lines with most first.
[[nodiscard]] std::vector<SampledLine> sampled_lines(const model::PcSamples& samples);

}  // namespace dlkprof::advise
