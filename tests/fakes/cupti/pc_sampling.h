// What the fake CUPTI's callbacks tell its PC sampling.
#pragma once

#include "cuda/fake_driver.h"

#pragma GCC visibility push(default)
#include <cupti_pcsampling.h>
#pragma GCC visibility pop

namespace fakes {

// The GPU has run a kernel.
void sample_pcs(const KernelRun& run);
// Whether samples are taken of it.
[[nodiscard]] bool is_sampled(CUcontext context);
[[nodiscard]] std::uint64_t samplings_ended();  // in the process
// Of the machine code that the fake driver has; below 2^32, as the real ones are.
[[nodiscard]] std::uint64_t crc_of_cubin();
// The GPU has run a kernel, whose instructions may be counted.
void count_instructions(const KernelRun& run);
// A context ends: misuse where it is still sampled.
void check_no_pcs_sampled(CUcontext context);

}  // namespace fakes
