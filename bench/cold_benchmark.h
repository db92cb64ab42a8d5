// Benchmarks of calls of ours where caches are cold.
#pragma once

#include <benchmark/benchmark.h>

#include <array>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "base/event_clock.h"
#include "cold.h"

namespace dlkprof::bench {

// Of data and of code, KiB.
inline void cold(benchmark::internal::Benchmark* bench) {
  bench->Args({0, 0})->Args({256, 256})->Args({1024, 1024})->Args({4096, 2048})->UseManualTime()->Iterations(4000);
}

// The last cache is not large enough either.
inline void from_memory(benchmark::internal::Benchmark* bench) {
  bench->Args({1 << 16U, 2048})->UseManualTime()->Iterations(500);
}

// What act(prepare()) takes. Of two acts each, the others running before both.
void measure_cold(benchmark::State& state, auto prepare, auto... act) {
  Others others(static_cast<std::size_t>(state.range(0)) << 10U, static_cast<std::size_t>(state.range(1)) << 10U);
  Stopwatch watch;
  std::array<std::vector<double>, sizeof...(act)> times;
  for (auto _ : state) {
    tune_event_clock();
    auto input = prepare();
    double sum = 0;
    const auto measure = [&](auto& one, std::vector<double>& of_one) {
      others.run();
      watch.start();
      one(input);
      of_one.push_back(watch.stop());
      sum += of_one.back();
    };
    std::size_t at = 0;
    (measure(act, times[at++]), ...);
    state.SetIterationTime(sum * 1e-9);
  }
  double sum = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double one = middle(times[i]);
    sum += one;
    if (times.size() > 1) state.counters["act_" + std::to_string(i + 1) + "_ns"] = one;
  }
  state.counters["middle_ns"] = sum;
}

}  // namespace dlkprof::bench
