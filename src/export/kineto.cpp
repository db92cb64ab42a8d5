// Chrome's JSON as PyTorch's Kineto writes it, for HTA (Holistic Trace Analysis), chrome://tracing and ui.perfetto.dev. Its
// readers know the calls of the CUDA runtime only, so that calls of the driver bear the runtime's names, and tell their own as an
// argument.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <string_view>
#include <unordered_map>

#include "base/text.h"
#include "dlkprof/version.h"
#include "export/formats.h"
#include "export/measured_events.h"
#include "model/fold/time_arithmetic.h"
#include "report/format/json.h"

namespace dlkprof::exports {
namespace {

struct RuntimeName {
  std::string_view driver, runtime;  // what the driver's name begins with
};
// The first that fits.
constexpr std::array kRuntimeNames{RuntimeName{"cuLaunchKernelEx", "cudaLaunchKernelExC"},
                                   RuntimeName{"cuLaunchCooperativeKernel", "cudaLaunchCooperativeKernel"},
                                   RuntimeName{"cuLaunchKernel", "cudaLaunchKernel"},
                                   RuntimeName{"cuGraphLaunch", "cudaGraphLaunch"},
                                   RuntimeName{"cuMemcpy", "cudaMemcpyAsync"},
                                   RuntimeName{"cuMemset", "cudaMemsetAsync"},
                                   RuntimeName{"cuStreamSynchronize", "cudaStreamSynchronize"},
                                   RuntimeName{"cuEventSynchronize", "cudaEventSynchronize"},
                                   RuntimeName{"cuCtxSynchronize", "cudaDeviceSynchronize"}};

// Empty: it has none, and is shown as the driver's. Files of nsys have calls of the runtime, with a version: cudaMalloc_v3020.
std::string_view runtime_name(std::string_view driver) {
  if (driver.starts_with("cuda")) return driver.substr(0, driver.rfind("_v"));
  const auto* found = std::find_if(kRuntimeNames.begin(), kRuntimeNames.end(),
                                   [driver](const RuntimeName& one) { return driver.starts_with(one.driver); });
  return found == kRuntimeNames.end() ? std::string_view() : found->runtime;
}

std::string json_text(std::string_view text) {
  std::string out;
  report::add_json_text(out, text);
  return out;
}

// Texts as JSON, each made once.
std::vector<std::string> json_texts(const std::vector<std::string>& strings) {
  std::vector<std::string> all;
  all.reserve(strings.size());
  for (const std::string& one : strings) all.push_back(json_text(one));
  return all;
}

class KinetoWriter {
 public:
  KinetoWriter(const Run& run, report::Buffer& out)
      : run_(run),
        timeline_(run.timeline()),
        fold_(run.fold()),
        index_(*run.profile),
        strings_(json_texts(timeline_.strings)),
        out_(out) {}

  std::size_t write() {
    write_head();
    write_names();
    write_iterations();
    write_cpu_events();
    write_counters();
    const std::size_t untimed = write_gpu_events();
    out_.text += "\n]}\n";
    return untimed;
  }

 private:
  void write_head();
  void write_names();
  void write_iterations();
  void write_cpu_events();
  void write_range(std::uint32_t index);
  void write_call(std::uint32_t index);
  void write_counters();
  std::size_t write_gpu_events();
  void write_gpu_event(std::size_t index);

