// What NVTX ranges and timed CUDA calls cost the program while they are recorded, packing and writing them included. The
// figures that count are those of a push with its pop, and of a call, where the caches are cold.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "capture/options.h"
#include "inject/nvtx.h"
#include "inject/timeline.h"

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

namespace {

using namespace dlkprof;  // NOLINT(google-build-using-namespace)

// An NVTX instance with its slots, and behind them a log that writes to a folder of its own.
class Program {
 public:
  static const Program& get() {
    static const Program program;
    return program;
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    std::error_code ignored;
    std::filesystem::remove_all(options_.output_directory, ignored);
  }

  [[nodiscard]] inject::Timeline& timeline() const { return timeline_; }
  template <typename Function>
  static Function function(NvtxCallbackModule module, unsigned index) {
    return reinterpret_cast<Function>(functions[module][index]);
  }

 private:
  Program() {
    options_.output_directory = std::filesystem::temp_directory_path() / "dlkprof_nvtx_bench";
    std::filesystem::create_directories(options_.output_directory);
    recorder_.append(capture::ClockRecord{});
    inject::record_ranges(&ranges_);
    inject::attach_to_nvtx(&export_table, false);
  }

  static const void* export_table(std::uint32_t /*id*/) {
    static const NvtxExportTableCallbacks callbacks{sizeof(NvtxExportTableCallbacks), &module_functions};
    return &callbacks;
  }
  static int module_functions(NvtxCallbackModule module, NvtxFunctionTable* table, unsigned* size) {
    for (unsigned i = 0; i < kSlots; ++i) pointers[module][i] = &functions[module][i];
    *table = pointers[module];
    *size = kSlots;
    return 1;
  }

  static constexpr unsigned kSlots = 16;
  static inline NvtxFunctionPointer functions[NVTX_CB_MODULE_SIZE][kSlots];
  static inline NvtxFunctionPointer* pointers[NVTX_CB_MODULE_SIZE][kSlots];

  capture::ProfileOptions options_;
  inject::Recorder recorder_{options_, 0, 0};
  inject::EventLog log_{recorder_};
  inject::Ranges ranges_{log_, recorder_};
  mutable inject::Timeline timeline_{log_};
};

void push_pop_registered(benchmark::State& state) {
  const auto& program = Program::get();
  const auto push = program.function<nvtxDomainRangePushEx_impl_fntype>(NVTX_CB_MODULE_CORE2, NVTX_CBID_CORE2_DomainRangePushEx);
  const auto pop = program.function<nvtxDomainRangePop_impl_fntype>(NVTX_CB_MODULE_CORE2, NVTX_CBID_CORE2_DomainRangePop);
  auto* const domain =
      program.function<nvtxDomainCreateA_impl_fntype>(NVTX_CB_MODULE_CORE2, NVTX_CBID_CORE2_DomainCreateA)("TSL");
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = program.function<nvtxDomainRegisterStringA_impl_fntype>(
      NVTX_CB_MODULE_CORE2, NVTX_CBID_CORE2_DomainRegisterStringA)(domain, "Thunk:#hlo_op=fusion_12#");
  for (auto _ : state) {
    push(domain, &event);
    pop(domain);
  }
}

void push_pop(benchmark::State& state, auto message) {
  const auto& program = Program::get();
  const auto push = program.function<nvtxRangePushA_impl_fntype>(NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangePushA);
  const auto pop = program.function<nvtxRangePop_impl_fntype>(NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangePop);
  for (auto _ : state) {
    push(message());
    pop();
  }
}

// What a program does between two ranges, so that neither our data nor our code is in the caches any more: it touches
// `data` bytes, and runs through `code` bytes of machine code.
class Others {
 public:
  Others(std::size_t data, std::size_t code) : data_(data), pieces_(std::min(code / kPieceBytes, kPieces.size())) {}

  void run() {
    for (std::size_t at = 0; at < data_.size(); at += 64) ++data_[at];
    for (std::size_t i = 0; i < pieces_; ++i) state_ = kPieces[i](state_);
  }

 private:
  static constexpr std::size_t kPieceBytes = 256;
  // Its numbers differ from those of the others, so that the linker cannot make one of two; the branches are there to be
  // predicted in the stead of ours.
  template <std::size_t number>
  [[gnu::noinline, gnu::aligned(kPieceBytes)]] static std::uint64_t piece(std::uint64_t state) {
    constexpr std::uint64_t kFactor = 2 * number + 0x9e3779b97f4a7c15;
    for (int turn = 0; turn < 2; ++turn) {
      state = (state ^ (state >> 29U)) * kFactor;
      if ((state & 0x10U) != 0) state += (state << 7U) ^ (kFactor >> 5U);
      state = (state ^ (state >> 31U)) * (kFactor + 2);
      if ((state & 0x20U) != 0) state -= (state << 9U) ^ (kFactor >> 7U);
    }
    return state;
  }
  static constexpr auto kPieces = []<std::size_t... number>(std::index_sequence<number...>) {
    return std::array{&piece<number>...};
  }(std::make_index_sequence<1024>());

