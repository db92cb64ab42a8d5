// The capture file: what the injected library appends and everything after collection reads.
//
// A capture is written by exactly one process, front to back, and never rewritten, so that a file cut
// anywhere is good up to its last whole record. All integers are little-endian.
//
//   file   := header record*
//   header := magic[8] = "DLKPCAP\n"   u32 version   u32 zero
//   record := u32 sync = 0x524b4c44 ("DLKR")
//             u16 type                 (RecordType)
//             u16 zero
//             u32 length               (bytes of payload)
//             u32 payload_crc          (CRC-32C of the payload, RFC 3720 appendix B.4)
//             u32 header_crc           (CRC-32C of the 16 bytes before it)
//             payload[length]
//
// A payload is the fields of its struct below in their order: integers and doubles as they are, a bool as
// u8, an enum as its underlying type, a string or vector as u32 count followed by its elements. A newer
// writer of the same version may append fields to a payload: a reader ignores what it does not know, and
// leaves at its default what an older payload does not hold. Unknown record types are skipped. A change
// that this cannot express raises kCaptureVersion, and a reader refuses a version above its own by name.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace dlkprof::capture {

inline constexpr std::array<char, 8> kMagic{'D', 'L', 'K', 'P', 'C', 'A', 'P', '\n'};
inline constexpr std::uint32_t kCaptureVersion = 1;
inline constexpr std::uint32_t kRecordSync = 0x524b4c44;
inline constexpr std::uint32_t kMaxPayloadBytes = 1U << 30;

enum class RecordType : std::uint16_t {
  process = 1,
  device = 2,
  function = 3,
  metric_set = 4,
  launch = 5,
  raw_counters = 6,
  key_stats = 7,
  notice = 8,
  end = 9,
  strings = 10,
  events = 11,
  facts = 12,
  clock = 13,
  samples = 14,
  pc_samples = 15,
  pc_names = 16,
  absence = 17,
  detach = 18,
  pc_code = 19,
  sass_counts = 20,
};

// The process profiled. First record of every capture.
struct ProcessRecord {
  std::uint32_t pid = 0;
  std::uint32_t parent_pid = 0;
  std::int64_t start_unix_ns = 0;      // wall clock when the capture was opened
  std::string host;                    // gethostname(2)
  std::vector<std::string> arguments;  // argv of the process, as bytes
  std::string dlkprof_version;
  std::uint32_t cupti_version = 0;   // cuptiGetVersion
  std::uint32_t driver_version = 0;  // cuDriverGetVersion, 1000 * major + 10 * minor
  std::string options_json;          // what was asked for (capture/options.h)
  bool graph_nodes = false;          // GraphEvents are recorded
};

// A GPU on which the process has a context. Attribute names and units as in cuda.h, CUdevice_attribute.
struct DeviceRecord {
  std::uint32_t index = 0;  // CUDA ordinal within the process
  std::string name;         // cuDeviceGetName
  std::string chip;         // NVPerf's name: GH100
  std::string pci_bus_id;
  std::uint32_t cc_major = 0, cc_minor = 0;
  std::uint32_t sm_count = 0;
  std::uint32_t warp_size = 0;
  std::uint32_t max_threads_per_sm = 0, max_threads_per_block = 0;
  std::uint32_t max_blocks_per_sm = 0;
  std::uint32_t registers_per_sm = 0, registers_per_block = 0;
  std::uint32_t shared_per_sm = 0, shared_per_block = 0;  // bytes
  std::uint32_t shared_per_block_optin = 0;               // bytes
  std::uint32_t shared_reserved_per_block = 0;            // bytes
  std::uint64_t l2_bytes = 0;
  std::uint64_t memory_bytes = 0;
  std::uint32_t sm_clock_khz = 0, memory_clock_khz = 0;  // the device's maximum, not what it ran at
};

// A kernel function. Attributes as cuFuncGetAttribute gives them.
struct FunctionRecord {
  std::uint32_t id = 0;  // unique in the capture, from 1
  std::string mangled_name;
  std::uint32_t registers_per_thread = 0;
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t local_bytes_per_thread = 0;
  std::uint32_t constant_bytes = 0;
  std::uint32_t max_threads_per_block = 0;
  std::int32_t shared_carveout_percent = -1;  // CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT; -1: the driver's choice
  std::uint32_t binary_version = 0;           // 10 * major + minor of the machine code
};

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  friend auto operator<=>(const Dim3&, const Dim3&) = default;
};

