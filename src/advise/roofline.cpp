#include "advise/roofline.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace dlkprof::advise {
namespace {

constexpr const char* kCounter = "counter";
constexpr const char* kDerived = "achieved / share of peak";

// Instructions of the ordinary pipes. `add`, `mul` and `fma` follow in the metrics' names: hadd, hmul, hfma.
struct ScalarPrecision {
  const char* name;
  const char* letter;
};
constexpr std::array kScalar{ScalarPrecision{"FP16", "h"}, ScalarPrecision{"FP32", "f"}, ScalarPrecision{"FP64", "d"}};

// Operations of the tensor cores by their source, each counted by NVPerf as such. Where a chip counts by destination too, all of
// them are of one precision.
struct TensorPrecision {
  const char* name;
  std::vector<const char*> metrics;
};
const std::vector<TensorPrecision>& tensor_precisions() {
  static const std::vector<TensorPrecision> kTensor{
      {"Tensor FP16",
       {"sm__ops_path_tensor_src_fp16.sum", "sm__ops_path_tensor_src_fp16_dst_fp16.sum",
        "sm__ops_path_tensor_src_fp16_dst_fp32.sum"}},
      {"Tensor BF16", {"sm__ops_path_tensor_src_bf16_dst_fp32.sum"}},
      {"Tensor TF32", {"sm__ops_path_tensor_src_tf32_dst_fp32.sum"}},
      {"Tensor FP16/BF16/TF32", {"sm__ops_path_tensor_src_fp16_bf16_tf32_dst_fp32.sum"}},
      {"Tensor FP64", {"sm__ops_path_tensor_src_fp64.sum"}},
      {"Tensor FP8",
       {"sm__ops_path_tensor_src_fp8.sum", "sm__ops_path_tensor_src_fp8_dst_fp16.sum",
        "sm__ops_path_tensor_src_fp8_dst_fp32.sum"}},
      {"Tensor FP4/FP6/FP8",
       {"sm__ops_path_tensor_src_fp4_dst_fp32.sum", "sm__ops_path_tensor_src_fp4_fp6_dst_fp16.sum",
        "sm__ops_path_tensor_src_fp4_fp6_dst_fp32.sum", "sm__ops_path_tensor_src_fp4_fp6_fp8_dst_fp16.sum",
        "sm__ops_path_tensor_src_fp4_fp6_fp8_dst_fp32.sum"}},
      {"Tensor INT8", {"sm__ops_path_tensor_src_int8.sum"}},
      {"Tensor INT4", {"sm__ops_path_tensor_src_int4.sum"}},
      {"Tensor INT1", {"sm__ops_path_tensor_src_int1.sum"}},
  };
  return kTensor;
}

std::optional<double> metric(const Values& values, const std::string& name) {
  const auto found = values.find(name);
  return found != values.end() && std::isfinite(found->second) && found->second >= 0 ? std::optional(found->second)
                                                                                     : std::nullopt;
}

std::string instructions(const char* letter, const char* operation) {
  return std::string("smsp__sass_thread_inst_executed_op_") + letter + operation + "_pred_on.sum";
}

std::optional<Peak> by_counter(const std::optional<double>& rate) {
  return rate && *rate > 0 ? std::optional(Peak{*rate, kCounter}) : std::nullopt;
}

// At a quarter of the peak the rate achieved is a quarter of it. Of shares near 0 nothing can be said.
std::optional<Peak> derived(double rate, const std::optional<double>& percent) {
  constexpr double kLeastPercent = 0.1;
  if (!(rate > 0) || !percent || *percent < kLeastPercent) return std::nullopt;
  return Peak{rate / (*percent / 100), kDerived};
}

class RooflineMaker {
 public:
  RooflineMaker(const Values& values, Roofline& roofline) : values_(values), made_(roofline) {}

  void add_dram() {
    made_.dram_bytes = find(values_, Quantity::dram_bytes);
    made_.dram = by_counter(metric(values_, "dram__bytes.sum.peak_sustained_elapsed.per_second"));
    if (made_.dram || !made_.dram_bytes) return;
    made_.dram = derived(per_second(*made_.dram_bytes), find(values_, Quantity::dram_throughput));
  }

