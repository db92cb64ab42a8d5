#include "export/perfetto/interned.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "export/perfetto/interned_writer.h"
#include "model/aggregate/occupancy.h"

namespace dlkprof::exports::perfetto {
namespace {

constexpr std::array kWords{"", "kernel replay", "iteration replay", "sampled", "none", "all"};
constexpr std::array kCategories{"op", "range", "cuda", "iteration", "mark", "burst"};
constexpr std::array kAnnotations{"op", "op_id", "iteration", "aggregated", "steady"};
constexpr std::array kArgs{"op", "op_id", "iteration", "device", "stream", "replayed", "collected_by", "cache_control"};
constexpr std::array kStages{"Kernel", "Copy", "Set"};

template <std::size_t N>
void add_words(InternedWriter& out, Field table, const std::array<const char*, N>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) out.add(table, 1 + i, std::string_view(words.at(i)));
}

// Only texts that an event is called by: many a range is an op's, and is called as the op is.
void add_event_names(const Run& run, const RunIndex& index, const RunIds& ids, InternedWriter& out) {
  const model::Timeline& timeline = run.timeline();
  std::vector<bool> used(timeline.strings.size());
  for (const model::Call& call : timeline.calls) used[call.name] = true;
  for (std::uint32_t i = 0; i < timeline.ranges.size(); ++i) {
    if (index.op_of_range(i) == model::kNone) used[timeline.ranges[i].message] = true;
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (used[i]) out.add(kInternedEventName, ids.name_of_string(i), std::string_view(timeline.strings[i]));
  }
  for (std::size_t i = 0; i < run.fold().ops.size(); ++i) {
    const model::Op& op = run.fold().ops[i];
    out.add(kInternedEventName, ids.name_of_op(i), std::string_view(op.type.empty() ? op.name : op.type));
    out.add(kInternedText, ids.text_of_op_name(i), std::string_view(op.name));
    out.add(kInternedText, ids.text_of_op_id(i), std::string_view(op.id));
  }
  for (std::size_t i = 0; i < timeline.kernels.size(); ++i)
    out.add(kInternedEventName, ids.name_of_kernel(i), std::string_view(timeline.kernels[i].name));
}

std::optional<model::Occupancy> occupancy_of(const model::Timeline& timeline, const model::Config& config) {
  const capture::DeviceRecord* device = model::device_of(timeline, config);
  const capture::FunctionRecord* function = model::function_of(timeline, config);
  if (device == nullptr || function == nullptr) return std::nullopt;
  try {
    return model::theoretical_occupancy(*device, *function, config.key);
  } catch (const Error&) {
    return std::nullopt;  // a GPU that the toolkit does not know: the arguments are left out
  }
}

std::string size_text(const capture::Dim3& size) { return fmt::format("{}x{}x{}", size.x, size.y, size.z); }

// The arguments of a launch configuration, under the names that the pages of Perfetto look for.
class ConfigArgs {
 public:
  explicit ConfigArgs(Message& entry) : entry_(entry) {}

  void add(const char* name, std::uint64_t value) {
    entry_.message(kKernelArg, [&](Message& arg) {
      arg.text(kNamed, name);
      arg.number(kArgUint, value);
    });
  }
  void add(const char* name, double value) {
    entry_.message(kKernelArg, [&](Message& arg) {
      arg.text(kNamed, name);
      arg.real(kArgDouble, value);
    });
  }
  void add(const char* name, const std::string& value) {
    entry_.message(kKernelArg, [&](Message& arg) {
      arg.text(kNamed, name);
      arg.text(kArgText, value);
    });
  }

