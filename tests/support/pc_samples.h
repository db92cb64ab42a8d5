// What PC sampling might have found, for the tests of what reads it.
#pragma once

#include <cstdint>

#include "model/timeline/timeline.h"

namespace dlkprof::test {

// Of the first two kernels of the timeline. Kernel 0: 10 samples at three instructions, two of them with a line; kernel 1, which
// is in two pieces of machine code: 3.
inline model::PcSamples small_pc_samples() {
  model::PcSamples samples;
  samples.reasons = {"smsp__pcsamp_warps_issue_stalled_long_scoreboard", "smsp__pcsamp_warps_issue_stalled_selected",
                     "smsp__pcsamp_warps_issue_stalled_no_instructions", "of_tomorrow"};
  samples.codes = {{64, {1, 0, 2, 255}}};
  samples.functions = {{0, 11, 0}, {1, 12}, {1, ~std::uint64_t{0}}};
  samples.files = {"", "/src/model.cu"};
  samples.instructions = {{0, 0, 1, 7}, {0, 16, 1, 8}, {0, 32, 0, 0}, {1, 16, 0, 0}, {2, 16, 0, 0}};
  const auto cycles = [](std::uint64_t count) { return count << 17U; };
  samples.stalls = {{0, 0, 4, cycles(4)}, {0, 1, 1, cycles(1)}, {1, 1, 1, cycles(1)}, {1, 2, 3, cycles(3)},
                    {2, 1, 1, cycles(1)}, {3, 3, 2, cycles(2)}, {4, 0, 1, cycles(1)}};
  samples.totals = {{0, 0, 17, 18, 20, 3, 4, 1}};
  return samples;
}

// The same, with the counts of two configurations: of kernel 0, and of the second function of kernel 1, an instruction of which
// was not sampled. The GPU counts neither branches nor shared memory.
inline model::PcSamples counted_pc_samples() {
  model::PcSamples samples = small_pc_samples();
  samples.instructions.push_back({2, 32, 0, 0});
  samples.sass_metrics = {"smsp__sass_inst_executed", "smsp__sass_thread_inst_executed",
                          "smsp__sass_thread_inst_executed_pred_on", "smsp__sass_sectors_mem_global",
                          "smsp__sass_sectors_mem_global_ideal"};
  samples.counts = {{0, 0, 0, 100},  {0, 0, 1, 3200}, {0, 0, 2, 1600}, {0, 0, 3, 800}, {0, 0, 4, 200}, {0, 1, 0, 10},
                    {0, 1, 1, 320},  {0, 1, 2, 320},  {0, 1, 3, 80},   {0, 1, 4, 40},  {1, 0, 0, 100}, {1, 0, 1, 3000},
                    {1, 0, 2, 3000}, {5, 1, 0, 7},    {5, 1, 1, 224},  {5, 1, 2, 112}};
  return samples;
}

}  // namespace dlkprof::test
