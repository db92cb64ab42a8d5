// A capture of any size of a made-up program that trains a small convolution net with PyTorch and emit_nvtx: ranges nested
// as PyTorch nests them (backward on a thread of its own), calls inside the innermost ones, and the GPU running in order
// behind the CPU. The same for the same MadeUpRun.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "capture/events.h"
#include "capture/message.h"
#include "capture/writer.h"
#include "dlkprof/capture_format.h"
#include "support/sample_capture.h"

namespace dlkprof::test {

struct MadeUpRun {
  std::uint32_t iterations = 10;
  std::uint32_t launches = 100;  // of kernels an iteration, at least 1
  std::uint32_t ranges = 500;    // an iteration, at least 3
  // Messages bear seq and op_id as PyTorch's do, which the capture holds apart from their texts. Without, few differ, and nothing
  // joins backward to forward.
  bool numbered = true;
  std::uint32_t seed = 1;
  std::uint32_t rank = 0, world_size = 0;  // world_size 0: the program says neither
};

// A run of so many launches (in hundreds) and 5 ranges a launch, as a training with PyTorch has.
inline MadeUpRun made_up_run_of(std::uint32_t launches) {
  constexpr std::uint32_t kAnIteration = 100;
  return {.iterations = launches / kAnIteration, .launches = kAnIteration, .ranges = 5 * kAnIteration};
}

namespace made_up {

struct Kernel {
  const char* mangled_name;
  std::uint32_t mean_ns;
  bool measured;  // the first launch of each configuration
};
enum KernelNumber : std::uint32_t { fprop, relu, relu_backward, dgrad, wgrad, adam, scale };
inline constexpr std::array<Kernel, 7> kKernels{{
    {"sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x32", 40'000, true},
    {"_ZN2at6native29vectorized_elementwise_kernelILi4EfEEviT0_", 4'000, false},
    {"_ZN2at6native25threshold_backward_kernelIfEEviT_", 5'000, false},
    {"sm80_xmma_dgrad_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x32", 45'000, true},
    {"sm80_xmma_wgrad_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x32", 50'000, true},
    {"_ZN2at6native25multi_tensor_apply_kernelIfEEviT_", 9'000, false},
    {"scale_input", 2'000, false},
}};
inline constexpr std::uint32_t kConfigurations = 4;  // of each kernel

inline constexpr std::uint32_t kLaunchesALayer = 5;
inline constexpr std::uint32_t kRangesALayer = 14;
inline constexpr std::uint32_t kOtherLaunches = 1;  // an iteration: outside all ranges
inline constexpr std::uint32_t kOtherRanges = 3;    // an iteration: zero_grad, net, step

inline std::vector<std::string> metrics() {
  std::vector<std::string> all = sample_metrics();
  all.emplace_back("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed");
  return all;
}

// What the injected library does with events: texts before the events that name them, events in batches.
class Log {
 public:
  explicit Log(capture::Writer& writer) : writer_(writer) {}

  std::uint32_t intern(const std::string& text) {
    const auto [found, is_new] = known_.try_emplace(text, next_);
    return is_new ? add_text(text) : found->second;
  }
  // A text that comes once.
  std::uint32_t add_text(std::string text) {
    texts_.strings.push_back({next_, std::move(text)});
    return next_++;
  }

  template <typename Event>
  void add(std::vector<Event>& batch, const Event& event) {
    batch.push_back(event);
    if (batch.size() == capture::kEventsInABatch) flush(batch);
  }
  template <typename Event>
  void flush(std::vector<Event>& batch) {
    if (!texts_.strings.empty()) writer_.append(std::exchange(texts_, {}));
    if (!batch.empty()) writer_.append(capture::pack_events(std::span<const Event>(batch)));
    batch.clear();
  }

 private:
  capture::Writer& writer_;
  capture::StringsRecord texts_;
  std::map<std::string, std::uint32_t> known_;
  std::uint32_t next_ = 1;
};

struct Message {
  std::uint32_t name = 0;  // of its text
  std::uint32_t sequence = capture::kNoNumber, op_id = capture::kNoNumber;
};

struct Thread {
  std::uint32_t number = 0, tid = 0;
  std::uint64_t ranges = 0;  // begun
  std::vector<capture::RangeEvent> open;
  std::vector<capture::RangeEvent> ended;  // not written yet, as the calls
  std::vector<capture::CallEvent> calls;
};

class Program {
 public:
  Program(capture::Writer& writer, const MadeUpRun& run)
      : writer_(writer),
        run_(run),
        layers_(std::min((run.launches - kOtherLaunches) / kLaunchesALayer, (run.ranges - kOtherRanges) / kRangesALayer)),
        log_(writer),
        random_(run.seed) {}

  void run() {
    begin();
    for (std::uint32_t i = 0; i < run_.iterations; ++i) iteration();
    end();
  }

 private:
  void begin() {
    const std::vector<capture::Record> sample = sample_records();
    writer_.append(sample.front());
    writer_.append(h200());
    for (std::uint32_t i = 0; i < kKernels.size(); ++i) writer_.append(function(i + 1, kKernels[i].mangled_name, 64));
    writer_.append(capture::MetricSetRecord{1, 0, 10, metrics(), {}});
    writer_.append(capture::ClockRecord{now_, kStartUnix});
    writer_.append(capture::FactsRecord{{{"pytorch", "version", "2.11.0"}, {"pytorch", "cudnn.benchmark", "false"}}});
    if (run_.world_size > 0) {
      writer_.append(capture::FactsRecord{
          {{"pytorch", "rank", std::to_string(run_.rank)}, {"pytorch", "world_size", std::to_string(run_.world_size)}}});
    }
  }

  void end() {
    for (Thread* thread : {&main_, &autograd_}) {
      log_.flush(thread->ended);
      log_.flush(thread->calls);
    }
    log_.flush(works_);
    capture::KeyStatsRecord stats;
    for (const auto& [key, one] : stats_) stats.keys.push_back(one);
    stats.timing_complete = true;
    writer_.append(stats);
    writer_.append(capture::ClockRecord{now_, kStartUnix + (now_ - kStart)});
    writer_.append(capture::EndRecord{kStartUnix + (now_ - kStart), launches_});
  }

  void iteration() {
    copy_input();
    launch(scale, 0);
    in_range(message("Optimizer.zero_grad#Adam.zero_grad"), [&] { set_gradients(); });
    const std::uint64_t first_sequence = sequence_;
    in_range({log_.intern("net")}, [&] {
      for (std::uint32_t layer = 0; layer < layers_; ++layer) forward(layer);
    });
    thread_ = &autograd_;
    for (std::uint32_t layer = layers_; layer-- > 0;) backward(layer, first_sequence + 2 * layer);
    thread_ = &main_;
    in_range(message("Optimizer.step#Adam.step"), [&] {
      if (layers_ == 0) spare_ranges(run_.ranges - kOtherRanges);
      for (std::uint32_t i = kOtherLaunches + layers_ * kLaunchesALayer; i < run_.launches; ++i) launch(adam, i);
    });
    synchronize();
  }

  // 8 ranges besides the spare ones, 2 launches.
  void forward(std::uint32_t layer) {
    const std::string sizes = fmt::format("[[64, {0}, 32, 32], [{0}, {0}, 3, 3], []]", 64 << (layer % kConfigurations));
    const std::uint64_t sequence = sequence_;
    sequence_ += 2;
    in_range({log_.intern(fmt::format("layer{}", layer))}, [&] {
      in_range(message("aten::conv2d", sequence, sizes), [&] {
        in_range(message("aten::convolution", sequence, sizes), [&] {
          in_range(message("aten::_convolution", 0, sizes), [&] {
            const std::uint32_t spare = run_.ranges - kOtherRanges - layers_ * kRangesALayer;
            spare_ranges(spare / layers_ + (layer < spare % layers_ ? 1 : 0));
            in_range(message("aten::cudnn_convolution", 0, sizes), [&] { launch(fprop, layer); });
          });
        });
      });
      in_range(message("aten::relu", sequence + 1, sizes),
               [&] { in_range(message("aten::clamp_min", 0, sizes), [&] { launch(relu, layer); }); });
      in_range(message("aten::detach", 0, sizes), [] {});
    });
  }

  // 6 ranges, 3 launches.
  void backward(std::uint32_t layer, std::uint64_t sequence) {
    in_range(message("autograd::engine::evaluate_function: ReluBackward0"), [&] {
      in_range(message("ReluBackward0", sequence + 1),
               [&] { in_range(message("aten::threshold_backward"), [&] { launch(relu_backward, layer); }); });
    });
    in_range(message("autograd::engine::evaluate_function: ConvolutionBackward0"), [&] {
      in_range(message("ConvolutionBackward0", sequence), [&] {
        in_range(message("aten::convolution_backward"), [&] {
          launch(dgrad, layer);
          launch(wgrad, layer);
        });
      });
    });
  }

  // Ops that reach no GPU, of which PyTorch has many.
  void spare_ranges(std::uint32_t count) {
    for (; count > 0; --count) in_range(message("aten::view", 0, "[[64], []]"), [] {});
  }

  // As emit_nvtx makes them (sequence 0: none), and the injected library takes them apart.
  Message message(const char* name, std::uint64_t sequence = 0, const std::string& sizes = {}) {
    std::string text = name;
    if (run_.numbered && sequence != 0) text += fmt::format(", seq = {}", sequence);
    if (run_.numbered) text += fmt::format(", op_id = {}", ++op_id_);
    if (!sizes.empty()) text += ", sizes = " + sizes;
    if (run_.numbered && !sizes.empty()) text += fmt::format(", input_op_ids = [({},0), (0,-1)]", op_id_ - 1);
    std::array<char, 512> room{};
    const capture::SplitMessage split = capture::split_message(text, room);
    return {log_.intern(std::string(split.text)), split.sequence, split.op_id};
  }

  template <typename Inside>
  void in_range(const Message& message, const Inside& inside) {
    capture::RangeEvent range;
    range.id = (std::uint64_t{thread_->number} << 40U) + thread_->ranges++;
    range.parent = thread_->open.empty() ? 0 : thread_->open.back().id;
    range.thread = thread_->tid;
    range.name = message.name;
    range.sequence = message.sequence;
    range.op_id = message.op_id;
    range.start_ns = pass(400);
    thread_->open.push_back(range);
    inside();
    thread_->open.back().end_ns = pass(400);
    log_.add(thread_->ended, thread_->open.back());
    thread_->open.pop_back();
  }

  // CPU time passes; now.
  std::int64_t pass(std::uint32_t mean_ns) { return now_ += vary(mean_ns); }
  std::int64_t vary(std::uint32_t mean_ns) { return mean_ns / 2 + static_cast<std::int64_t>(random_() % mean_ns); }

  capture::CallEvent begin_call(const char* name) {
    capture::CallEvent call;
    call.correlation = ++correlation_;
    call.thread = thread_->tid;
    call.range = thread_->open.empty() ? 0 : thread_->open.back().id;
    call.name = log_.intern(name);
    call.start_ns = pass(800);
    return call;
  }
  void end_call(capture::CallEvent& call, std::int64_t end_ns) {
    call.end_ns = now_ = end_ns;
    log_.add(thread_->calls, call);
  }

  // Work that the call before gave to the stream.
  capture::ActivityEvent next_activity(capture::ActivityKind kind, std::uint32_t mean_ns) {
    capture::ActivityEvent activity;
    activity.kind = kind;
    activity.correlation = correlation_;
    activity.context = 1;
    activity.stream = 7;
    activity.start_ns = std::max(now_ + 1'500, gpu_free_ + 600);
    activity.end_ns = gpu_free_ = activity.start_ns + vary(mean_ns);
    return activity;
  }

  void launch(KernelNumber number, std::uint32_t variant) {
    const Kernel& kernel = kKernels[number];
    const capture::LaunchKey launched = key(number + 1, {132U << (variant % kConfigurations), 2, 1}, {256, 1, 1}, 4096);
    capture::CallEvent call = begin_call("cuLaunchKernel");
    call.launch_index = launches_++;
    call.function = number + 1;
    end_call(call, now_ + vary(4'000));
    capture::ActivityEvent activity = next_activity(capture::ActivityKind::kernel, kernel.mean_ns);
    activity.name = log_.intern(kernel.mangled_name);
    activity.grid = launched.grid;
    activity.block = launched.block;
    activity.dynamic_shared_bytes = launched.dynamic_shared_bytes;
    count(kernel, launched, call, activity);
    log_.add(works_, activity);
  }

  // A launch that is measured is not timed; which are timed, the reader counts.
  void count(const Kernel& kernel, const capture::LaunchKey& launched, const capture::CallEvent& call,
             capture::ActivityEvent& activity) {
    capture::KeyStats& stats = stats_.try_emplace(launched, capture::KeyStats{.key = launched}).first->second;
    ++stats.launches;
    if (kernel.measured) ++stats.matched;
    const std::int64_t duration = activity.end_ns - activity.start_ns;
    if (kernel.measured && stats.launches == 1) {
      ++stats.measured;
      capture::LaunchRecord record = sample_launch(call.launch_index, launched, 0, static_cast<double>(duration));
      record.values.push_back(42.5);
      writer_.append(record);
      activity.start_ns = activity.end_ns = 0;
    }
  }

  void copy_input() {
    capture::CallEvent call = begin_call("cuMemcpyHtoDAsync_v2");
    end_call(call, now_ + vary(5'000));
    capture::ActivityEvent activity = next_activity(capture::ActivityKind::copy, 30'000);
    activity.copy = capture::CopyKind::htod;
    activity.bytes = 64ULL * 3 * 32 * 32 * 4;
    log_.add(works_, activity);
  }

  void set_gradients() {
    capture::CallEvent call = begin_call("cuMemsetD32Async");
    end_call(call, now_ + vary(3'000));
    capture::ActivityEvent activity = next_activity(capture::ActivityKind::set, 2'000);
    activity.bytes = 1U << 20U;
    log_.add(works_, activity);
  }

  void synchronize() {
    capture::CallEvent call = begin_call("cuStreamSynchronize");
    end_call(call, std::max(now_, gpu_free_) + vary(2'000));
  }

  static constexpr std::int64_t kStart = 5'000'000'000'000;
  static constexpr std::int64_t kStartUnix = 1'700'000'000'000'000'000;

  capture::Writer& writer_;
  const MadeUpRun& run_;
  const std::uint32_t layers_;
  Log log_;
  std::minstd_rand random_;
  Thread main_{.number = 1, .tid = 4242};
  Thread autograd_{.number = 2, .tid = 4243};
  Thread* thread_ = &main_;  // that runs now
  std::vector<capture::ActivityEvent> works_;
  std::map<capture::LaunchKey, capture::KeyStats> stats_;
  std::int64_t now_ = kStart;
  std::int64_t gpu_free_ = 0;  // when the stream is done with what it was given
  std::uint64_t launches_ = 0;
  std::uint64_t sequence_ = 1;
  std::uint64_t op_id_ = 0;
  std::uint32_t correlation_ = 0;
};

}  // namespace made_up

// Writes <folder>/<base_name>.dlkcap and returns its path. The capture holds exactly run.iterations * run.launches kernels and
// run.iterations * run.ranges ranges, a copy, a set and a wait an iteration, and measurements of the first launch of each
// configuration of three kernels.
inline std::filesystem::path write_made_up_run(const std::filesystem::path& folder, const MadeUpRun& run,
                                               const std::string& base_name = "made_up") {
  if (run.launches < made_up::kOtherLaunches || run.ranges < made_up::kOtherRanges) {
    throw std::invalid_argument("a made-up iteration has more launches or ranges");
  }
  capture::Writer writer = capture::Writer::create(folder, base_name);
  made_up::Program(writer, run).run();
  return writer.path();
}

}  // namespace dlkprof::test
