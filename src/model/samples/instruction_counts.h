// What instructions did in all launches that were counted, added up.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "cupti/sass_metrics.h"
#include "model/timeline/pc_samples.h"

namespace dlkprof::model {

using cupti::SassMetric;

class InstructionCounts {
 public:
  explicit InstructionCounts(const PcSamples& samples);

  // 0 of an instruction that none of the launches ran; none where its function was not counted, or the chip lacks the metric.
  // Instructions are indices into PcSamples::instructions.
  [[nodiscard]] std::optional<std::uint64_t> of(std::uint32_t instruction, SassMetric metric) const;
  // How many launches were counted of its function: one of each launch configuration. 0: none.
  [[nodiscard]] std::uint64_t launches(std::uint32_t instruction) const;
  // More than the least that its threads' addresses need: sectors of global memory, or wavefronts of shared memory.
  [[nodiscard]] std::optional<std::uint64_t> excess(std::uint32_t instruction, SassMetric asked, SassMetric ideal) const;
  // Threads for each warp that executed it, of one of the two metrics of threads. None where none did.
  [[nodiscard]] std::optional<double> per_warp(std::uint32_t instruction, SassMetric threads) const;

 private:
  using Sums = std::array<std::uint64_t, cupti::kSassMetrics.size()>;
  const PcSamples& samples_;
  std::array<bool, cupti::kSassMetrics.size()> is_known_{};
  std::vector<Sums> sums_;               // by instruction
  std::vector<std::uint64_t> launches_;  // by function
};

}  // namespace dlkprof::model
