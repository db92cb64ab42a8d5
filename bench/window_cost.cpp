// What a window of iteration replay costs on the GPU of this machine, taken apart: opening it, the launches in it, closing it.
//   window_cost <folder of metrics> <set, or metrics with commas between> [most launches a window may have]...
// Prints milliseconds: opening the first window, which is where CUPTI makes room for them all; then medians over the windows of
// kRuns runs, with the smallest and largest; decoding is once a run, when all passes are made, with making ready for the next. A
// launch includes its kernel, as in a window each waits for the one before; "bare" is the same launches without a window, each
// waited for.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "cupti/catalogue.h"
#include "cupti/driver.h"
#include "cupti/host.h"
#include "cupti/library.h"
#include "cupti/range_profiler.h"

#include <dlfcn.h>

namespace {

using namespace dlkprof;  // NOLINT(google-build-using-namespace)

constexpr int kRuns = 5;
constexpr unsigned kBlocks = 1056, kThreads = 256;  // 8 blocks for each multiprocessor of an H200

// Adds 1 to each of its floats.
constexpr const char* kKernel = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry add_one(.param .u64 floats) {
  .reg .b64 %rd<4>;
  .reg .b32 %r<4>;
  .reg .f32 %f<3>;
  ld.param.u64 %rd1, [floats];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.u32 %r3, %r1, 256, %r2;
  mul.wide.u32 %rd2, %r3, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];
  add.f32 %f2, %f1, 0f3F800000;
  st.global.f32 [%rd3], %f2;
  ret;
}
)";

double milliseconds(const std::function<void()>& act) {
  const auto begin = std::chrono::steady_clock::now();
  act();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

long resident_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

std::string spread(std::vector<double> values) {
  if (values.empty()) return "";
  std::sort(values.begin(), values.end());
  return fmt::format("{:.3f} ({:.3f} to {:.3f})", values[values.size() / 2], values.front(), values.back());
}

// The primary context of the first GPU, and a kernel to launch in it.
class Gpu {
 public:
  Gpu() : driver_(cupti::Driver::open()) {
    call<CUresult(unsigned)>("cuInit")(0);
    CUcontext made = nullptr;
    cupti::check(driver_, call<CUresult(CUcontext*, CUdevice)>("cuDevicePrimaryCtxRetain")(&made, 0), "cuDevicePrimaryCtxRetain");
    context = made;
    cupti::check(driver_, call<CUresult(CUcontext)>("cuCtxSetCurrent")(context), "cuCtxSetCurrent");
    CUmodule module = nullptr;
    cupti::check(driver_, driver_.cuModuleLoadData(&module, kKernel), "cuModuleLoadData");
    cupti::check(driver_, driver_.cuModuleGetFunction(&kernel_, module, "add_one"), "cuModuleGetFunction");
    cupti::check(driver_, driver_.cuMemAlloc(&floats_, sizeof(float) * kBlocks * kThreads), "cuMemAlloc");
  }

  void launch() const {
    CUdeviceptr floats = floats_;
    void* arguments[] = {&floats};
    cupti::check(driver_, driver_.cuLaunchKernel(kernel_, kBlocks, 1, 1, kThreads, 1, 1, 0, nullptr, arguments, nullptr),
                 "cuLaunchKernel");
  }
  void wait() const { cupti::check(driver_, driver_.cuCtxSynchronize(), "cuCtxSynchronize"); }

  CUcontext context = nullptr;

 private:
  template <typename Function>
  static Function* call(const char* name) {
    return reinterpret_cast<Function*>(dlsym(dlopen("libcuda.so.1", RTLD_NOW), name));
  }

  const cupti::Driver& driver_;
  CUfunction kernel_ = nullptr;
  CUdeviceptr floats_ = 0;
};

// Of a set, or of metrics by NVPerf's names, all of which hold two underscores.
std::vector<capture::MetricRequest> requests_of(const cupti::Catalogue& catalogue, const std::string& what) {
  if (what.find("__") == what.npos) {
    std::vector<cupti::Section> sections;
    for (const std::string& name : catalogue.set(what).sections) sections.push_back(catalogue.section(name));
    return cupti::requests(sections);
  }
  std::vector<capture::MetricRequest> metrics;
  std::istringstream words(what);
  for (std::string name; std::getline(words, name, ',');) metrics.push_back({{name}});
  return metrics;
}

void measure(const cupti::Library& library, const Gpu& gpu, const cupti::CollectionPlan& plan, std::size_t most) {
  auto profiler = cupti::RangeProfiler::create(library, gpu.context);
  const double configure = milliseconds([&] { profiler.configure(plan, CUPTI_UserReplay, most); });
  double first = 0;
  std::vector<double> open, launch, close, decode;
  for (int run = 0; run < kRuns; ++run) {
    if (run > 0) {
      decode.push_back(milliseconds([&] {
        profiler.decode(most);
        profiler.reset();
      }));
    }
    for (bool complete = false; !complete;) {
      const double opened = milliseconds([&] { profiler.start(); });
      (first == 0 ? first : open.emplace_back()) = opened;
      const double launched = milliseconds([&] {
        for (std::size_t i = 0; i < most; ++i) gpu.launch();
        gpu.wait();
      });
      launch.push_back(launched / static_cast<double>(most));
      close.push_back(milliseconds([&] { complete = profiler.stop(); }));
    }
  }
  fmt::print(
      "{:>5} launches: configure {:.1f}, first open {:.1f}, open {}, a launch {}, close {}, decode {} ms; {} windows; {} MB "
      "resident\n",
      most, configure, first, spread(open), spread(launch), spread(close), spread(decode), close.size(), resident_megabytes());
}

void run(const std::string& folder, const std::string& what, const std::vector<std::size_t>& sizes) {
  const auto catalogue = cupti::Catalogue::load(folder);
  const Gpu gpu;
  const auto& library = cupti::Library::open("");
  cupti::initialize_profiler(library);
  const auto host = cupti::Host::create(library, cupti::chip_name(library, 0), cupti::counter_availability(library, gpu.context));
  const auto plan = host.plan(host.resolve(requests_of(catalogue, what)).names);
  std::vector<double> bare;
  for (int i = 0; i < 1000; ++i) {
    bare.push_back(milliseconds([&] {
      gpu.launch();
      gpu.wait();
    }));
  }
  fmt::print("{}: {} metrics, {} passes; a bare launch {} ms; {} MB resident\n", what, plan.metrics.size(), plan.passes,
             spread(bare), resident_megabytes());
  for (const std::size_t size : sizes) measure(library, gpu, plan, size);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: window_cost <folder of metrics> <set, or metrics with commas between> [most launches]...\n");
    return 2;
  }
  std::vector<std::size_t> sizes;
  for (int i = 3; i < argc; ++i) sizes.push_back(std::max(1UL, std::strtoul(argv[i], nullptr, 10)));
  if (sizes.empty()) sizes = {8, 56, 96, 256};
  try {
    run(argv[1], argv[2], sizes);
    return 0;
  } catch (const std::exception& failure) {
    fmt::print(stderr, "window_cost: {}\n", failure.what());
    return 1;
  }
}
