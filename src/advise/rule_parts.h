// What the files of rules have in common.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "advise/rules.h"

namespace dlkprof::advise {

// Ours: a kernel or op below this share of the GPU time is not worth a word, and of each rule the few largest are.
inline constexpr double kLeastShare = 1;  // %
inline constexpr std::size_t kMostPlaces = 5;

// For a sentence: printable, and no longer than it can bear.
[[nodiscard]] std::string shown(std::string_view name);
[[nodiscard]] std::string op_name(const Case& run, const model::OpRow& row);
[[nodiscard]] std::string kernel_name(const Case& run, const ConfigUse& use);

// `text` holds `part`, in small or capital letters.
[[nodiscard]] bool contains(std::string_view text, std::string_view part);

// Calls `find(use)` for the configurations of at least kLeastShare, by GPU time, until it has found kMostPlaces.
template <typename Find>
void for_each_large_config(const Case& run, Find find) {
  std::size_t found = 0;
  for (const ConfigUse& use : run.configs) {
    if (found == kMostPlaces || run.percent_of_gpu_time(use.gpu_ns) < kLeastShare) return;
    if (find(use)) ++found;
  }
}

// Likewise for ops.
template <typename Find>
void for_each_large_op(const Case& run, Find find) {
  std::size_t found = 0;
  for (const model::OpRow& row : run.profile.aggregate.ops) {
    if (found == kMostPlaces || run.percent_of_gpu_time(row.gpu.total) < kLeastShare) return;
    if (find(row)) ++found;
  }
}

[[nodiscard]] inline std::int64_t part_ns(std::int64_t whole, double share) {
  return static_cast<std::int64_t>(static_cast<double>(whole) * std::clamp(share, 0.0, 1.0));
}

// The rules of each file.
[[nodiscard]] std::vector<Rule> iteration_rules();
[[nodiscard]] std::vector<Rule> tensor_rules();
[[nodiscard]] std::vector<Rule> framework_rules();
[[nodiscard]] std::vector<Rule> gpu_rules();
[[nodiscard]] std::vector<Rule> kernel_rules();
[[nodiscard]] std::vector<Rule> overlap_rules();

}  // namespace dlkprof::advise
