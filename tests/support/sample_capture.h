// A small capture as an H200 would give it, for the tests of everything that reads captures: two GEMM kernels measured
// three times, an elementwise kernel that the selector does not match, a near miss, and launches left alone. Figures
// are made up, but such as could be.
#pragma once

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "capture/options.h"
#include "capture/writer.h"
#include "dlkprof/capture_format.h"

namespace dlkprof::test {

inline capture::DeviceRecord h200() {
  capture::DeviceRecord device;
  device.name = "NVIDIA H200";
  device.chip = "GH100";
  device.pci_bus_id = "0000:1B:00.0";
  device.cc_major = 9;
  device.sm_count = 132;
  device.warp_size = 32;
  device.max_threads_per_sm = 2048;
  device.max_threads_per_block = 1024;
  device.max_blocks_per_sm = 32;
  device.registers_per_sm = 65536;
  device.registers_per_block = 65536;
  device.shared_per_sm = 233472;  // 228 KB
  device.shared_per_block = 49152;
  device.shared_per_block_optin = 232448;  // 227 KB
  device.shared_reserved_per_block = 1024;
  device.l2_bytes = 62914560;
  device.memory_bytes = 150754820096;
  device.sm_clock_khz = 1980000;
  device.memory_clock_khz = 3201000;
  return device;
}

inline capture::FunctionRecord function(std::uint32_t id, const std::string& mangled_name, std::uint32_t registers = 32) {
  capture::FunctionRecord record;
  record.id = id;
  record.mangled_name = mangled_name;
  record.registers_per_thread = registers;
  record.max_threads_per_block = 1024;
  record.binary_version = 90;
  return record;
}

inline capture::LaunchKey key(std::uint32_t function, capture::Dim3 grid, capture::Dim3 block, std::uint32_t dynamic_shared = 0) {
  return {.device = 0, .function = function, .grid = grid, .block = block, .cluster = {}, .dynamic_shared_bytes = dynamic_shared};
}

// What was asked for in the sample: some of the sections speed_of_light, stall and memory, and one metric by itself.
inline std::vector<std::string> sample_metrics() {
  return {"gpu__time_duration.sum",
          "sm__throughput.avg.pct_of_peak_sustained_elapsed",
          "sm__warps_active.avg.pct_of_peak_sustained_active",
          "dram__bytes.sum.per_second",
          "dram__bytes_read.sum",
          "smsp__inst_executed.sum",
          "gpc__cycles_elapsed.avg.per_second",
          "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
          "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio",
          "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio",
          "smsp__average_warps_issue_stalled_drain_per_issue_active.ratio",
          "smsp__average_warps_issue_stalled_misc_per_issue_active.ratio",
          "smsp__average_warps_issue_stalled_membar_per_issue_active.ratio"};
}

inline capture::ProfileOptions sample_options() {
  capture::ProfileOptions options;
  options.selection.kernel_id = "::regex:gemm:";
  for (const std::string& metric : sample_metrics()) options.metrics.push_back({{metric}});
  return options;
}

inline const std::string kTiledGemm = "_ZN3lab10gemm_tiledIfLi128EEEvPKT_S3_PS1_i";  // void lab::gemm_tiled<float, 128>(...)
inline const std::string kSimpleGemm = "gemm_simple";
inline const std::string kCutlass = "_ZN7cutlass7Kernel2I9gemm_fp16EEvi";  // void cutlass::Kernel2<gemm_fp16>(int)
inline const std::string kRelu = "_Z4reluPfi";

inline capture::LaunchRecord sample_launch(std::uint64_t index, const capture::LaunchKey& key, std::uint32_t occurrence,
                                           double duration_ns) {
  capture::LaunchRecord launch;
  launch.index = index;
  launch.key = key;
  launch.occurrence = occurrence;
  launch.context_id = 1;
  launch.stream_id = 7;
  launch.thread_id = 4242;
  launch.metric_set = 1;
  launch.mode = capture::ReplayMode::kernel;
  launch.passes = 10;
  launch.start_unix_ns = 1'700'000'001'000'000'000;
  launch.cost_ns = 211'000'000;
  launch.values = {duration_ns,
                   71.25,
                   18.0691,
                   1.2345e12,
                   6.36442e+06,
                   47'779'200,
                   1.755e9,
                   0.5,
                   1.75,
                   0.25,
                   0.0,
                   0.004,
                   std::numeric_limits<double>::quiet_NaN()};
  return launch;
}

inline capture::KeyStats stats(const capture::LaunchKey& key, std::uint64_t launches, std::uint64_t timed_gpu_ns) {
  capture::KeyStats one;
  one.key = key;
  one.launches = launches;
  one.timed = launches;
  one.timed_gpu_ns = timed_gpu_ns;
  return one;
}

inline capture::KeyStatsRecord sample_stats() {
  capture::KeyStats tiled = stats(key(1, {64, 16, 1}, {256, 1, 1}, 16384), 40, 2'500'000);
  tiled.matched = 40;
  tiled.measured = 2;
  tiled.timed = 38;
  capture::KeyStats simple = stats(key(2, {8, 8, 1}, {16, 16, 1}), 1, 0);
  simple.matched = simple.measured = 1;
  simple.timed = 0;
  capture::KeyStats cooperative = stats(key(2, {9, 9, 1}, {16, 16, 1}), 3, 0);
  cooperative.matched = cooperative.skipped = 3;
  cooperative.timed = 0;
  cooperative.reason = capture::SkipReason::cooperative;
  capture::KeyStats cutlass = stats(key(3, {128, 1, 1}, {128, 1, 1}), 12, 1'500'000);
  cutlass.near_missed = 12;
  const capture::KeyStats relu = stats(key(4, {1024, 1, 1}, {256, 1, 1}), 80, 1'000'000);
  capture::KeyStatsRecord record;
  record.keys = {tiled, simple, cooperative, cutlass, relu};
  record.graph_launches = 5;
  record.graph_timed_gpu_ns = 700'000;
  record.timing_complete = true;
  return record;
}

// All records of the sample in the order in which a process writes them.
inline std::vector<capture::Record> sample_records() {
  capture::ProcessRecord process;
  process.pid = 4242;
  process.parent_pid = 4200;
  process.start_unix_ns = 1'700'000'000'000'000'000;
  process.host = "gpu-host";
  process.arguments = {"python", "app.py", "--batch_size", "512"};
  process.dlkprof_version = "0.1.0";
  process.cupti_version = 130001;
  process.driver_version = 13000;
  process.options_json = capture::to_json(sample_options());
  const capture::LaunchKey tiled = key(1, {64, 16, 1}, {256, 1, 1}, 16384);
  return {process,
          h200(),
          function(1, kTiledGemm, 64),
          function(2, kSimpleGemm, 40),
          function(3, kCutlass, 128),
          function(4, kRelu, 16),
          capture::MetricSetRecord{1, 0, 10, sample_metrics(), {}},
          sample_launch(3, tiled, 0, 66656),
          sample_launch(7, key(2, {8, 8, 1}, {16, 16, 1}), 0, 1'234'567),
          sample_launch(9, tiled, 1, 65920),
          sample_stats(),
          capture::EndRecord{1'700'000'009'000'000'000, 136}};
}

inline std::filesystem::path write_capture(const std::filesystem::path& folder, const std::vector<capture::Record>& records,
                                           const std::string& base_name = "sample") {
  capture::Writer writer = capture::Writer::create(folder, base_name);
  for (const capture::Record& record : records) writer.append(record);
  return writer.path();
}

}  // namespace dlkprof::test
