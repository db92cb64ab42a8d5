// Stacks with their GPU time, for speedscope, and folded for flamegraph.pl and its kin.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/format/rows.h"

namespace dlkprof::exports {

struct Stack {
  std::vector<std::string> frames;  // from the root: neither empty nor with ';' or control characters
  std::int64_t gpu_ns = 0;
};

// The parts of an op's path, then its type with its direction.
[[nodiscard]] std::vector<std::string> op_frames(const std::string& name, const std::string& type, const std::string& direction);
// As frames are to be.
[[nodiscard]] std::string frame_of(const std::string& text);

void write_folded_stacks(const std::vector<Stack>& stacks, const report::Sink& sink);
// `title`: of the profile, in UTF-8.
void write_speedscope_stacks(const std::string& title, const std::vector<Stack>& stacks, const report::Sink& sink);

}  // namespace dlkprof::exports
