// Rules about work that should run beside other work, or not at all.
#include <fmt/format.h>

#include <array>

#include "advise/rule_parts.h"
#include "model/fold/time_arithmetic.h"

namespace dlkprof::advise {
namespace {

constexpr double kMostExposed = 5;          // % of the time that GPUs are busy
constexpr double kMostTransposes = 2;       // % of the GPU time
constexpr double kFewMultiprocessors = 25;  // % that a collective's grid has blocks for

struct Exposed {
  std::int64_t busy_ns = 0;     // in which GPUs did anything, summed over them
  std::int64_t exposed_ns = 0;  // of it: in which only the work in question ran
  [[nodiscard]] double percent() const {
    return busy_ns > 0 ? 100 * static_cast<double>(exposed_ns) / static_cast<double>(busy_ns) : 0;
  }
};

template <typename IsAsked>
Exposed find_exposed(const Case& run, IsAsked is_asked) {
  const model::Timeline& timeline = run.profile.timeline;
  std::vector<model::Flattened> all(timeline.devices.size());
  std::vector<model::Flattened> others(timeline.devices.size());
  for (std::size_t i = 0; i < timeline.activities.size(); ++i) {
    const model::Activity& activity = timeline.activities[i];
    if (!model::is_timed(activity) || !is_aggregated(run.profile, i)) continue;
    all[activity.device].add(activity.start_ns, activity.end_ns);
    if (!is_asked(timeline.kernels[activity.kernel])) others[activity.device].add(activity.start_ns, activity.end_ns);
  }
  Exposed exposed;
  for (std::size_t device = 0; device < all.size(); ++device) {
    model::add_ns(exposed.busy_ns, all[device].covered_ns());
    model::add_ns(exposed.exposed_ns, all[device].covered_ns() - others[device].covered_ns());
  }
  return exposed;
}

bool is_host_copy(const model::Kernel& kernel) {
  return kernel.kind == capture::ActivityKind::copy && (contains(kernel.name, "HtoD") || contains(kernel.name, "DtoH"));
}

void find_exposed_copies(const Case& run, Findings& findings) {
  const Exposed exposed = find_exposed(run, is_host_copy);
  if (exposed.percent() <= kMostExposed) return;
  findings.push_back(of_run(
      run, fmt::format("For {:.3g} % of the time that GPUs are busy they only copy to or from the host.", exposed.percent()),
      exposed.exposed_ns));
}

// Kernels of cuDNN and cuBLAS that turn the layout of tensors.
constexpr std::array<std::string_view, 4> kTransposes{"nchwToNhwc", "nhwcToNchw", "nchw2nhwc", "nhwc2nchw"};

bool is_transpose(const model::Kernel& kernel) {
  const std::string& name = kernel.long_name.empty() ? kernel.name : kernel.long_name;
  return std::any_of(kTransposes.begin(), kTransposes.end(), [&](std::string_view part) { return contains(name, part); });
}

void find_transposes(const Case& run, Findings& findings) {
  std::int64_t ns = 0;
  const model::KernelRow* largest = nullptr;  // rows are by GPU time
  std::vector<bool> transposes;               // by kernel: there are far more rows than kernels
  for (const model::Kernel& kernel : run.profile.timeline.kernels) transposes.push_back(is_transpose(kernel));
  for (const model::KernelRow& row : run.profile.aggregate.kernels) {
    if (!transposes[row.kernel]) continue;
    ns += std::min(row.gpu.total, run.gpu_ns);
    if (largest == nullptr) largest = &row;
  }
  if (run.percent_of_gpu_time(ns) <= kMostTransposes) return;
  findings.push_back(
      of_run(run,
             fmt::format("{:.3g} % of the GPU time goes into turning tensors from one memory layout into another{}.",
                         run.percent_of_gpu_time(ns), largest == nullptr ? "" : ", most of it in " + op_text(run, largest->op)),
             std::min(ns, run.gpu_ns)));
  if (largest != nullptr) findings.back().op = largest->op;
}

bool is_of_nccl(const model::Kernel& kernel) {
  return kernel.kind == capture::ActivityKind::kernel && (contains(kernel.name, "nccl") || contains(kernel.mangled, "nccl"));
}

// The largest share of multiprocessors that a collective's grid has blocks for; none where there is no collective.
std::optional<double> collective_fill(const Case& run) {
  std::optional<double> most;
  for (const ConfigUse& use : run.configs) {
    const double sms = run.profile.timeline.devices[use.device].record.sm_count;
    if (sms <= 0 || !is_of_nccl(run.profile.timeline.kernels[use.kernel])) continue;
    const capture::Dim3& grid = run.profile.timeline.configs[use.config].key.grid;
    most = std::max(most.value_or(0), 100 * double{1} * grid.x * grid.y * grid.z / sms);
  }
  return most;
}

void find_slow_collectives(const Case& run, Findings& findings) {
  const auto fill = collective_fill(run);
  if (!fill || *fill >= kFewMultiprocessors) return;
  const Exposed exposed = find_exposed(run, is_of_nccl);
  if (exposed.percent() <= kMostExposed) return;
  findings.push_back(
      of_run(run,
             fmt::format("For {:.3g} % of the time that GPUs are busy only collectives run, on at most {:.3g} % of "
                         "the multiprocessors.",
                         exposed.percent(), *fill),
             exposed.exposed_ns));
}

}  // namespace

std::vector<Rule> overlap_rules() {
  return {
      {"exposed_copies", "Exposed Copy Detector", "The GPU only copies", "All",
       fmt::format("Copies between host and GPU run while no kernel runs, for more than {:g} % of the time that GPUs are busy.",
                   kMostExposed),
       "CUDA C++ Best Practices Guide, asynchronous and overlapping transfers with computation; the figure is ours.",
       "That time.",
       "Copy from pinned memory (pin_memory=True, .to(device, non_blocking=True)) on another stream while kernels run, fetch a "
       "batch ahead, and leave on the GPU what is used there again.",
       "", find_exposed_copies,
       "Hand the next batch to jax.device_put, which does not wait for the copy, before asking for values of this step; keep "
       "data and parameters on the GPU, as jax.Array and not as NumPy arrays."},
      {"layout_transposes", "Layout Transpose Detector", "Tensors are turned from layout to layout", "All",
       fmt::format("Kernels that turn NCHW into NHWC or back take more than {:g} % of the GPU time.", kMostTransposes),
       "NVIDIA's Deep Learning Performance Guide, convolutional layers, on tensor layouts; the figure is ours.",
       "The GPU time of these kernels.",
       "Keep model and inputs in the layout that the kernels want: model.to(memory_format=torch.channels_last), and the same for "
       "the "
       "inputs; in JAX and TensorFlow NHWC.",
       "", find_transposes},
      {"slow_collectives", "Low Occupancy Collective Detector", "Collectives run alone on few multiprocessors", "All",
       fmt::format("NCCL's kernels run alone for more than {:g} % of the time that GPUs are busy, and have blocks "
                   "for fewer than {:g} % of the multiprocessors.",
                   kMostExposed, kFewMultiprocessors),
       "Ours; what the settings mean stands in NCCL's user guide, environment variables.", "That time.",
       "Let them run beside the backward pass (DistributedDataParallel's buckets, bucket_cap_mb, overlap in FSDP); where they "
       "must run alone, allow them more blocks (NCCL_MIN_CTAS, NCCL_MAX_CTAS).",
       "", find_slow_collectives}};
}

}  // namespace dlkprof::advise