// Which launches are taken for repetitions of one another: a launch configuration.
struct LaunchKey {
  std::uint32_t device = 0;
  std::uint32_t function = 0;  // FunctionRecord::id
  Dim3 grid, block;            // in blocks; in threads
  Dim3 cluster;                // in blocks; 1 1 1 where neither the launch names one nor the kernel was compiled for one
  std::uint32_t dynamic_shared_bytes = 0;
  friend auto operator<=>(const LaunchKey&, const LaunchKey&) = default;
};

// The metrics that a batch of launches was measured with, and the passes they needed.
struct MetricSetRecord {
  std::uint32_t id = 0;
  std::uint32_t device = 0;
  std::uint32_t passes = 0;
  std::vector<std::string> metrics;      // NVPerf names, in the order of LaunchRecord::values
  std::vector<std::string> unavailable;  // asked for, but this chip or driver does not offer them
};

enum class CacheControl : std::uint8_t { none = 0, all = 1 };
// How a launch was measured: replayed, pass after pass; or as the program made it, its passes spread over repetitions; or by
// samples of the whole GPU, given to launches by their time.
enum class ReplayMode : std::uint8_t { none = 0, kernel = 1, iteration = 2, sample = 3 };

// A launch that was measured.
struct LaunchRecord {
  std::uint64_t index = 0;  // position among all kernel launches of the process, from 0
  LaunchKey key;
  std::uint32_t occurrence = 0;                 // position among the launches of its key, from 0
  std::uint32_t context_id = 0, stream_id = 0;  // as CUPTI numbers them
  std::uint32_t thread_id = 0;                  // gettid(2)
  std::uint32_t metric_set = 0;                 // MetricSetRecord::id
  ReplayMode mode = ReplayMode::none;
  CacheControl cache_control = CacheControl::none;
  std::uint32_t passes = 0;
  std::int64_t start_unix_ns = 0;
  std::uint64_t cost_ns = 0;   // host time the measuring took
  std::vector<double> values;  // one a metric of the set; NaN where none came
};

inline constexpr std::uint64_t kNoBase = ~std::uint64_t{0};

// The counter-data image of one launch, kept for evaluating other metrics of the same passes later.
struct RawCountersRecord {
  std::uint64_t launch_index = 0;  // LaunchRecord::index
  std::uint32_t metric_set = 0;
  std::uint64_t image_bytes = 0;         // size before compression
  std::vector<std::uint8_t> zstd_image;  // one zstd frame
  // Images of one metric set differ in few of their bytes. Where this names a launch, the frame holds the image XORed with
  // that launch's, whose own record stands before this one and is whole.
  std::uint64_t base_launch_index = kNoBase;
};

// Why a launch that was selected was left alone.
enum class SkipReason : std::uint8_t {
  none = 0,
  cooperative = 1,  // blocks wait for one another across the grid
  collective = 2,   // NCCL: waits for other GPUs
  captured = 3,     // recorded into a CUDA graph, not run
  failed = 4,       // measuring it failed; a notice says why
  memory = 5,       // a replay would take too long to save and restore GPU memory
  refused = 6,      // the driver refused it: nothing ran
  values = 7,       // streams of the program wait for values in memory, which later calls may write
};

// What became of the launches of one key so far. Written again as figures grow: the last one counts.
struct KeyStats {
  LaunchKey key;
  std::uint64_t launches = 0;
  std::uint64_t matched = 0;  // the name and identity filters took it
  std::uint64_t measured = 0;
  std::uint64_t near_missed = 0;  // the selector's pattern matches another form of its name
  std::uint64_t skipped = 0;
  SkipReason reason = SkipReason::none;
  std::uint64_t timed = 0;         // launches timed by activity records, measured ones excluded
  std::uint64_t timed_gpu_ns = 0;  // their GPU time
};
struct KeyStatsRecord {
  std::vector<KeyStats> keys;  // those that changed since the last such record
  std::uint64_t graph_launches = 0;
  std::uint64_t graph_timed_gpu_ns = 0;  // GPU time of kernels inside graphs
  bool timing_complete = false;          // false: only some launches were timed, to leave the program its speed
};

