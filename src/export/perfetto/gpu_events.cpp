#include "export/perfetto/gpu_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "export/perfetto/interned.h"
#include "model/fold/time_arithmetic.h"

namespace dlkprof::exports::perfetto {
namespace {

std::uint64_t stage_of(capture::ActivityKind kind) {
  switch (kind) {
    case capture::ActivityKind::kernel:
      return kKernelStage;
    case capture::ActivityKind::copy:
      return kCopyStage;
    default:
      return kSetStage;
  }
}

void add_size(Message& launch, Field field, const capture::Dim3& size) {
  launch.message(field, [&size](Message& dim) {
    dim.number(kDimX, size.x);
    dim.number(kDimY, size.y);
    dim.number(kDimZ, size.z);
  });
}

class GpuEventWriter {
 public:
  GpuEventWriter(const Run& run, const RunIndex& index, const RunIds& ids, const Counters& counters, Packets& packets)
      : run_(run), timeline_(run.timeline()), index_(index), ids_(ids), counters_(counters), packets_(packets) {
    for (const model::Config& config : timeline_.configs) {
      Message launch(launches_.emplace_back());
      add_size(launch, kLaunchGrid, config.key.grid);
      add_size(launch, kLaunchBlock, config.key.block);
    }
  }

  std::size_t write() {
    std::size_t left_out = 0;
    auto measured = counters_.events.begin();
    for (std::size_t i = 0; i < timeline_.activities.size(); ++i) {
      const bool has_figures = measured != counters_.events.end() && measured->activity == i;
      if (is_timed(timeline_.activities[i])) {
        add(i, has_figures ? &*measured : nullptr);
      } else {
        ++left_out;
      }
      if (has_figures) ++measured;
    }
    return left_out;
  }

 private:
  void add(std::size_t index, const MeasuredEvent* measured) {
    const model::Activity& activity = timeline_.activities[index];
    const model::Kernel& kernel = timeline_.kernels[activity.kernel];
    packets_.add_at(activity.start_ns, [&](Message& packet) {
      packet.message(kPacketGpuRenderStageEvent, [&](Message& event) {
        event.number(kStageEventId, ids_.event(index));
        event.number(kStageDuration, static_cast<std::uint64_t>(model::gpu_ns(activity)));
        event.number(kStageContext, RunIds::context(process_of(activity)));
        event.number(kStageGpu, ids_.gpu(activity.device));
        event.number(kStageQueue, ids_.queue(activity.device, activity.stream));
        event.number(kStageStage, stage_of(kernel.kind));
        event.number(kStageNameId, ids_.name_of_kernel(activity.kernel));
        if (activity.config == model::kNone) {
          add_extra(event, "bytes", std::to_string(activity.bytes));
          add_extra(event, "op", valid_utf8(run_.fold().ops[index_.op_of_activity(index)].name));
          return;
        }
        event.number(kStageKernel, RunIds::kernel_of_config(activity.config));
        event.message(kStageLaunch, [&](Message& launch) { fill_launch(launch, index, measured); });
      });
    });
  }

  [[nodiscard]] std::uint32_t process_of(const model::Activity& activity) const {
    if (activity.config != model::kNone) return timeline_.configs[activity.config].process;
    return activity.call == model::kNone ? 0 : timeline_.threads[timeline_.calls[activity.call].thread].process;
  }

  static void add_extra(Message& event, std::string_view name, std::string_view value) {
    event.message(kStageExtraData, [&](Message& extra) {
      extra.text(kExtraName, name);
      extra.text(kExtraValue, value);
    });
  }

  static void add_number(Message& launch, std::uint64_t name, std::uint64_t value) {
    launch.message(kLaunchArg, [&](Message& arg) {
      arg.number(kArgNameId, name);
      arg.number(kArgUint, value);
    });
  }
  static void add_real(Message& launch, std::uint64_t name, double value) {
    launch.message(kLaunchArg, [&](Message& arg) {
      arg.number(kArgNameId, name);
      arg.real(kArgDouble, value);
    });
  }
  static void add_text(Message& launch, std::uint64_t name, std::uint64_t text) {
    launch.message(kLaunchArg, [&](Message& arg) {
      arg.number(kArgNameId, name);
      arg.number(kArgTextId, text);
    });
  }

  void fill_launch(Message& launch, std::size_t index, const MeasuredEvent* measured) const {
    const model::Activity& activity = timeline_.activities[index];
    const std::uint32_t op = index_.op_of_activity(index);
    launch.append(launches_[activity.config]);
    add_text(launch, kArgOp, ids_.text_of_op_name(op));
    add_text(launch, kArgOpId, ids_.text_of_op_id(op));
    add_number(launch, kArgIteration, run_.fold().activity_iteration[index]);
    add_number(launch, kArgDevice, timeline_.configs[activity.config].key.device);
    add_number(launch, kArgStream, activity.stream);
    if (activity.replayed) add_number(launch, kArgReplayed, 1);
    if (measured == nullptr) return;
    add_text(launch, kArgCollectedBy, text_of_word(run_, measured->collected_by));
    add_text(launch, kArgCacheControl, text_of_word(run_, measured->cache_control));
    auto metric = counters_.metrics.begin();
    for (const EventFigure& figure : measured->figures) {
      metric = std::lower_bound(metric, counters_.metrics.end(), *figure.metric);
      const std::uint64_t name = kFirstMetricArg + 3 * static_cast<std::uint64_t>(metric - counters_.metrics.begin());
      add_number(launch, name, figure.n);
      if (figure.low) add_real(launch, name + 1, *figure.low);
      if (figure.high) add_real(launch, name + 2, *figure.high);
    }
  }

  const Run& run_;
  const model::Timeline& timeline_;
  const RunIndex& index_;
  const RunIds& ids_;
  const Counters& counters_;
  Packets& packets_;
  std::vector<std::string> launches_;  // of each configuration: the fields that all its launches have
};

}  // namespace

std::size_t write_gpu_events(const Run& run, const RunIndex& index, const RunIds& ids, const Counters& counters,
                             Packets& packets) {
  return GpuEventWriter(run, index, ids, counters, packets).write();
}

void write_gpu_info(const std::vector<Run>& runs, const std::vector<RunIds>& ids, Packets& packets) {
  std::map<std::uint32_t, const capture::DeviceRecord*> gpus;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::vector<model::Device>& devices = runs[i].timeline().devices;
    for (std::uint32_t device = 0; device < devices.size(); ++device) gpus.emplace(ids[i].gpu(device), &devices[device].record);
  }
  packets.add([&gpus](Message& packet) {
    packet.message(kPacketGpuInfo, [&gpus](Message& info) {
      for (const auto& [number, gpu] : gpus) {
        info.message(kGpuInfoGpu, [&gpu = *gpu](Message& it) {
          it.text(kGpuName, valid_utf8(gpu.name));
          it.text(kGpuVendor, "NVIDIA");
          it.text(kGpuModel, valid_utf8(gpu.name));
          it.text(kGpuArchitecture, valid_utf8(gpu.chip));
          it.text(kGpuPciBdf, valid_utf8(gpu.pci_bus_id));
        });
      }
    });
  });
}

}  // namespace dlkprof::exports::perfetto
