// What CUPTI costs a launch on the GPU of this machine, where caches are cold as between two launches of a training loop: the
// host time of cuLaunchKernel while the GPU is idle.
//   launch_cost [activity] [callbacks] [<attribute>=<value>]...
// `activity`: kernels are timed; `callbacks`: a callback that does nothing, at a launch's entry and exit; attributes are those of
// kAttributes, and buffer=<bytes> is the size of those that CUPTI asks for. In a process of its own each, as what CUPTI has put
// into the driver stays; with nothing it is the bare launch, and `dlkprof --replay-mode none -- launch_cost` is that with
// dlkprof. Prints microseconds, for some amounts of data and code (KiB) that run between launches: the mean of the middle half of
// kLaunches, and of kRuns of these the median, with the smallest and largest.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cold.h"
#include "cupti/library.h"
#include "gpu.h"
#include "program.h"

namespace {

using namespace dlkprof;  // NOLINT(google-build-using-namespace)

constexpr int kRuns = 7, kLaunches = 400, kWarmUp = 200;
constexpr std::pair<std::size_t, std::size_t> kOthers[] = {{0, 0}, {256, 256}, {1024, 1024}, {4096, 2048}};  // data, code; KiB

constexpr std::pair<std::string_view, CUpti_ActivityAttribute> kAttributes[] = {
    {"device_buffer", CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE},
    {"device_buffers", CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT},
    {"device_buffers_at_first", CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE},
    {"semaphores", CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_POOL_SIZE},
    {"semaphore_pools", CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_POOL_LIMIT},
    {"semaphore_pools_at_first", CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_PRE_ALLOCATE_VALUE},
};
constexpr std::pair<std::string_view, CUpti_ActivityAttribute> kSwitches[] = {
    {"zeroed", CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER},
    {"pinned", CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED},
    {"per_thread", CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER},
};

std::size_t g_buffer_bytes = std::size_t{1} << 20U;
std::atomic<std::size_t> g_recorded_bytes{0};  // written on CUPTI's thread

void request_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
  *buffer = static_cast<std::uint8_t*>(std::calloc(1, g_buffer_bytes));
  *size = *buffer != nullptr ? g_buffer_bytes : 0;
  *max_records = 0;
}

void take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid_bytes) {
  g_recorded_bytes += valid_bytes;
  std::free(buffer);
}

void on_callback(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

template <typename Value>
void set_attribute(const cupti::Library& library, CUpti_ActivityAttribute attribute, Value value) {
  using Set = CUptiResult(CUpti_ActivityAttribute, std::size_t*, void*);
  static auto* const set =
      reinterpret_cast<Set*>(dlsym(dlopen(library.path().c_str(), RTLD_NOW | RTLD_NOLOAD), "cuptiActivitySetAttribute"));
  std::size_t size = sizeof(value);
  if (set == nullptr) throw Error("CUPTI has no cuptiActivitySetAttribute", library.path(), "");
  cupti::check(library, set(attribute, &size, &value), "cuptiActivitySetAttribute");
}

template <typename Table>
std::optional<CUpti_ActivityAttribute> find(const Table& table, std::string_view name) {
  for (const auto& [known, attribute] : table) {
    if (known == name) return attribute;
  }
  return std::nullopt;
}

// Before anything is enabled. False where there is none of that name.
bool set_by_word(const cupti::Library& library, std::string_view word) {
  const std::size_t equals = std::min(word.find('='), word.size());
  const std::string_view name = word.substr(0, equals);
  const std::size_t value = std::strtoull(std::string(word.substr(std::min(equals + 1, word.size()))).c_str(), nullptr, 10);
  if (name == "buffer") {
    g_buffer_bytes = std::max<std::size_t>(value, 1024);
  } else if (const auto number = find(kAttributes, name)) {
    set_attribute(library, *number, value);
  } else if (const auto on = find(kSwitches, name)) {
    set_attribute(library, *on, static_cast<std::uint8_t>(value));
  } else {
    return false;
  }
  return true;
}

void attach(const std::vector<std::string>& words) {
  const auto& library = cupti::Library::open("");
  const auto has = [&](const char* word) { return std::find(words.begin(), words.end(), word) != words.end(); };
  for (const std::string& word : words) {
    if (word != "activity" && word != "callbacks" && !set_by_word(library, word)) throw Error("unknown word: " + word, "", "");
  }
  if (has("callbacks")) {
    CUpti_SubscriberHandle subscriber = nullptr;
    DLKPROF_CUPTI(library, cuptiSubscribe, &subscriber, on_callback, nullptr);
    DLKPROF_CUPTI(library, cuptiEnableCallback, 1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
                  CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
  }
  if (has("activity")) {
    DLKPROF_CUPTI(library, cuptiActivityRegisterCallbacks, request_buffer, take_buffer);
    DLKPROF_CUPTI(library, cuptiActivityEnable, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  }
}

double microseconds_a_launch(const bench::Gpu& gpu, bench::Others& others, int launches) {
  bench::Stopwatch watch;
  std::vector<double> times;
  for (int i = 0; i < launches; ++i) {
    others.run();
    watch.start();
    gpu.launch();
    times.push_back(watch.stop() / 1e3);
    gpu.wait();
  }
  return bench::middle(times);
}

void run(const std::vector<std::string>& words) {
  bench::Gpu::initialize();
  if (!words.empty()) attach(words);
  const bench::Gpu gpu;
  std::string what = words.empty() ? "bare" : "";
  for (const std::string& word : words) what.append(what.empty() ? "" : " ").append(word);
  fmt::print("{}:", what);
  for (const auto& [data, code] : kOthers) {
    bench::Others others(data << 10U, code << 10U);
    (void)microseconds_a_launch(gpu, others, kWarmUp);
    std::vector<double> runs;
    for (int i = 0; i < kRuns; ++i) runs.push_back(microseconds_a_launch(gpu, others, kLaunches));
    fmt::print("  {}/{} {}", data, code, bench::spread(runs));
  }
  fmt::print("  us; {} launches each, {} bytes recorded so far\n", kRuns * kLaunches, g_recorded_bytes.load());
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_program("launch_cost", [&] { run(std::vector<std::string>(argv + 1, argv + argc)); });
}
