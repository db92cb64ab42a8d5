// What the files of rules have in common.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "advise/rules.h"
#include "model/fold/time_arithmetic.h"

namespace dlkprof::advise {

// Ours: a kernel or op below this share of the GPU time is not worth a word, and of each rule the few largest are.
inline constexpr double kLeastShare = 1;  // %
inline constexpr std::size_t kMostPlaces = 5;

inline constexpr double kWarpThreads = 32;

// For a sentence: printable, and no longer than it can bear.
[[nodiscard]] std::string shown(std::string_view name);
// "aten::mm bprop of /net/classifier/0 (aten::mm_bprop_1)"
[[nodiscard]] std::string op_text(const Case& run, std::uint32_t op);
// "relu_kernel of aten::relu fprop of /net/relu (aten::relu_fprop_1)"
[[nodiscard]] std::string kernel_text(const Case& run, const ConfigUse& use);
// The same with its share, amid a sentence: "relu_kernel of ..., 3.2 % of the GPU time,"
[[nodiscard]] std::string share_text(const Case& run, const ConfigUse& use);
[[nodiscard]] const std::string& kernel_name(const Case& run, const ConfigUse& use);

// Findings about a run, an op, or the kernel of a launch configuration. An empty recommendation: the rule's advice.
[[nodiscard]] Finding of_run(const Case& run, std::string problem, std::optional<std::int64_t> bound_ns);
[[nodiscard]] Finding of_op(const Case& run, const model::OpRow& row, std::string problem, std::optional<std::int64_t> bound_ns,
                            std::string recommendation = "");
[[nodiscard]] Finding of_config(const Case& run, const ConfigUse& use, std::string problem, std::int64_t bound_ns,
                                std::string recommendation = "");

// It waits for other GPUs, and has few blocks on purpose.
[[nodiscard]] bool is_collective(const Case& run, const ConfigUse& use);
// Of cuDNN, cuBLAS or CUTLASS as these ship it, by its name: its code, tiles and registers are nobody's to change.
[[nodiscard]] bool is_library_kernel(const model::Kernel& kernel);

// GPU time of an op above that at the peak of memory, as far as memory throughput was measured; `scale`: of its traffic.
[[nodiscard]] std::int64_t above_memory_peak_ns(const model::OpRow& row, double scale);

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
  return model::whole_ns(static_cast<double>(whole) * std::clamp(share, 0.0, 1.0));
}

// The rules of each file.
[[nodiscard]] std::vector<Rule> iteration_rules();
[[nodiscard]] std::vector<Rule> tensor_rules();
[[nodiscard]] std::vector<Rule> framework_rules();
[[nodiscard]] std::vector<Rule> gpu_rules();
[[nodiscard]] std::vector<Rule> kernel_rules();
[[nodiscard]] std::vector<Rule> triage_rules();
[[nodiscard]] std::vector<Rule> overlap_rules();

}  // namespace dlkprof::advise