  std::vector<std::uint8_t> data_;
  std::size_t pieces_;
  std::uint64_t state_ = 1;
};

// The median, which what else the machine does in between leaves alone; of the sum that the library shows it may be most.
void measure_cold(benchmark::State& state, auto prepare, auto act) {
  Others others(static_cast<std::size_t>(state.range(0)) << 10U, static_cast<std::size_t>(state.range(1)) << 10U);
  std::vector<std::int64_t> times;
  for (auto _ : state) {
    const auto input = prepare();
    others.run();
    const std::int64_t begin = inject::event_clock_ns();
    act(input);
    times.push_back(inject::event_clock_ns() - begin);
    state.SetIterationTime(static_cast<double>(times.back()) * 1e-9);
  }
  const auto median = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), median, times.end());
  state.counters["median_ns"] = static_cast<double>(*median);
}

void push_pop_cold(benchmark::State& state, auto message) {
  const auto& program = Program::get();
  const auto push = program.function<nvtxRangePushA_impl_fntype>(NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangePushA);
  const auto pop = program.function<nvtxRangePop_impl_fntype>(NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangePop);
  measure_cold(state, message, [&](const char* text) {
    push(text);
    pop();
  });
}

void push_pop_same_text(benchmark::State& state) {
  push_pop(state, [] { return "aten::conv2d, seq = 32"; });
}

void push_pop_new_text(benchmark::State& state) {
  std::string text;
  push_pop(state, [&, op = 0]() mutable {
    text.assign("conv2d, call ").append(std::to_string(op++));
    return text.c_str();
  });
}

// As PyTorch numbers its ops.
auto numbered() {
  return [text = std::string(), op = 1000]() mutable {
    text = "aten::convolution, seq = 12, op_id = ";
    text += std::to_string(++op);
    text += ", sizes = [[512, 32, 30, 30], [64, 32, 3, 3], [64], [], [], [], [], [], []], input_op_ids = [(";
    text += std::to_string(op - 3);
    text += ",0), (0,-1), (0,-1), (0,-1), (0,-1), (0,-1), (0,-1), (0,-1), (0,-1)]";
    return text.c_str();
  };
}

void push_pop_numbered(benchmark::State& state) { push_pop(state, numbered()); }
void push_pop_numbered_cold(benchmark::State& state) { push_pop_cold(state, numbered()); }
void push_pop_same_text_cold(benchmark::State& state) {
  push_pop_cold(state, [] { return "aten::conv2d, seq = 32"; });
}
void nothing_cold(benchmark::State& state) {
  measure_cold(
      state, [] { return 0; }, [](int) {});
}

void start_end(benchmark::State& state) {
  const auto& program = Program::get();
  const auto start = program.function<nvtxRangeStartA_impl_fntype>(NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangeStartA);
  const auto end = program.function<nvtxRangeEnd_impl_fntype>(NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangeEnd);
  for (auto _ : state) end(start("Conv2D: node"));
}

// What is noted at the entry and the exit of a launch.
void timed_call_cold(benchmark::State& state) {
  auto& timeline = Program::get().timeline();
  CUpti_CallbackData data{};
  data.functionName = "cuLaunchKernel";
  measure_cold(
      state, [] { return inject::OpenCall{}; },
      [&](inject::OpenCall call) {
        inject::Timeline::begin(call);
        timeline.end(call, 1, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, data);
      });
}

// Asked at the entry of every CUDA call.
void current_range(benchmark::State& state) {
  (void)Program::get();
  for (auto _ : state) benchmark::DoNotOptimize(inject::current_range());
}

void read_clock(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(inject::event_clock_ns());
}

BENCHMARK(push_pop_registered);
BENCHMARK(push_pop_registered)->Threads(2);
BENCHMARK(push_pop_same_text);
BENCHMARK(push_pop_new_text);
BENCHMARK(push_pop_numbered);
// Of data and of code, KiB.
void cold(benchmark::internal::Benchmark* bench) {
  bench->Args({0, 0})->Args({256, 0})->Args({256, 256})->Args({4096, 256})->UseManualTime()->Iterations(20000);
}
BENCHMARK(push_pop_same_text_cold)->Apply(cold);
BENCHMARK(push_pop_numbered_cold)->Apply(cold);
BENCHMARK(timed_call_cold)->Apply(cold);
BENCHMARK(nothing_cold)->Apply(cold);
BENCHMARK(start_end);
BENCHMARK(current_range);
BENCHMARK(read_clock);

}  // namespace
