// CUPTI allocates among the program's own memory. What it frees when it leaves are holes in the heap, and malloc serves small
// requests from them for the rest of the run, each from another cache line. In cifar10.py (batch size 128, steps of 3.6 ms)
// malloc and free took 211 us a step on the main thread, 177 us alone, and 182 us once the holes were filled (H200, glibc 2.39,
// four processes each; results/2026-11-28-gpus/runs.md).
#pragma once

#include <cstddef>

namespace dlkprof::inject {

// Allocates for good what is free below the end of the main thread's heap, so that malloc goes on at that end, as in a new
// process. Takes at most kMostFilledBytes, all of which the heap had already. Returns the bytes taken: 0 on other threads, which
// have other heaps, and where malloc is not glibc's own.
std::size_t fill_heap_holes() noexcept;

inline constexpr std::size_t kMostFilledBytes = std::size_t{64} << 20U;

[[nodiscard]] bool on_main_thread() noexcept;

}  // namespace dlkprof::inject
