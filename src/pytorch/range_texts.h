// What PyTorch writes into the NVTX range of each op, in place of PyTorch's own functions of the same names and types
// (torch/csrc/profiler/util.h). Theirs copy all of a text for each number in it, which is a good part of what emit_nvtx with
// shapes costs (results/2026-11-23-h200/performance.md).
//
// The dynamic linker takes a function from the first library with global symbols that has it (ld.so(8)). So PyTorch calls these
// where libdlkprof_pytorch.so was opened that way before PyTorch was. The mangled names hold all types: a PyTorch whose
// functions have others, or that was built with another std::string, does not find these and calls its own.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <utility>
#include <vector>

namespace torch::profiler::impl {

// "[[4, 3], []]", as PyTorch's own, which its other profilers call as well. Throws std::bad_alloc.
[[gnu::visibility("default")]] std::string shapesToStr(const std::vector<std::vector<std::int64_t>>& shapes);

// "[]": which op made each input (at::RecordFunctionHandle, number of its output) is read by nobody. PyTorch calls this for the
// messages of NVTX ranges only, and dlkprof, who listens to them, leaves it out (capture::split_message).
[[gnu::visibility("default")]] std::string inputOpIdsToStr(const std::list<std::pair<std::uint64_t, int>>& inputs);

}  // namespace torch::profiler::impl