 private:
  static constexpr Field kNamed = 2;  // ExtraComputeArg.name
  Message& entry_;
};

void add_occupancy(ConfigArgs& args, const model::Occupancy& occupancy) {
  args.add("waves_per_multiprocessor", occupancy.waves);
  args.add("occupancy_limit_blocks", std::uint64_t{occupancy.limit_blocks});
  args.add("occupancy_limit_registers", std::uint64_t{occupancy.limit_registers});
  args.add("occupancy_limit_shared_mem", std::uint64_t{occupancy.limit_shared});
  args.add("occupancy_limit_warps", std::uint64_t{occupancy.limit_warps});
  args.add("sm__maximum_warps_per_active_cycle_pct", occupancy.percent);
  args.add("sm__maximum_warps_avg_per_active_cycle", double{1} * occupancy.warps_per_sm);
}

void fill_config(const model::Timeline& timeline, const model::Config& config, Message& entry) {
  const capture::LaunchKey& key = config.key;
  if (config.kernel != model::kNone) {
    const model::Kernel& kernel = timeline.kernels[config.kernel];
    entry.text(kKernelName, valid_utf8(kernel.mangled));
    entry.text(kKernelDemangled, valid_utf8(kernel.long_name));
  }
  entry.text(kKernelArch, architecture(timeline, config));
  ConfigArgs args(entry);
  args.add("grid_size", size_text(key.grid));
  args.add("workgroup_size", size_text(key.block));
  const double threads = double{1} * key.grid.x * key.grid.y * key.grid.z * key.block.x * key.block.y * key.block.z;
  args.add("thread_count", threads);
  args.add("shared_mem_dynamic", std::uint64_t{key.dynamic_shared_bytes});
  if (const capture::FunctionRecord* function = model::function_of(timeline, config)) {
    args.add("registers_per_thread", std::uint64_t{function->registers_per_thread});
    args.add("shared_mem_static", std::uint64_t{function->static_shared_bytes});
  }
  if (const auto occupancy = occupancy_of(timeline, config)) add_occupancy(args, *occupancy);
}

void add_gpu_side(const Run& run, const RunIds& ids, InternedWriter& out) {
  const model::Timeline& timeline = run.timeline();
  for (std::uint32_t i = 0; i < timeline.processes.size(); ++i) {
    out.add(kInternedContext, RunIds::context(i), [&](Message& entry) {
      entry.number(kContextPid, ids.pid(i));
      entry.number(kContextApi, kCuda);
    });
  }
  const auto add_specification = [&out](std::uint64_t iid, std::string_view name, std::uint64_t category) {
    out.add(kInternedSpecification, iid, [&](Message& entry) {
      entry.text(kSpecificationName, name);
      entry.number(kSpecificationCategory, category);
    });
  };
  for (std::size_t i = 0; i < kStages.size(); ++i)
    add_specification(1 + i, kStages.at(i), i == 0 ? kCategoryCompute : kCategoryOther);
  for (const auto& [where, iid] : ids.queues()) add_specification(iid, fmt::format("Stream {}", where.second), kCategoryCompute);
  for (std::size_t i = 0; i < timeline.configs.size(); ++i) {
    out.add(kInternedKernel, RunIds::kernel_of_config(i),
            [&](Message& entry) { fill_config(timeline, timeline.configs[i], entry); });
  }
}

void add_arg_names(const std::vector<std::string>& metrics, InternedWriter& out) {
  add_words(out, kInternedArgName, kArgs);
  std::uint64_t iid = kFirstMetricArg;
  for (const std::string& metric : metrics) {
    for (const char* suffix : {".n", ".low", ".high"}) out.add(kInternedArgName, iid++, std::string_view(metric + suffix));
  }
}

}  // namespace

std::uint64_t text_of_word(const Run& run, std::string_view word) {
  const auto* found = std::find(kWords.begin(), kWords.end(), word);
  const std::uint64_t position = found == kWords.end() ? 0 : static_cast<std::uint64_t>(found - kWords.begin());
  return 1 + 2 * run.fold().ops.size() + position;
}

void write_interned(const Run& run, const RunIndex& index, const RunIds& ids, const std::vector<std::string>& metrics,
                    Packets& packets) {
  packets.add([](Message&) {}, kStateCleared);
  InternedWriter out(packets);
  add_words(out, kInternedCategory, kCategories);
  add_words(out, kInternedAnnotationName, kAnnotations);
  add_event_names(run, index, ids, out);
  for (const char* word : kWords) out.add(kInternedText, text_of_word(run, word), std::string_view(word));
  add_gpu_side(run, ids, out);
  add_arg_names(metrics, out);
  out.finish();
}

}  // namespace dlkprof::exports::perfetto
