// Which NVTX messages mark the steps of a program's loop by themselves, whatever else it says.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace dlkprof::capture {

// Of dlkprof.step(), PyTorch's optimizers and profiler, and what programs call a step; the key nodes of model/markers/marker.h
// that say so in one text.
[[nodiscard]] inline bool is_step_marker(std::string_view message) noexcept {
  constexpr std::array<std::string_view, 2> kBeginnings{"Optimizer.step#", "ProfilerStep#"};
  constexpr std::array<std::string_view, 6> kNames{"dlkprof:step", "step",          "iteration",
                                                   "train_step",   "training_step", "global_step"};
  return std::find(kNames.begin(), kNames.end(), message) != kNames.end() ||
         std::any_of(kBeginnings.begin(), kBeginnings.end(), [&](auto beginning) { return message.starts_with(beginning); });
}

// What is the same of all steps of a marker: PyTorch's profiler numbers them.
[[nodiscard]] inline std::string_view step_marker_name(std::string_view message) noexcept {
  constexpr std::string_view kNumbered = "ProfilerStep#";
  return message.starts_with(kNumbered) ? kNumbered : message;
}

}  // namespace dlkprof::capture