enum class Severity : std::uint8_t { info = 0, warning = 1, error = 2 };
struct NoticeRecord {
  Severity severity = Severity::info;
  std::string what, detail, remedy;
};

// The process ended in an orderly way. A capture without it was cut short (killed, crashed, _exit).
struct EndRecord {
  std::int64_t end_unix_ns = 0;
  std::uint64_t launches = 0;
};

// Text that events name by number: NVTX messages and domains, CUDA calls, kernels that no FunctionRecord describes. Numbers
// are unique in the capture, 0 stands for no text, and a string stands before the events that name it.
struct InternedString {
  std::uint32_t id = 0;
  std::string text;
};
struct StringsRecord {
  std::vector<InternedString> strings;
};

// What follows are the events of the timeline. They come in batches of one kind, column by column (capture/events.h says
// how), since there are millions. All times are CLOCK_MONOTONIC in ns, those of the GPU converted by CUPTI.
enum class EventKind : std::uint8_t { range = 1, call = 2, activity = 3, graph = 4 };
struct EventsRecord {
  EventKind kind = EventKind::range;
  std::uint32_t count = 0;
  std::uint64_t columns_bytes = 0;  // size before compression
  std::vector<std::uint8_t> zstd_columns;
};

enum class RangeKind : std::uint8_t { push_pop = 0, start_end = 1, mark = 2 };

inline constexpr std::uint32_t kNoNumber = ~std::uint32_t{0};

// RangeEvent::payload_type: payload_bits are the bytes of a message, as NCCL says them in an extended payload.
inline constexpr std::uint8_t kMessageBytes = 200;

// An NVTX range that was ended, or was still open at the end of the process. Written when it ends, so inner ones come first.
struct RangeEvent {
  // Unique in the capture: number of the thread it began on (from 1, in order of their first range) * 2^40 + number of the
  // range on that thread, from 0.
  std::uint64_t id = 0;
  std::uint64_t parent = 0;  // the innermost range open on that thread when it began; 0: none
  std::uint32_t thread = 0;  // gettid(2) of that thread
  std::uint32_t domain = 0;  // string; 0: the default domain
  std::uint32_t name = 0;    // string: the message
  std::uint32_t category = 0;
  RangeKind kind = RangeKind::push_pop;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;         // 0: never ended
  std::uint8_t payload_type = 0;   // nvtxPayloadType_t, or kMessageBytes; 0: none
  std::uint64_t payload_bits = 0;  // the value as it lies in nvtxEventAttributes_t::payload
  // Numbers that the message has lost (capture/message.h); kNoNumber: none.
  std::uint32_t sequence = kNoNumber, op_id = kNoNumber;
  friend bool operator==(const RangeEvent&, const RangeEvent&) = default;
};

// A CUDA driver call that gave work to a GPU or waited for one.
struct CallEvent {
  std::uint32_t correlation = 0;  // CUPTI's; joins it to ActivityEvent
  std::uint32_t thread = 0;       // gettid(2)
  std::uint64_t range = 0;        // the innermost range open on the thread; 0: none
  std::uint32_t name = 0;         // string: cuLaunchKernel
  std::int64_t start_ns = 0, end_ns = 0;
  // Of a kernel launch: its position among all of the process, and its function; else kNoLaunch and 0.
  std::uint64_t launch_index = ~std::uint64_t{0};
  std::uint32_t function = 0;
  // The profiler held the program meanwhile, to measure a launch or to let go of the counters: no time of the program's.
  bool held = false;
  friend bool operator==(const CallEvent&, const CallEvent&) = default;
};
inline constexpr std::uint64_t kNoLaunch = ~std::uint64_t{0};

