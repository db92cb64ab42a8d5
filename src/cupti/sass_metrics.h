// What is counted of instructions (cupti/sass_counter.h).
#pragma once

#include <array>
#include <string_view>

namespace dlkprof::cupti {

// CUPTI's names. Of each instruction: warps and threads that executed it; threads of these that its predicate was true for;
// branches whose threads went different ways; sectors (32 bytes) of global memory, and as few as there could be for the bytes
// that the threads asked for; passes through shared memory, and as few as there could be.
inline constexpr std::array<std::string_view, 8> kSassMetrics{"smsp__sass_inst_executed",
                                                              "smsp__sass_thread_inst_executed",
                                                              "smsp__sass_thread_inst_executed_pred_on",
                                                              "smsp__sass_branch_targets_threads_divergent",
                                                              "smsp__sass_sectors_mem_global",
                                                              "smsp__sass_sectors_mem_global_ideal",
                                                              "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared",
                                                              "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared_ideal"};

}  // namespace dlkprof::cupti
