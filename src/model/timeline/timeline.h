// What the captures of a run say happened, in arrays: ranges, CUDA calls and GPU work, joined to one another. What the fold
// works on, whether it comes from captures or from a database of ours. Indices, not pointers; kNone where there is none.
// Arrays of millions: their elements are kept small.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "dlkprof/capture_format.h"
#include "model/timeline/pc_samples.h"

namespace dlkprof::model {

inline constexpr std::uint32_t kNone = ~std::uint32_t{0};
// The last values of enumerations that this version knows.
inline constexpr capture::ReplayMode kLastReplayMode = capture::ReplayMode::iteration;
inline constexpr capture::CacheControl kLastCacheControl = capture::CacheControl::all;
inline constexpr capture::SkipReason kLastSkipReason = capture::SkipReason::values;

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
  std::uint32_t message_bytes = kNone;            // that NCCL sends or receives; kNone: not said, or 4 GiB and more
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
  capture::ActivityKind kind = capture::ActivityKind::kernel;
  std::string mangled;    // as CUPTI has it
  std::string name;       // short: ncu's base "function"
  std::string long_name;  // demangled
};

// A launch configuration of a process.
struct Config {
  std::uint32_t process = 0;
  capture::LaunchKey key;        // key.function: the process's FunctionRecord::id, or 0 where there is none
  std::uint32_t kernel = kNone;  // index into Timeline::kernels; kNone where its function is not described
};

// What the driver says of a kernel function that a process launched: what its occupancy follows from.
struct LoadedFunction {
  std::uint32_t process = 0;
  capture::FunctionRecord record;  // without its name, which is that of the kernel
};

// A kernel's run, a copy or a set.
struct Activity {
  std::int64_t start_ns = 0, end_ns = 0;  // on the GPU; 0 0: not timed
  std::uint64_t bytes = 0;                // copied or set
  std::uint64_t launch_index = capture::kNoLaunch;
  std::uint32_t call = kNone;    // index into Timeline::calls
  std::uint32_t kernel = 0;      // index into Timeline::kernels
  std::uint32_t config = kNone;  // index into Timeline::configs, of kernels only
  std::uint32_t device = 0;      // index into Timeline::devices
  std::uint32_t stream = 0;
  std::uint32_t graph_node = kNone;  // index into Timeline::graph_nodes; kNone: not of a graph, or not known how it was made
  bool in_graph = false;
  // Measured, so it has no time of its own: its length is gpu__time_duration, and it stands right after its call.
  bool replayed = false;
  bool estimated = false;  // that was not measured of it: its length is the mean of others of its configuration
};

// What was captured into a CUDA graph, or added to one: what its clones in executable graphs run as.
struct GraphNode {
  std::uint32_t range = kNone;          // the innermost open then on that thread
  std::uint32_t capture_range = kNone;  // the innermost open where capturing its graph began
  std::uint32_t graph = 0;              // number of that graph among all, from 0
  bool in_child = false;                // its graph was put into another before that was instantiated
  friend bool operator==(const GraphNode&, const GraphNode&) = default;
};

// The metrics that launches were measured with, and the passes they took.
struct MetricSet {
  std::uint32_t process = 0;
  capture::MetricSetRecord record;
};

// A launch that was measured, and how. Its values stand in Timeline::measured.
struct MeasuredLaunch {
  std::uint64_t launch_index = 0;  // position among all kernel launches of its process
  std::uint32_t occurrence = 0;    // position among those of its configuration
  std::uint32_t metric_set = 0;    // index into Timeline::metric_sets
  std::uint32_t passes = 0;
  capture::ReplayMode replay_mode = capture::ReplayMode::none;
  capture::CacheControl cache_control = capture::CacheControl::none;
  std::int64_t start_unix_ns = 0;
  std::uint64_t cost_ns = 0;                          // host time the measuring took
  std::uint32_t context = 0, stream = 0, thread = 0;  // as CUPTI numbers them; gettid(2)
  bool evaluated_here = false;                        // from kept counters, not in the profiled process
  friend bool operator==(const MeasuredLaunch&, const MeasuredLaunch&) = default;
};

// What became of the launches of one configuration; of a function that no filter takes, of all of them together.
struct LaunchCounts {
  std::uint32_t process = 0;
  std::uint32_t config = kNone;  // index into Timeline::configs; kNone: all of a function
  std::uint32_t kernel = kNone;  // index into Timeline::kernels; kNone: not described
  std::uint32_t device = 0;      // CUDA's number of the GPU in that process
  std::uint64_t launches = 0, matched = 0, measured = 0, near_missed = 0, skipped = 0;
  std::uint64_t timed = 0, timed_gpu_ns = 0;  // measured ones excluded
  capture::SkipReason reason = capture::SkipReason::none;
  friend bool operator==(const LaunchCounts&, const LaunchCounts&) = default;
};

