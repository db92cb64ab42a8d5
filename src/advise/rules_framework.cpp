// Rules about what the framework says of itself.
#include <fmt/format.h>

#include <array>
#include <charconv>

#include "advise/rule_parts.h"
#include "model/fold/time_arithmetic.h"

namespace dlkprof::advise {
namespace {

constexpr double kMostDataLoading = 10;  // % of the wall clock
constexpr double kMostFreeMemory = 50;   // % of the GPU's memory

bool is_of_pytorch(const model::Op& op) {
  return op.framework == model::Framework::pytorch || op.framework == model::Framework::pyprof;
}

void find_data_loading(const Case& run, Findings& findings) {
  const model::Summary& summary = run.profile.aggregate.summary;
  if (!(summary.share.dataloader > kMostDataLoading)) return;
  findings.push_back(
      of_run(run,
             fmt::format("For {:.3g} % of the wall clock the GPU was idle and the program waited for the data loader.",
                         summary.share.dataloader),
             part_ns(summary.wall_ns, summary.share.dataloader / 100)));
}

void find_cudnn_benchmark_off(const Case& run, Findings& findings) {
  if (run.fact("cudnn.benchmark") != "false" || run.is_true("cudnn.benchmark_set")) return;
  std::int64_t convolution_ns = 0, bound_ns = 0;
  for (const model::OpRow& row : run.profile.aggregate.ops) {
    if (!contains(run.profile.fold.ops[row.op].type, "conv")) continue;
    model::add_ns(convolution_ns, std::min(row.gpu.total, run.gpu_ns));
    model::add_ns(bound_ns, std::min(above_memory_peak_ns(row, 1), run.gpu_ns));
  }
  if (convolution_ns == 0) return;
  findings.push_back(of_run(run,
                            fmt::format("torch.backends.cudnn.benchmark is false: cuDNN picks the algorithms of convolutions, "
                                        "{:.3g} % of the GPU time, by rules of thumb.",
                                        run.percent_of_gpu_time(convolution_ns)),
                            std::min(bound_ns, run.gpu_ns)));
}

struct SlowApi {
  const char* fact;
  const char* api;
};
constexpr std::array kSlowApis{SlowApi{"anomaly_mode", "anomaly detection (detect_anomaly, set_detect_anomaly)"},
                               SlowApi{"gradcheck", "torch.autograd.gradcheck"},
                               SlowApi{"gradgradcheck", "torch.autograd.gradgradcheck"},
                               SlowApi{"autograd_profile", "the autograd profiler (torch.autograd.profiler.profile)"}};

void find_slow_apis(const Case& run, Findings& findings) {
  for (const SlowApi& slow : kSlowApis) {
    if (!run.is_true(slow.fact)) continue;
    findings.push_back(
        of_run(run, fmt::format("The program uses {}, which is for finding mistakes and slows everything down.", slow.api),
               std::nullopt));
  }
}

std::optional<double> number_fact(const Case& run, const std::string& name) {
  const auto text = run.fact(name);
  if (!text) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  const bool whole = error == std::errc() && end == text->data() + text->size();
  return whole && value >= 0 && value < 1e18 ? std::optional(value) : std::nullopt;
}

void find_small_batch(const Case& run, Findings& findings) {
  const auto batch = number_fact(run, "batch_size");
  if (!batch || *batch < 1) return;
  constexpr int kMostGpus = 64;
  for (int gpu = 0; gpu < kMostGpus; ++gpu) {
    const auto total = number_fact(run, fmt::format("memory.{}.total", gpu));
    const auto free = number_fact(run, fmt::format("memory.{}.free_at_peak", gpu));
    if (!total || !free || !(*total > 0) || 100 * *free / *total <= kMostFreeMemory) continue;
    findings.push_back(of_run(run,
                              fmt::format("With a batch size of {:.0f} at least {:.3g} % of the memory of GPU {} stayed free.",
                                          *batch, 100 * *free / *total, gpu),
                              std::nullopt));
    return;  // the other GPUs of a run have the same batch
  }
}

void find_missing_nvtx(const Case& run, Findings& findings) {
  const model::Fold& fold = run.profile.fold;
  const auto& kernels = run.profile.timeline.kernels;
  if (std::any_of(fold.ops.begin(), fold.ops.end(), is_of_pytorch)) return;
  const bool pytorch = run.facts.contains("version") ||
                       std::any_of(kernels.begin(), kernels.end(),
                                   [](const model::Kernel& kernel) { return contains(kernel.long_name, "at::native::"); });
  if (!pytorch) return;
  findings.push_back(of_run(run, "PyTorch ran, but its ops are not known: its kernels belong to no op.", std::nullopt));
}

}  // namespace

std::vector<Rule> framework_rules() {
  constexpr const char* kNoGain = "None: nothing measured bounds it.";
  return {
      {"dataloader", "Dataloader Detector", "The GPU waits for the data loader", "PyTorch",
       fmt::format("More than {:g} % of the wall clock is in ranges of the data loader while the GPU is idle.", kMostDataLoading),
       "The guide (10.10) says \"significant\"; the figure is ours.", "That share of the wall clock.",
       "Give the DataLoader more workers: DataLoader(..., num_workers=8, persistent_workers=True, pin_memory=True, "
       "prefetch_factor=4).",
       "", find_data_loading},
      {"cudnn_benchmark", "Cudnn Benchmark Detector", "cuDNN does not try its algorithms", "PyTorch",
       "torch.backends.cudnn.benchmark was false from beginning to end, and an op that convolves took GPU time.",
       "The guide (10.10).",
       "The GPU time of convolutions above that at the peak of memory, where memory throughput was measured; else all of it.",
       "Set torch.backends.cudnn.benchmark = True where shapes of inputs do not change from one iteration to the next.", "",
       find_cudnn_benchmark_off},
      {"slow_api", "Slow Api Detector", "The program runs with debugging aids on", "PyTorch",
       "PyTorch says that anomaly detection, gradcheck, gradgradcheck or the autograd profiler was on. PyTorch does not say "
       "whether "
       "record_function was used, which the guide names too.",
       "The guide (10.10).", kNoGain, "Turn it off in runs that count.", "", find_slow_apis},
      {"batch_size", "Batch Size Detector", "Much of the GPU's memory stays free", "PyTorch",
       fmt::format("When PyTorch had reserved most memory, more than {:g} % of a GPU's memory was still free.", kMostFreeMemory),
       "The guide (10.10); the figure is ours: twice the batch would fit.", kNoGain,
       "Try a larger batch: the GPU does more for each launch. Scale the learning rate with it.", "", find_small_batch},
      {"nvtx_missing", "Emit NVTX Missing Detector", "PyTorch's ops are not known", "PyTorch",
       "PyTorch told its version, or its kernels ran, and no range is an op of PyTorch.", "The guide (10.10).", kNoGain,
       "Profile with --mode=pytorch, which turns emit_nvtx on with nothing changed in the script.", "", find_missing_nvtx}};
}

}  // namespace dlkprof::advise