  void add_caches() {
    made_.l2_bytes = find(values_, Quantity::l2_bytes);
    made_.l1_bytes = find(values_, Quantity::l1_bytes);
    made_.l2 = by_counter(metric(values_, "lts__t_bytes.sum.peak_sustained_elapsed.per_second"));
    made_.l1 = by_counter(metric(values_, "l1tex__t_bytes.sum.peak_sustained_elapsed.per_second"));
  }

  void add_scalar(const ScalarPrecision& precision) {
    const auto add = metric(values_, instructions(precision.letter, "add"));
    const auto mul = metric(values_, instructions(precision.letter, "mul"));
    const auto fma = metric(values_, instructions(precision.letter, "fma"));
    if (!add || !mul || !fma) return;
    made_.counted = true;
    if (precision.letter[0] == 'h' && !is_arithmetic(*add, *mul, *fma)) return;
    // Pairs of FP32, of GPUs that have such instructions.
    const auto pairs = [&](const char* operation) {
      return precision.letter[0] == 'f' ? 2 * metric(values_, instructions("f", operation)).value_or(0) : 0.0;
    };
    const double operations = *add + *mul + 2 * *fma + pairs("add2") + pairs("mul2") + 2 * pairs("fma2");
    auto peak = metric(values_, std::string("smsp__sass_thread_inst_executed_op_") + precision.letter +
                                    "fma_pred_on.sum.peak_sustained_elapsed.per_second");
    if (peak) *peak *= 2;
    add_point(precision.name, operations, by_counter(peak));
  }

  void add_tensor() {
    std::vector<RooflinePoint> found;
    double all = 0;
    for (const TensorPrecision& precision : tensor_precisions()) {
      double operations = 0;
      for (const char* name : precision.metrics) {
        const auto value = metric(values_, name);
        made_.counted |= value.has_value();
        operations += value.value_or(0);
      }
      if (operations > 0) found.push_back({precision.name, operations, 0, {}, {}});
      all += operations;
    }
    // The pipe's share is of all precisions together: their peak can be told where there is one.
    const auto peak =
        found.size() == 1 ? derived(per_second(all), find(values_, Quantity::tensor_pipe_elapsed)) : std::optional<Peak>();
    for (const RooflinePoint& point : found) add_point(point.precision, point.operations, peak);
  }

 private:
  // Of FP16: and no moves and conversions.
  [[nodiscard]] bool is_arithmetic(double add, double mul, double fma) const {
    constexpr double kLeastShare = 0.1, kWarpThreads = 32;
    const auto executed = metric(values_, "smsp__inst_executed.sum");  // of warps
    return mul > 0 || (executed && add + fma >= kLeastShare * kWarpThreads * *executed);
  }

  [[nodiscard]] double per_second(double count) const { return count / made_.duration_ns * 1e9; }

  void add_point(const char* precision, double operations, const std::optional<Peak>& peak) {
    if (!(operations > 0) || !std::isfinite(operations)) return;
    RooflinePoint point{precision, operations, per_second(operations), {}, peak};
    if (made_.dram_bytes && *made_.dram_bytes > 0) point.intensity = operations / *made_.dram_bytes;
    made_.points.push_back(point);
  }

  const Values& values_;
  Roofline& made_;
};

}  // namespace

std::optional<Roofline> roofline_of(const Values& values) {
  const auto duration = find(values, Quantity::duration);
  if (!duration || *duration <= 0) return std::nullopt;
  Roofline made;
  made.duration_ns = *duration;
  RooflineMaker maker(values, made);
  maker.add_dram();
  maker.add_caches();
  for (const ScalarPrecision& precision : kScalar) maker.add_scalar(precision);
  maker.add_tensor();
  std::stable_sort(made.points.begin(), made.points.end(),
                   [](const RooflinePoint& a, const RooflinePoint& b) { return a.operations > b.operations; });
  return made;
}

std::optional<double> attainable(const Roofline& roofline, const RooflinePoint& point) {
  if (!roofline.dram || !point.compute || !point.intensity) return std::nullopt;
  return std::min(point.compute->rate, *point.intensity * roofline.dram->rate);
}

}  // namespace dlkprof::advise