  // An event up to its arguments, which follow and end with close().
  void open(std::string_view phase, std::string_view category, std::string_view name_json, std::uint64_t pid, std::uint64_t tid,
            std::int64_t ns) {
    separate();
    fmt::format_to(std::back_inserter(out_.text), R"({{"ph":"{}","cat":"{}","name":{},"pid":{},"tid":{},"ts":)", phase, category,
                   name_json, pid, tid);
    add_us(model::elapsed_ns(timeline_.first_ns, ns));
  }
  void open_slice(std::string_view category, std::string_view name_json, std::uint64_t pid, std::uint64_t tid, std::int64_t start,
                  std::int64_t end) {
    open("X", category, name_json, pid, tid, start);
    out_.text += ",\"dur\":";
    add_us(model::elapsed_ns(start, end));
    out_.text += ",\"args\":{";
  }
  template <typename... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(out_.text), format, std::forward<Values>(values)...);
  }
  void close() {
    out_.text += "}}";
    out_.drain();
  }
  void separate() {
    out_.text += is_first_ ? "\n" : ",\n";
    is_first_ = false;
  }
  void add_us(std::int64_t ns) { add("{}.{:03}", ns / 1000, ns % 1000); }
  void write_flow(bool begins, std::uint64_t id, std::uint64_t pid, std::uint64_t tid, std::int64_t ns) {
    open(begins ? "s" : "f", "ac2g", "\"ac2g\"", pid, tid, ns);
    add(R"(,"id":{}{}}})", id, begins ? "" : R"(,"bp":"e")");
    out_.drain();
  }
  void write_name(std::string_view what, std::uint64_t pid, std::uint64_t tid, const std::string& name) {
    separate();
    add(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"ts":0,"args":{{"name":{}}}}})", what, pid, tid, json_text(name));
  }

  [[nodiscard]] std::uint64_t pid_of(std::uint32_t thread) const {
    return timeline_.processes[timeline_.threads[thread].process].record.pid;
  }
  [[nodiscard]] std::string op_args(std::uint32_t op) const {
    const model::Op& it = fold_.ops[op];
    std::string args = fmt::format(R"("Op ID":{})", json_text(it.id));
    if (!it.input_shapes.empty()) args += fmt::format(R"(,"Input Dims":{})", json_text(it.input_shapes));
    if (!it.data_types.empty()) args += fmt::format(R"(,"Input type":{})", json_text(it.data_types));
    return args;
  }
  // From 1, as 0 is nobody's.
  [[nodiscard]] std::uint64_t external_id(std::size_t activity) const {
    return 1 + std::uint64_t{fold_.activity_instance[activity]};
  }

  const Run& run_;
  const model::Timeline& timeline_;
  const model::Fold& fold_;
  RunIndex index_;
  std::vector<std::string> strings_;
  std::vector<std::string> op_args_;
  std::vector<std::uint64_t> external_of_range_;
  report::Buffer& out_;
  bool is_first_ = true;
};

void KinetoWriter::write_head() {
  for (std::uint32_t op = 0; op < fold_.ops.size(); ++op) op_args_.push_back(op_args(op));
  external_of_range_.resize(timeline_.ranges.size());
  for (std::size_t i = 0; i < fold_.instances.size(); ++i) {
    if (fold_.instances[i].range < external_of_range_.size()) external_of_range_[fold_.instances[i].range] = 1 + i;
  }
  out_.text += "{\"schemaVersion\":1,\"deviceProperties\":[";
  for (std::size_t i = 0; i < timeline_.devices.size(); ++i) {
    const capture::DeviceRecord& gpu = timeline_.devices[i].record;
    add(R"({}{{"id":{},"name":{},"totalGlobalMem":{},"computeMajor":{},"computeMinor":{},"maxThreadsPerBlock":{},)",
        i == 0 ? "" : ",", i, json_text(gpu.name), gpu.memory_bytes, gpu.cc_major, gpu.cc_minor, gpu.max_threads_per_block);
    add(R"("maxThreadsPerMultiprocessor":{},"regsPerBlock":{},"regsPerMultiprocessor":{},"warpSize":{},)", gpu.max_threads_per_sm,
        gpu.registers_per_block, gpu.registers_per_sm, gpu.warp_size);
    add(R"("sharedMemPerBlock":{},"sharedMemPerMultiprocessor":{},"numSms":{}}})", gpu.shared_per_block, gpu.shared_per_sm,
        gpu.sm_count);
  }
  out_.text += "],";
  if (const auto rank = rank_of(timeline_)) {
    const std::string world = fact_of(timeline_, "world_size").value_or("1");
    const bool is_number = !world.empty() && world.size() < 10 &&
                           std::all_of(world.begin(), world.end(), [](char c) { return '0' <= c && c <= '9'; });
    add(R"("distributedInfo":{{"backend":"nccl","rank":{},"world_size":{}}},)", *rank, is_number ? std::stoul(world) : 1);
  }
  const std::int64_t base =
      timeline_.processes.empty() ? timeline_.first_ns : on_wall_clock(timeline_.processes.front(), timeline_.first_ns);
  add(R"("displayTimeUnit":"ms","baseTimeNanoseconds":{},"traceName":{},"dlkprof":"{}","traceEvents":[)", base,
      json_text(run_.label), DLKPROF_VERSION);
}

