// Rules about tensor cores, precision and fusion.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "advise/rule_parts.h"
#include "advise/sampled_stalls.h"
#include "advise/tensor_use.h"
#include "model/fold/time_arithmetic.h"

namespace dlkprof::advise {
namespace {

constexpr double kLeastEligibleShare = 5;  // % of the GPU time
constexpr double kHalf = 0.5;

bool can_use_tensor_cores_but_does_not(const Case& run, const model::OpRow& row) {
  return run.profile.fold.ops[row.op].eligible && !row.uses_tc && row.tc_source != model::TensorCoreSource::unknown;
}

void find_bad_shapes(const Case& run, Findings& findings) {
  for_each_large_op(run, [&](const model::OpRow& row) {
    if (!can_use_tensor_cores_but_does_not(run, row)) return false;
    const model::Op& op = run.profile.fold.ops[row.op];
    const auto why = reason_against_tensor_cores(op);
    if (!why) return false;
    findings.push_back(of_op(
        run, row, fmt::format("{} does not use tensor cores: {}.", op_text(run, row.op), *why), above_memory_peak_ns(row, 1),
        type_against_tensor_cores(op) ? "Compute in half precision, bfloat16 or TF32 where the model allows it." : ""));
    return true;
  });
}

// Kernels in which warps waited for products of tensor cores (wgmma), by PC samples.
std::set<std::uint32_t> kernels_seen_at_products(const model::PcSamples& samples) {
  std::set<std::uint32_t> seen;
  for (const SampledKernel& kernel : sampled_kernels(samples)) {
    if (std::ranges::any_of(kernel.stalls, [](const Stall& stall) { return stall.name == "gmma"; })) seen.insert(kernel.kernel);
  }
  return seen;
}

void find_unused_tensor_cores(const Case& run, Findings& findings) {
  const std::set<std::uint32_t> seen = kernels_seen_at_products(run.profile.timeline.pc_samples);
  const auto is_seen = [&](const model::OpRow& row) {
    return std::ranges::any_of(run.profile.aggregate.kernels, [&](const model::KernelRow& kernel) {
      return kernel.op == row.op && seen.contains(kernel.kernel);
    });
  };
  for_each_large_op(run, [&](const model::OpRow& row) {
    if (!can_use_tensor_cores_but_does_not(run, row) || reason_against_tensor_cores(run.profile.fold.ops[row.op])) return false;
    if (is_seen(row)) return false;
    const bool counted = row.tc_source == model::TensorCoreSource::counter;
    findings.push_back(of_op(run, row,
                             fmt::format("{} could use tensor cores, but {} {:.3g} % of the GPU time.", op_text(run, row.op),
                                         counted ? "its tensor pipe stayed idle in" : "by their names its kernels do not, in",
                                         run.percent_of_gpu_time(row.gpu.total)),
                             above_memory_peak_ns(row, 1)));
    return true;
  });
}

bool has_framework(const model::Fold& fold, model::Framework framework) {
  return std::any_of(fold.ops.begin(), fold.ops.end(), [&](const model::Op& op) { return op.framework == framework; });
}

bool has_type(const model::Fold& fold, std::string_view part) {
  return std::any_of(fold.ops.begin(), fold.ops.end(), [&](const model::Op& op) { return contains(op.type, part); });
}

// What XLA and TensorFlow's own passes call what they fused.
bool is_fused(const model::Fold& fold) {
  return has_type(fold, "fused") || has_type(fold, "fusion") || has_type(fold, "xla") || has_type(fold, "cluster");
}

void find_no_fusion(const Case& run, Findings& findings) {
  const model::Fold& fold = run.profile.fold;
  if (!has_framework(fold, model::Framework::tensorflow) || is_fused(fold)) return;
  const bool could =
      (has_type(fold, "Conv2D") || has_type(fold, "MatMul")) && (has_type(fold, "BiasAdd") || has_type(fold, "Relu"));
  if (!could) return;
  std::int64_t small_ns = 0;
  for (const model::OpRow& row : run.profile.aggregate.ops) {
    const std::string& type = fold.ops[row.op].type;
    if (contains(type, "BiasAdd") || contains(type, "Relu")) small_ns += std::min(row.gpu.total, run.gpu_ns);
  }
  findings.push_back(of_run(run, "No op is fused: products, biases and activations run as kernels of their own.",
                            std::min(small_ns, run.gpu_ns)));
}

// Nobody needs mixed precision who computes in it already: kernels of half precision say so, or were counted at it.
bool is_half(const model::Kernel& kernel) {
  const std::string& name = kernel.long_name.empty() ? kernel.name : kernel.long_name;
  return contains(name, "f16") || contains(name, "half") || contains(name, "fp16") || contains(name, "nvjet_h") ||
         contains(name, "nvjet_tst");
}

bool computes_in_half(const Case& run) {
  const auto& ops = run.profile.aggregate.ops;
  return std::any_of(ops.begin(), ops.end(), [&](const model::OpRow& row) {
    const auto half = [&](std::uint32_t kernel) { return is_half(run.profile.timeline.kernels[kernel]); };
    const auto work = tensor_work_of(row.counters.values);
    if (work && (contains(work->precisions, "FP16") || contains(work->precisions, "BF16"))) return true;
    return std::any_of(row.tc_kernels.begin(), row.tc_kernels.end(), half);
  });
}

bool has_tensor_cores(const model::Timeline& timeline) {
  return std::any_of(timeline.devices.begin(), timeline.devices.end(),
                     [](const model::Device& device) { return device.record.cc_major >= 7; });
}

void find_no_amp(const Case& run, Findings& findings) {
  const model::Fold& fold = run.profile.fold;
  const bool told = run.fact("amp") == "false";
  const bool tensorflow = has_framework(fold, model::Framework::tensorflow);
  if ((!told && !tensorflow) || computes_in_half(run) || !has_tensor_cores(run.profile.timeline)) return;
  std::int64_t eligible_ns = 0, bound_ns = 0;
  for (const model::OpRow& row : run.profile.aggregate.ops) {
    if (!fold.ops[row.op].eligible) continue;
    model::add_ns(eligible_ns, std::min(row.gpu.total, run.gpu_ns));
    // Twice the rate of TF32 and half the bytes: tensor cores that compute in TF32 already save half at most.
    const std::int64_t above = above_memory_peak_ns(row, kHalf);
    model::add_ns(bound_ns, std::min(row.uses_tc ? std::min(above, row.gpu.total / 2) : above, run.gpu_ns));
  }
  if (run.percent_of_gpu_time(eligible_ns) < kLeastEligibleShare) return;
  findings.push_back(
      of_run(run,
             fmt::format("Automatic mixed precision is not used; ops that could use it take {:.3g} % of the GPU time.",
                         run.percent_of_gpu_time(eligible_ns)),
             std::min(bound_ns, run.gpu_ns)));
  if (tensorflow && !told) {
    findings.back().recommendation = "Set the policy mixed_float16 or mixed_bfloat16 (tf.keras.mixed_precision).";
  }
}

}  // namespace

std::vector<Rule> tensor_rules() {
  constexpr const char* kWhole =
      "The GPU time of the op above that at the peak of memory, where memory throughput was measured; else all of it.";
  return {
      {"tensor_shape", "Bad Tensor Shape Detector", "Shapes or types keep an op from tensor cores", "All (in DLProf: TensorFlow)",
       fmt::format("An op that can use tensor cores does not, and by its marker an input has a 64-bit or integer type, or an "
                   "inner extent that is no multiple of {} bytes ({} elements if the type is not known).",
                   kAlignedBytes, kAlignedElements),
       "NVIDIA's Deep Learning Performance Guide, matrix multiplication: dimensions as multiples of 16 bytes.", kWhole,
       "Pad channels, features, vocabulary and batch to multiples of 8 (FP16) or 4 (TF32).", "", find_bad_shapes},
      {"no_fusion", "No Fusion Detector", "Ops are not fused", "TensorFlow 1.x",
       "Ops of TensorFlow multiply or convolve and add biases or activate, and none has the name of a fused op.",
       "The guide (10.10).", "GPU time of the ops BiasAdd and Relu.",
       "Turn XLA on (TF_XLA_FLAGS=--tf_xla_auto_jit=2) and leave the graph optimizer's remapping on.", "", find_no_fusion},
      {"amp", "AMP Detector", "Mixed precision is not used", "PyTorch, TensorFlow",
       fmt::format(
           "PyTorch says that autocast was never on, or ops are of TensorFlow; no kernel on tensor cores has half precision in "
           "its name or was counted at it; a GPU has tensor cores; and ops that can use them take at least {:g} % of the GPU "
           "time.",
           kLeastEligibleShare),
       "The guide (10.10); the share is ours.",
       "The GPU time of these ops above that at the peak of memory with half the bytes, where memory throughput was measured; of "
       "ops "
       "on tensor cores at most half, as FP16 and BF16 have twice the rate of TF32 (NVIDIA H100 datasheet).",
       "Run the forward pass under torch.autocast(\"cuda\", dtype=torch.bfloat16), or in FP16 with a GradScaler.", "",
       find_no_amp},
      {"tensor_cores_unused", "Unused Tensor Cores Detector", "An op could use tensor cores and does not", "All",
       "The tensor-pipe counter or, if that was not measured, the names of its kernels say so; no PC sample saw them wait for "
       "tensor cores; and neither the shapes nor the types in its marker are the cause.",
       "The guide (12.2).", kWhole,
       "Allow TF32 (torch.set_float32_matmul_precision(\"high\")) or use automatic mixed precision; see that extents are "
       "multiples of 8.",
       "tensor", find_unused_tensor_cores}};
}

}  // namespace dlkprof::advise