struct Process {
  capture::ProcessRecord record;
  capture::ClockRecord clock;
  std::string capture;                             // the name of its file
  std::map<std::uint32_t, std::uint32_t> devices;  // CUDA's number of a GPU that it used -> index into Timeline::devices
  // GPU times may be too early, too late by at most so much beside those of the CPU: a kernel does not start before its
  // launch was called, nor end after a wait for it returned. -1: not known.
  std::int64_t gpu_early_ns = -1, gpu_late_ns = -1;
  std::int64_t held_ns = 0;                            // that the profiler held it for, to measure; cut out of all times
  std::uint64_t graph_launches = 0, graph_gpu_ns = 0;  // of CUDA graphs, and of the kernels in them
  bool timing_complete = false;                        // false: only some launches were timed
  bool ended = false;                                  // its capture was closed: counts are whole
  std::uint64_t damaged_records = 0;                   // of its capture, which were left out
};

// A GPU. Processes that see the same one (by PCI bus id) share it.
struct Device {
  capture::DeviceRecord record;
};

// A metric of a launch configuration from samples that lay within its launches (model/samples/sample_join.h).
struct SampledFigure {
  std::uint64_t samples = 0, launches = 0;  // that have samples
  double mean = 0;
  double deviation = 0;            // standard deviation of the samples
  std::optional<double> interval;  // half of the 95 % confidence interval of the mean; none where only one launch has samples
};

// The samples of a stretch of time on a GPU, whatever ran then.
struct SampleBin {
  std::uint32_t device = 0;  // index into Timeline::devices
  std::uint32_t metric = 0;  // index into Timeline::sampled_metrics
  std::int64_t start_ns = 0, end_ns = 0;
  std::uint64_t samples = 0;
  double value = 0;  // their mean; of figures that grow with time, a nanosecond's
};

// The profiler had all that it wanted of a process, which ran on by itself.
struct Detachment {
  std::uint32_t process = 0;
  std::int64_t alone_ns = 0;  // until its end; 0: not known
  bool cupti_left = false;    // false: CUPTI stayed in the process
};
// A step of its loop that began then, on its clock.
struct LoneStep {
  std::uint32_t process = 0;
  std::string marker;  // the NVTX message; valid UTF-8
  std::int64_t start_ns = 0;
};

struct Timeline {
  std::vector<Process> processes;
  std::vector<Detachment> detachments;  // by process
  std::vector<LoneStep> lone_steps;     // by process; those of a marker by start
  std::vector<Device> devices;
  std::vector<Thread> threads;
  std::vector<std::string> strings;  // [0] is empty; valid UTF-8
  std::vector<Range> ranges;         // by start; an enclosing range before those inside it
  std::vector<Call> calls;           // by start
  std::vector<Kernel> kernels;
  std::vector<Config> configs;
  std::vector<LoadedFunction> functions;  // by process and id
  std::vector<GraphNode> graph_nodes;
  std::vector<Activity> activities;  // by start on the GPU, those not timed by their call, which comes first
  std::vector<capture::Fact> facts;
  std::vector<capture::NoticeRecord> notices;
  // Metrics of measured configurations: index into configs -> metric -> values of the launches measured, each at the position
  // of its launch in measured_launches; NaN where none came.
  std::unordered_map<std::uint32_t, std::map<std::string, std::vector<double>>> measured;
  // Of configurations that were sampled; their means stand in `measured`, too.
  std::unordered_map<std::uint32_t, std::map<std::string, SampledFigure>> sampled;
  std::vector<std::string> sampled_metrics;
  std::vector<SampleBin> bins;                                                       // by device, metric and start
  std::unordered_map<std::uint32_t, std::vector<MeasuredLaunch>> measured_launches;  // by index into configs
  std::vector<MetricSet> metric_sets;
  std::vector<LaunchCounts> counts;  // by process
  PcSamples pc_samples;
  std::int64_t first_ns = 0, last_ns = 0;  // of all events

  // Else a copy or a set.
  [[nodiscard]] bool is_kernel(const Activity& activity) const {
    return kernels[activity.kernel].kind == capture::ActivityKind::kernel;
  }
};

// What the driver says of a configuration's function and of its GPU; none where its capture does not.
[[nodiscard]] const capture::FunctionRecord* function_of(const Timeline& timeline, const Config& config);
[[nodiscard]] const capture::DeviceRecord* device_of(const Timeline& timeline, const Config& config);

class RawEvaluator;

// Reads captures into one timeline. What is malformed is left out and counted in a notice. Counters that captures kept raw are
// evaluated where there is an `evaluator`; what it gives takes the place of what the profiled process made of them. Throws Error
// where a file is no capture of ours.
[[nodiscard]] Timeline load_timeline(std::span<const std::filesystem::path> captures, RawEvaluator* evaluator = nullptr);

}  // namespace dlkprof::model
