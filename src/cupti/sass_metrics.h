// What CUPTI's SASS metrics count of each instruction (cupti/sass_counter.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace dlkprof::cupti {

enum class SassMetric : std::uint8_t {
  instructions,             // warps that executed it
  threads,                  // of these warps
  predicated_on_threads,    // of these, whose predicate was true
  divergent_branches,       // warps whose threads went different ways
  global_sectors,           // of 32 bytes, that it asked global memory for
  ideal_global_sectors,     // as few as there could be for the bytes that its threads asked for
  shared_wavefronts,        // passes through shared memory
  ideal_shared_wavefronts,  // likewise
};

// CUPTI's names, in the order of SassMetric.
inline constexpr std::array<const char*, 8> kSassMetrics{"smsp__sass_inst_executed",
                                                         "smsp__sass_thread_inst_executed",
                                                         "smsp__sass_thread_inst_executed_pred_on",
                                                         "smsp__sass_branch_targets_threads_divergent",
                                                         "smsp__sass_sectors_mem_global",
                                                         "smsp__sass_sectors_mem_global_ideal",
                                                         "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared",
                                                         "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared_ideal"};

[[nodiscard]] constexpr const char* name_of(SassMetric metric) { return kSassMetrics[static_cast<std::size_t>(metric)]; }

}  // namespace dlkprof::cupti
