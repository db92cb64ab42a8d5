#include "targets/profiler_ranges.h"

#include <cuda.h>
#include <cudaProfiler.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

namespace target {
namespace {

CUcontext current_context() {
  CUcontext context = nullptr;
  CHECK(cuCtxGetCurrent(&context));
  return context;
}

}  // namespace

std::string launch_between(Entry entry, const std::string& letters) {
  Training training(entry, nullptr);
  CUcontext context = current_context();
  std::promise<void> ends;
  std::atomic<int> asked{0}, done{0};
  std::thread launcher([&, left = ends.get_future()] {  // one thread for all, as a program's own
    CHECK(cuCtxSetCurrent(context));
    while (left.wait_for(std::chrono::milliseconds(0)) != std::future_status::ready) {
      if (done == asked) {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
        continue;
      }
      training.iterate();
      ++done;
    }
  });
  for (const char letter : letters) {
    if (letter == 's') CHECK(cuProfilerStart());
    if (letter == 'e') CHECK(cuProfilerStop());
    if (letter != 'l') continue;
    ++asked;
    while (done != asked) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  ends.set_value();
  launcher.join();
  return training.checksum();
}

std::string launch_across(Entry entry, int rounds, int steps) {
  Training training(entry, nullptr);
  CUcontext context = current_context();
  std::atomic<bool> toggled{false};
  std::thread launcher([&] {
    CHECK(cuCtxSetCurrent(context));
    for (int step = 0; step < steps; ++step) training.iterate();
    while (!toggled) std::this_thread::sleep_for(std::chrono::microseconds(50));
  });
  for (int round = 0; round < rounds; ++round) {
    CHECK(cuProfilerStart());
    std::this_thread::sleep_for(std::chrono::microseconds(300));
    CHECK(cuProfilerStop());
    std::this_thread::sleep_for(std::chrono::microseconds(300));
  }
  toggled = true;
  launcher.join();
  return training.checksum();
}

}  // namespace target
