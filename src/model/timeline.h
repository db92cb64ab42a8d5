// What the captures of a run say happened, in arrays: ranges, CUDA calls and GPU work, joined to one another. What the fold
// works on, whether it comes from captures or from a database of ours. Indices, not pointers; kNone where there is none.
// Arrays of millions: their elements are kept small.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "dlkprof/capture_format.h"
#include "model/pc_samples.h"
#include "model/run.h"

namespace dlkprof::model {

inline constexpr std::uint32_t kNone = ~std::uint32_t{0};

struct Thread {
  std::uint32_t process = 0;  // index into Timeline::processes
  std::uint32_t tid = 0;      // gettid(2)
  friend bool operator==(const Thread&, const Thread&) = default;
};

// An NVTX range (a mark: both times the same). What was never ended ends with the last event of its thread.
struct Range {
  std::int64_t start_ns = 0, end_ns = 0;
  std::uint32_t parent = kNone;  // index into Timeline::ranges; always smaller than the range's own index
  std::uint32_t thread = 0;      // index into Timeline::threads
  std::uint32_t message = 0;     // index into Timeline::strings
  std::uint32_t domain = 0;      // index into Timeline::strings; 0, which is the empty string: the default domain
  capture::RangeKind kind = capture::RangeKind::push_pop;
  bool closed = true;                             // false: the program never ended it
  std::uint32_t sequence = kNone, op_id = kNone;  // that the message has lost (capture/message.h)
};

// A CUDA call.
struct Call {
  std::int64_t start_ns = 0, end_ns = 0;
  std::uint32_t range = kNone;  // the innermost open around it
  std::uint32_t thread = 0;
  std::uint32_t name = 0;  // index into Timeline::strings
};

// A kernel function, or a kind of copy or set ("[CUDA memcpy HtoD]", as Nsight Systems names them), by name.
struct Kernel {
  capture::WorkKind kind = capture::WorkKind::kernel;
  std::string mangled;    // as CUPTI has it
  std::string name;       // short: ncu's base "function"
  std::string long_name;  // demangled
};

// A launch configuration of a process.
struct Config {
  std::uint32_t process = 0;
  capture::LaunchKey key;  // key.function: the process's FunctionRecord::id, or 0 where there is none
};

// What the driver says of a kernel function that a process launched: what its occupancy follows from.
struct LoadedFunction {
  std::uint32_t process = 0;
  capture::FunctionRecord record;  // without its name, which is that of the kernel
};

// A kernel's run, a copy or a set.
struct Work {
  std::int64_t start_ns = 0, end_ns = 0;  // on the GPU; 0 0: not timed
  std::uint64_t bytes = 0;                // copied or set
  std::uint64_t launch_index = capture::kNoLaunch;
  std::uint32_t call = kNone;    // index into Timeline::calls
  std::uint32_t kernel = 0;      // index into Timeline::kernels
  std::uint32_t config = kNone;  // index into Timeline::configs, of kernels only
  std::uint32_t device = 0;      // index into Timeline::devices
  std::uint32_t stream = 0;
  bool in_graph = false;
  bool replayed = false;  // its length is gpu__time_duration, measured while it was replayed; it stands right after its call
};

struct Process {
  capture::ProcessRecord record;
  capture::ClockRecord clock;
  // GPU times may be too early, too late by at most so much beside those of the CPU: a kernel does not start before its
  // launch was called, nor end after a wait for it returned. -1: not known.
  std::int64_t gpu_early_ns = -1, gpu_late_ns = -1;
  std::int64_t held_ns = 0;  // that the profiler held it for, to measure; cut out of all times
};

// A GPU. Processes that see the same one (by PCI bus id) share it.
struct Device {
  capture::DeviceRecord record;
};

struct Timeline {
  std::vector<Process> processes;
  std::vector<Device> devices;
  std::vector<Thread> threads;
  std::vector<std::string> strings;  // [0] is empty; valid UTF-8
  std::vector<Range> ranges;         // by start; an enclosing range before those inside it
  std::vector<Call> calls;           // by start
  std::vector<Kernel> kernels;
  std::vector<Config> configs;
  std::vector<LoadedFunction> functions;  // by process and id
  std::vector<Work> works;                // by start on the GPU, those not timed by their call, which comes first
  std::vector<capture::Fact> facts;
  std::vector<capture::NoticeRecord> notices;
  // Metrics of measured configurations: index into configs -> metric -> values of the launches measured.
  std::unordered_map<std::uint32_t, std::map<std::string, std::vector<double>>> measured;
  PcSamples pc_samples;
  std::int64_t first_ns = 0, last_ns = 0;  // of all events
};

// What the driver says of a configuration's function; none where its capture does not.
[[nodiscard]] const capture::FunctionRecord* function_of(const Timeline& timeline, const Config& config);

// Reads captures into one timeline. What is malformed is left out and counted in a notice. Throws Error where a file is no
// capture of ours.
[[nodiscard]] Timeline load_timeline(std::span<const std::filesystem::path> captures);

}  // namespace dlkprof::model
