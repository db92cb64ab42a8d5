// What NVTX ranges and timed CUDA calls cost the program while they are recorded, packing and writing them included. The
// figures that count are those of a push with its pop, and of a call, where the caches are cold.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <string>

#include "capture/options.h"
#include "cold_benchmark.h"
#include "inject/timeline/nvtx.h"
#include "inject/timeline/timeline.h"

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

namespace {

using namespace dlkprof;  // NOLINT(google-build-using-namespace)
using bench::cold;
using bench::measure_cold;

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

// The program does much between a push and its pop, too.
void push_pop_cold(benchmark::State& state, auto message) {
  const auto& program = Program::get();
  const auto push = program.function<nvtxRangePushA_impl_fntype>(NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangePushA);
  const auto pop = program.function<nvtxRangePop_impl_fntype>(NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangePop);
  for (const char* outer : {"a", "b", "c", "d"}) push(outer);
  measure_cold(
      state, message, [&](const char* text) { push(text); }, [&](const char* /*text*/) { pop(); });
  for (int i = 0; i < 4; ++i) pop();
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
// What measuring itself costs, once as in a call and twice as in a push with its pop; and a look at the clock.
void nothing_cold(benchmark::State& state) {
  measure_cold(
      state, [] { return 0; }, [](int) {});
}
void nothing_twice_cold(benchmark::State& state) {
  measure_cold(
      state, [] { return 0; }, [](int) {}, [](int) {});
}
void clock_cold(benchmark::State& state) {
  measure_cold(
      state, [] { return 0; }, [](int) { benchmark::DoNotOptimize(event_clock_ns()); });
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
      state, [] { return inject::OpenCall{}; }, [](inject::OpenCall& call) { inject::Timeline::begin(call); },
      [&](inject::OpenCall& call) { timeline.end(call, 1, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, data); });
}

// Asked at the entry of every CUDA call.
void current_range(benchmark::State& state) {
  (void)Program::get();
  for (auto _ : state) benchmark::DoNotOptimize(inject::current_range());
}

void read_clock(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(event_clock_ns());
}

BENCHMARK(push_pop_registered);
BENCHMARK(push_pop_registered)->Threads(2);
BENCHMARK(push_pop_same_text);
BENCHMARK(push_pop_new_text);
BENCHMARK(push_pop_numbered);
BENCHMARK(push_pop_same_text_cold)->Apply(cold);
BENCHMARK(push_pop_same_text_cold)->Apply(bench::from_memory);
BENCHMARK(push_pop_numbered_cold)->Apply(cold);
BENCHMARK(push_pop_numbered_cold)->Apply(bench::from_memory);
BENCHMARK(timed_call_cold)->Apply(cold);
BENCHMARK(timed_call_cold)->Apply(bench::from_memory);
BENCHMARK(nothing_cold)->Apply(cold);
BENCHMARK(nothing_cold)->Apply(bench::from_memory);
BENCHMARK(nothing_twice_cold)->Apply(cold);
BENCHMARK(nothing_twice_cold)->Apply(bench::from_memory);
BENCHMARK(clock_cold)->Apply(cold);
BENCHMARK(clock_cold)->Apply(bench::from_memory);
BENCHMARK(start_end);
BENCHMARK(current_range);
BENCHMARK(read_clock);

}  // namespace