void KinetoWriter::write_names() {
  for (const model::Process& process : timeline_.processes)
    write_name("process_name", process.record.pid, 0, command_line(process));
  for (std::uint32_t i = 0; i < timeline_.threads.size(); ++i)
    write_name("thread_name", pid_of(i), timeline_.threads[i].tid, fmt::format("thread {}", timeline_.threads[i].tid));
  for (std::size_t i = 0; i < timeline_.devices.size(); ++i) write_name("process_name", i, 0, fmt::format("GPU {}", i));
}

void KinetoWriter::write_iterations() {
  if (fold_.key_nodes_found == 0 || timeline_.threads.empty()) return;
  // HTA takes the steps of the thread that has them.
  const std::uint32_t thread = timeline_.ranges.empty() ? 0 : timeline_.ranges.front().thread;
  for (std::size_t i = 0; i < fold_.iterations.size(); ++i) {
    const model::Iteration& it = fold_.iterations[i];
    open_slice("user_annotation", fmt::format("\"ProfilerStep#{}\"", i), pid_of(thread), timeline_.threads[thread].tid,
               it.start_ns, it.start_ns + model::elapsed_ns(it.start_ns, it.stop_ns) + 1);
    close();
  }
}

// By start, and a range before a call that begins with it: HTA takes the first of two that are alike for the outer one.
void KinetoWriter::write_cpu_events() {
  std::uint32_t range = 0, call = 0;
  while (range < timeline_.ranges.size() || call < timeline_.calls.size()) {
    const bool takes_range =
        call == timeline_.calls.size() ||
        (range < timeline_.ranges.size() && timeline_.ranges[range].start_ns <= timeline_.calls[call].start_ns);
    takes_range ? write_range(range++) : write_call(call++);
  }
}

void KinetoWriter::write_range(std::uint32_t index) {
  const model::Range& range = timeline_.ranges[index];
  const std::uint32_t op = index_.op_of_range(index);
  const std::uint64_t pid = pid_of(range.thread), tid = timeline_.threads[range.thread].tid;
  if (range.kind != capture::RangeKind::push_pop) {  // these need not nest: an asynchronous pair
    for (const bool begins : {true, false}) {
      open(begins ? "b" : "e", "nvtx", strings_[range.message], pid, tid, begins ? range.start_ns : range.end_ns);
      add(R"(,"id":{},"args":{{)", index);
      close();
    }
    return;
  }
  if (op == model::kNone) {
    open_slice("user_annotation", strings_[range.message], pid, tid, range.start_ns, range.end_ns);
  } else {
    const model::Op& it = fold_.ops[op];
    open_slice("cpu_op", json_text(it.type.empty() ? it.name : it.type), pid, tid, range.start_ns, range.end_ns);
    add(R"("External id":{},{})", external_of_range_[index], op_args_[op]);
  }
  close();
}

void KinetoWriter::write_call(std::uint32_t index) {
  const model::Call& call = timeline_.calls[index];
  const std::uint64_t pid = pid_of(call.thread), tid = timeline_.threads[call.thread].tid;
  const std::uint64_t correlation = 1 + std::uint64_t{index};
  const std::string_view runtime = runtime_name(timeline_.strings[call.name]);
  const std::span<const std::uint32_t> works = index_.works(index);
  // HTA takes it that an op is around every launch.
  if (call.range == model::kNone) {
    open_slice("cpu_op", "\"unassociated\"", pid, tid, call.start_ns, call.end_ns);
    if (!works.empty()) add(R"("External id":{})", external_id(works.front()));
    close();
  }
  open_slice(runtime.empty() ? "cuda_driver" : "cuda_runtime", runtime.empty() ? strings_[call.name] : json_text(runtime), pid,
             tid, call.start_ns, call.end_ns);
  add(R"("correlation":{})", correlation);
  if (!works.empty()) add(R"(,"External id":{})", external_id(works.front()));
  if (!runtime.empty() && !timeline_.strings[call.name].starts_with("cuda")) add(R"(,"driver call":{})", strings_[call.name]);
  close();
  if (!works.empty() && is_timed(timeline_.activities[works.front()])) write_flow(true, correlation, pid, tid, call.start_ns);
}