enum class ActivityKind : std::uint8_t { kernel = 0, copy = 1, set = 2 };
// As CUpti_ActivityMemcpyKind (cupti_activity.h).
enum class CopyKind : std::uint8_t {
  unknown = 0,
  htod = 1,
  dtoh = 2,
  htoa = 3,
  atoh = 4,
  atoa = 5,
  atod = 6,
  dtoa = 7,
  dtod = 8,
  htoh = 9,
  ptop = 10
};

// What a GPU did: a kernel, a copy or a set of memory.
struct ActivityEvent {
  ActivityKind kind = ActivityKind::kernel;
  std::uint32_t correlation = 0;          // of the call that caused it; one graph launch causes many
  std::int64_t start_ns = 0, end_ns = 0;  // 0 0: not timed, as of a launch that was being measured
  std::uint32_t device = 0, context = 0, stream = 0;
  std::uint64_t graph_node = 0;  // 0: not of a graph
  std::uint32_t name = 0;        // string: the kernel's mangled name
  Dim3 grid, block, cluster;
  std::uint32_t dynamic_shared_bytes = 0;
  CopyKind copy = CopyKind::unknown;
  std::uint64_t bytes = 0;     // copied or set
  std::uint32_t function = 0;  // of a graph's kernel that was launched by itself: FunctionRecord::id; else 0, as its call says it
  friend bool operator==(const ActivityEvent&, const ActivityEvent&) = default;
};

// How the nodes of CUDA graphs came to be, so that a kernel in a graph finds the op that was open when it was captured: its
// ActivityEvent::graph_node is cloned, in one step or several, from a node that was made. Numbers are CUPTI's.
enum class GraphEventKind : std::uint8_t {
  node_made = 0,        // captured from a stream, or added to a graph
  node_cloned = 1,      // with its graph: instantiated, or put into another graph as its child
  graph_cloned = 2,     // `id` and `original` are graphs
  executable_made = 3,  // `id` is of an executable graph, `original` the graph that it was instantiated from
};
struct GraphEvent {
  GraphEventKind kind = GraphEventKind::node_made;
  std::uint64_t id = 0;
  std::uint64_t original = 0;
  std::uint64_t graph = 0;          // of a node that was made: the graph that it was made in
  std::uint64_t range = 0;          // likewise: RangeEvent::id of the innermost range open on the thread; 0: none
  std::uint64_t capture_range = 0;  // likewise: the innermost open where capturing the graph began; 0: none
  friend bool operator==(const GraphEvent&, const GraphEvent&) = default;
};

// What the program's framework said of itself: {"pytorch", "cudnn.benchmark", "false"}.
struct Fact {
  std::string source, name, value;
  friend bool operator==(const Fact&, const Fact&) = default;
};
struct FactsRecord {
  std::vector<Fact> facts;  // a later value of the same name replaces an earlier one
};

// How event times relate to the wall clock.
struct ClockRecord {
  std::int64_t monotonic_ns = 0, unix_ns = 0;  // read one right after the other
};

// Samples of a GPU's counters while the program ran at its own speed, in the order of their time. Each is what the whole GPU
// counted in an interval; whose it was follows from the times of the kernels. capture/samples.h says how they are packed.
struct SamplesRecord {
  std::uint32_t metric_set = 0;  // MetricSetRecord::id; it names the device
  std::uint32_t interval_ns = 0;
  std::uint32_t count = 0;
  std::uint64_t lost = 0;           // times since the last such record that the GPU's buffer was full: samples are missing
  std::uint64_t columns_bytes = 0;  // size before compression
  std::vector<std::uint8_t> zstd_columns;
};

// What PC sampling found since the last such record: while the program runs at its own speed, a warp of each multiprocessor is
// looked at once in a period: where it stands and what it waits for.
struct PcStall {
  std::uint32_t reason = 0;  // PcReason::id
  std::uint64_t samples = 0;
  friend bool operator==(const PcStall&, const PcStall&) = default;
};
struct PcCount {
  std::uint32_t function = 0;  // PcFunction::id
  std::uint64_t offset = 0;    // of the instruction, in bytes from the function's start
  std::vector<PcStall> stalls;
};
struct PcSamplesRecord {
  std::uint32_t device = 0;       // CUDA ordinal
  std::uint32_t period_log2 = 0;  // the period is so many cycles: 2^period_log2
  std::uint64_t samples = 0;      // that the hardware took, with those that are of no kernel of the program's, and dropped ones
  std::uint64_t foreign = 0;      // of them, of no kernel of the program's
  std::uint64_t dropped = 0;      // of them, by the hardware, as they could not be written fast enough
  std::uint64_t overflows = 0;    // times that the hardware's buffer was found full, and with it nobody knows how many lost
  std::vector<PcCount> counts;
};

