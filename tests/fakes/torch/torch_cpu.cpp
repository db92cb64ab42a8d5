// A stand-in for libtorch_cpu.so: two functions of PyTorch's with texts that are told from dlkprof's, and one that calls them the
// way PyTorch does, through the dynamic linker.
#include "pytorch/range_texts.h"

#include <cstdio>

namespace torch::profiler::impl {

std::string shapesToStr(const std::vector<std::vector<std::int64_t>>& shapes) {
  return "own shapes " + std::to_string(shapes.size());
}

std::string inputOpIdsToStr(const std::list<std::pair<std::uint64_t, int>>& inputs) {
  return "own inputs " + std::to_string(inputs.size());
}

}  // namespace torch::profiler::impl

extern "C" [[gnu::visibility("default")]] void print_range() {
  using namespace torch::profiler::impl;
  std::printf("%s %s\n", shapesToStr({{4, 3}, {}, {1234567890123}}).c_str(), inputOpIdsToStr({{2, 0}, {0, -1}}).c_str());
  std::fflush(stdout);
}