// HTA joins them to launches by position: one for each, in the order of the launches, with the counters of those measured.
void KinetoWriter::write_counters() {
  const std::vector<MeasuredEvent> events = measured_events(*run_.profile);
  if (events.empty()) return;
  std::unordered_map<std::uint32_t, const MeasuredEvent*> by_call;
  for (const MeasuredEvent& event : events) by_call.emplace(timeline_.activities[event.activity].call, &event);
  for (std::uint32_t i = 0; i < timeline_.calls.size(); ++i) {
    const model::Call& call = timeline_.calls[i];
    if (!runtime_name(timeline_.strings[call.name]).starts_with("cudaLaunchKernel")) continue;
    const std::span<const std::uint32_t> works = index_.works(i);
    const model::Activity* work = works.empty() ? nullptr : &timeline_.activities[works.front()];
    const std::string name = work == nullptr ? "\"not timed\"" : json_text(timeline_.kernels[work->kernel].long_name);
    open_slice("cuda_profiler_range", name, work == nullptr ? 0 : work->device, timeline_.threads[call.thread].tid, call.start_ns,
               call.end_ns);
    add(R"("correlation":{})", 1 + std::uint64_t{i});
    if (const auto found = by_call.find(i); found != by_call.end()) {
      add(R"(,"collected by":{},"cache control":{})", json_text(found->second->collected_by),
          json_text(found->second->cache_control));
      for (const EventFigure& figure : found->second->figures) add(R"(,{}:{})", json_text(*figure.metric), figure.value);
    }
    close();
  }
}

std::size_t KinetoWriter::write_gpu_events() {
  std::size_t untimed = 0;
  for (std::size_t i = 0; i < timeline_.activities.size(); ++i) {
    if (is_timed(timeline_.activities[i])) {
      write_gpu_event(i);
    } else {
      ++untimed;
    }
  }
  return untimed;
}

void KinetoWriter::write_gpu_event(std::size_t index) {
  const model::Activity& work = timeline_.activities[index];
  const model::Kernel& kernel = timeline_.kernels[work.kernel];
  const bool is_kernel = kernel.kind == capture::ActivityKind::kernel;
  const char* category = is_kernel ? "kernel" : kernel.kind == capture::ActivityKind::copy ? "gpu_memcpy" : "gpu_memset";
  open_slice(category, json_text(is_kernel ? kernel.long_name : kernel.name), work.device, work.stream, work.start_ns,
             work.end_ns);
  add(R"("External id":{},"device":{},"stream":{},"Op ID":{},"iteration":{})", external_id(index), work.device, work.stream,
      json_text(fold_.ops[index_.op_of_activity(index)].id), fold_.activity_iteration[index]);
  if (work.call != model::kNone) add(R"(,"correlation":{})", 1 + std::uint64_t{work.call});
  if (!is_kernel) {
    add(R"(,"bytes":{})", work.bytes);
    const auto ns = static_cast<double>(model::gpu_ns(work));
    if (ns > 0) add(",\"memory bandwidth (GB/s)\":{}", static_cast<double>(work.bytes) / ns);
  }
  if (work.config != model::kNone) {
    const model::Config& config = timeline_.configs[work.config];
    const capture::LaunchKey& key = config.key;
    add(R"(,"grid":[{},{},{}],"block":[{},{},{}])", key.grid.x, key.grid.y, key.grid.z, key.block.x, key.block.y, key.block.z);
    if (const capture::FunctionRecord* function = model::function_of(timeline_, config)) {
      add(R"(,"registers per thread":{},"shared memory":{})", function->registers_per_thread,
          std::uint64_t{function->static_shared_bytes} + key.dynamic_shared_bytes);
    }
  }
  close();
  if (work.call == model::kNone || index_.works(work.call).front() != index) return;
  write_flow(false, 1 + std::uint64_t{work.call}, work.device, work.stream, work.start_ns);
}

}  // namespace

Exported write_kineto(const std::vector<Run>& runs, const report::Sink& sink) {
  report::Buffer out(sink);
  Exported exported;
  exported.untimed = KinetoWriter(runs.front(), out).write();
  out.finish();
  return exported;
}

}  // namespace dlkprof::exports
