// A capture, folded into what reports are written from: one process, its devices, functions and launches.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "capture/reader.h"
#include "dlkprof/capture_format.h"
#include "model/timeline/pc_samples.h"

namespace dlkprof::model {

struct Function {
  capture::FunctionRecord record;
  std::string demangled;  // valid UTF-8
  std::string base_name;  // ncu's base "function"
};

// A measured launch with its metrics by name.
struct Launch {
  capture::LaunchRecord record;
  std::map<std::string, double> values;  // metric -> value; absent where none came
  bool from_raw = false;                 // evaluated here from kept counters, not in the profiled process
};

// How much of what was asked for was measured.
struct Coverage {
  std::uint64_t launches = 0, matched = 0, measured = 0, skipped = 0, near_missed = 0;
  std::uint64_t graph_launches = 0;
  std::uint64_t timed = 0, timed_gpu_ns = 0;                   // launches that activity records timed
  std::uint64_t unmatched_gpu_ns = 0, near_missed_gpu_ns = 0;  // of timed_gpu_ns, not counting graphs
  std::uint64_t graph_gpu_ns = 0;
  // In launch configurations that were measured at least once: what the figures stand for.
  std::uint64_t covered = 0, covered_gpu_ns = 0;
  bool timing_complete = false;
};

struct Run {
  std::filesystem::path path;
  capture::ProcessRecord process;
  std::map<std::uint32_t, capture::DeviceRecord> devices;         // by CUDA ordinal
  std::map<std::uint32_t, Function> functions;                    // by id
  std::map<std::uint32_t, capture::MetricSetRecord> metric_sets;  // by id
  std::vector<Launch> launches;                                   // in the order of the program
  std::map<capture::LaunchKey, capture::KeyStats> keys;
  std::vector<capture::NoticeRecord> notices;
  std::optional<capture::EndRecord> end;
  std::optional<PcTotals> pc_totals;  // of PC sampling, over all devices
  capture::ReadState read_state;
  Coverage coverage;
};

struct LoadOptions {
  // Evaluate kept counters again here where NVPerf can be opened (a notice says where it cannot).
  bool evaluate_raw = true;
  std::filesystem::path cupti_path;
  std::vector<std::string> metrics;  // evaluated besides those of the capture, where raw counters allow
};

// Throws Error where the file is no capture of ours; damage inside becomes notices of the run.
[[nodiscard]] Run load_run(const std::filesystem::path& path, const LoadOptions& options = {});

}  // namespace dlkprof::model
