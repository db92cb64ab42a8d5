// The figures of one run that comparisons are made of. Times in ns, shares from 0 to 1; what is not known is absent.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "advise/compare/compare_stats.h"
#include "model/profile.h"

namespace dlkprof::advise {

// How far the grids of kernels fill the GPU: means weighted by GPU time, over kernels of which it is known.
struct Fill {
  // SMs that get no block, as a grid has fewer blocks than the GPU has SMs: blocks go to the SMs in turn.
  std::optional<double> idle_sms;
  std::optional<double> below_one_wave;  // share of GPU time in grids that the GPU could hold more than once, by occupancy.h
  std::optional<double> waves;
};

// What was measured: means weighted by GPU time over the launch configurations that were.
struct Measured {
  std::optional<double> occupancy;        // achieved, % of the warps that an SM can hold
  std::optional<double> tensor_pipe;      // % of the cycles in which an SM is active
  std::optional<double> dram_rate;        // bytes a second
  std::optional<double> dram_throughput;  // % of peak
  std::optional<double> share;            // of the GPU time of kernels
};

struct KernelFigures {
  std::string name, long_name;      // without and with namespaces, template arguments and parameters
  double launches = 0, gpu_ns = 0;  // means over iterations
  bool uses_tc = false;
  Fill fill;
  Measured measured;
};

// A launch configuration, by what it is called in every run: its kernel and sizes.
struct ConfigFigures {
  std::string name;
  double launches = 0;                  // mean over iterations
  std::map<std::string, double> means;  // of a launch, over those measured: metrics that count (their names end in .sum)
};

// An op: instances of one name, direction and type.
struct OpFigures {
  std::string name, type;
  model::Direction direction = model::Direction::none;
  std::size_t occurs = 0;                 // iterations in which it launched anything
  const char* values = "iterations";      // what gpu_ns has a value of; of jobs "ranks"
  std::vector<double> gpu_ns;             // of each iteration, 0 where it launched nothing; empty where that is most of them
  std::vector<std::uint32_t> part_timed;  // iterations in which launches of it have no time, as they were being measured; rising
  Spread gpu;                             // of gpu_ns
  double mean_gpu_ns = 0;                 // over iterations
  std::vector<KernelFigures> kernels;     // with copies and sets, by GPU time, falling
  std::vector<ConfigFigures> configs;     // of kernels
  Fill fill;
  Measured measured;
  [[nodiscard]] bool is_regular() const { return !gpu_ns.empty(); }
};

// Iterations of one kind, where there are several.
struct KindFigures {
  std::string name;
  std::vector<double> iteration_ns, gpu_ns;  // of each
  std::vector<std::uint32_t> part_timed;     // as RunFigures::part_timed, of these
  Spread iteration, gpu;
};

// Of the steady range, or of the iterations asked for.
struct RunFigures {
  std::string label;
  std::vector<std::string> gpus, frameworks;  // by name, each once
  std::size_t processes = 0;
  std::string program;             // of the first process, with its arguments
  std::string driver;              // version; empty: not told
  std::int64_t start_unix_ns = 0;  // 0: not known
  std::string key_node;
  bool has_iterations = false;        // false: none is whole, and the whole run stands for one
  std::uint32_t first = 0, last = 0;  // iterations that figures are of, inclusive
  std::string kind;                   // that all of them are of, where there are others; else empty
  std::vector<KindFigures> kinds;     // by GPU time; empty where all are of one: else medians of all are those of no kind
  std::optional<std::uint64_t> batch_size;
  bool batch_size_recorded = true;  // false: whoever compares gave it

  std::vector<double> iteration_ns, gpu_ns;          // of each: its length; the GPU time of what it launched
  Spread iteration, gpu, kernels, launches, copies;  // of iterations: length, GPU time, counts
  std::vector<std::uint32_t> part_timed;             // iterations in which launches have no time; rising
  std::map<std::string, Spread> launch_calls;        // how long calls that launch took on the CPU, by name, of those with a time
  std::optional<Spread> utilization;                 // share of an iteration in which a GPU works, mean over GPUs
  std::optional<double> tensor_core_share;           // of all GPU time: in kernels that use tensor cores
  Fill fill;
  Measured measured;
  std::vector<OpFigures> ops;  // those that launched anything, by mean GPU time, falling

  [[nodiscard]] std::optional<double> per_sample(double value) const {
    return batch_size ? std::optional(value / static_cast<double>(*batch_size)) : std::nullopt;
  }
  [[nodiscard]] std::optional<double> samples_per_second() const;
  // Of `kinds`, by name; null where the run has no such.
  [[nodiscard]] const KindFigures* find_kind(const std::string& name) const;
};

// Of the iterations that were aggregated, nothing else of the aggregate is looked at. The batch size is that which the program's
// framework told, as the fact `batch_size`.
[[nodiscard]] RunFigures figures_of(const model::Profile& profile);

}  // namespace dlkprof::advise