// What the numbers in PcSamplesRecord stand for. Names stand before the samples that use them, lines behind.
struct PcReason {
  std::uint32_t id = 0;
  std::string name;  // CUPTI's: smsp__pcsamp_warps_issue_stalled_long_scoreboard
};
struct PcFunction {
  std::uint32_t id = 0;  // unique in the capture
  std::uint64_t cubin_crc = 0;
  std::string mangled_name;
};
struct PcLine {
  std::uint32_t function = 0;  // PcFunction::id
  std::uint64_t offset = 0;
  std::uint32_t file = 0;  // index into `files` of the same record
  std::uint32_t line = 0;  // from 1
};
struct PcNamesRecord {
  std::vector<PcReason> reasons;
  std::vector<PcFunction> functions;
  std::vector<std::string> files;
  std::vector<PcLine> lines;
};

// The machine code of functions that PC sampling found, or whose instructions were counted. Stands behind the names of these
// functions.
struct PcCodeRecord {
  std::vector<std::uint32_t> functions;  // PcFunction::id, all of one module
  std::uint64_t elf_bytes = 0;           // size before compression, kMostCodeBytes at most
  std::vector<std::uint8_t> zstd_elf;  // one zstd frame: the module's ELF file, with nothing in it but what is of these functions
};
inline constexpr std::uint64_t kMostCodeBytes = 16U << 20U;

// What each instruction of one launch did, as code that CUPTI patched counted it (cupti_sass_metrics.h).
struct SassValue {
  std::uint32_t metric = 0;  // index into SassCountsRecord::metrics
  std::uint64_t value = 0;
  friend bool operator==(const SassValue&, const SassValue&) = default;
};
struct SassCount {
  std::uint32_t function = 0;     // PcFunction::id
  std::uint64_t offset = 0;       // of the instruction, in bytes from the function's start
  std::vector<SassValue> values;  // those that are not 0
};
struct SassCountsRecord {
  std::uint64_t launch_index = 0;
  LaunchKey key;
  std::vector<std::string> metrics;  // CUPTI's names: smsp__sass_inst_executed
  std::vector<SassCount> counts;
};

// A time for which CUPTI was not in the process, so that it ran at its own speed: of it only NVTX ranges are known. On the clock
// of events; `end_ns` is when CUPTI was back, or the program's end. 0: not yet, as is told when it begins, since the program may
// be killed meanwhile; a record with the same start follows where it was not.
struct AbsenceRecord {
  std::int64_t start_ns = 0, end_ns = 0;
};

// When the steps of the program's loop began that this NVTX message marks, on the clock of events.
struct StepTimes {
  std::string marker;
  std::vector<std::int64_t> times_ns;
};
// The profiler has let go of the program: what it had to measure is measured, and launches and ranges that come later are neither
// counted nor recorded, but for the steps of the loop. Written when that begins, and again at the end: the last one counts.
struct DetachRecord {
  std::int64_t since_ns = 0;  // on the clock of events
  std::int64_t until_ns = 0;  // the end of the program; 0: not told, as it was killed
  bool cupti_left = false;    // false: CUPTI is still in the process, and each CUDA call somewhat slower
  std::vector<StepTimes> steps;
};

using Record =
    std::variant<ProcessRecord, DeviceRecord, FunctionRecord, MetricSetRecord, LaunchRecord, RawCountersRecord, KeyStatsRecord,
                 NoticeRecord, EndRecord, StringsRecord, EventsRecord, FactsRecord, ClockRecord, SamplesRecord, PcSamplesRecord,
                 PcNamesRecord, AbsenceRecord, DetachRecord, PcCodeRecord, SassCountsRecord>;

}  // namespace dlkprof::capture
