#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "base/text.h"
#include "export/perfetto/gpu_events.h"
#include "model/fold/time_arithmetic.h"

namespace dlkprof::exports::perfetto {
namespace {

struct Units {
  std::uint64_t numerator = kUnitNone, denominator = kUnitNone;
};

// Of a unit as reports have it: "%", "byte", "byte/second", "inst/cycle".
Units units_of(std::string_view text) {
  const auto unit = [](std::string_view word) {
    if (word == "%") return kUnitPercent;
    if (word == "byte" || word == "bytes") return kUnitByte;
    if (word == "ns" || word == "nsecond") return kUnitNanosecond;
    if (word == "s" || word == "second") return kUnitSecond;
    if (word == "hz" || word == "Hz") return kUnitHertz;
    return word == "inst" || word == "instruction" ? kUnitInstruction : kUnitNone;
  };
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return {unit(text), kUnitNone};
  return {unit(text.substr(0, slash)), unit(text.substr(slash + 1))};
}

void fill_descriptor(const Run& run, const std::vector<std::string>& metrics, Message& descriptor) {
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    descriptor.message(kDescriptorSpec, [&](Message& spec) {
      spec.number(kSpecId, 1 + i);
      spec.text(kSpecName, valid_utf8(metrics[i]));
      const Units units = units_of(run.unit_of ? run.unit_of(metrics[i]) : "");
      if (units.numerator != kUnitNone) spec.number(kSpecNumerator, units.numerator);
      if (units.denominator != kUnitNone) spec.number(kSpecDenominator, units.denominator);
      spec.number(kSpecGroup, kGroupCompute);
      spec.number(kSpecDirection, kForwardsLooking);
    });
  }
  descriptor.message(kDescriptorGroup, [&](Message& group) {
    group.number(kGroupId, kGroupCompute);
    group.text(kGroupName, "Kernel counters");
    group.text(kGroupDescription, "Counters of measured kernels, from the kernel's start to its end; 0 where none was measured");
    for (std::size_t i = 0; i < metrics.size(); ++i) group.number(kGroupCounter, 1 + i);
  });
}

// Of one GPU, by start.
using DeviceEvents = std::vector<const MeasuredEvent*>;

std::map<std::uint32_t, DeviceEvents> by_device(const model::Timeline& timeline, const std::vector<MeasuredEvent>& events) {
  std::map<std::uint32_t, DeviceEvents> devices;
  for (const MeasuredEvent& event : events) devices[timeline.activities[event.activity].device].push_back(&event);
  return devices;
}

// Without those beside which a longer one ran.
DeviceEvents apart(const model::Timeline& timeline, const DeviceEvents& events) {
  const auto work = [&timeline](const MeasuredEvent* event) -> const model::Activity& {
    return timeline.activities[event->activity];
  };
  DeviceEvents kept;
  for (const MeasuredEvent* event : events) {
    if (kept.empty() || work(kept.back()).end_ns <= work(event).start_ns) {
      kept.push_back(event);
    } else if (model::gpu_ns(work(kept.back())) < model::gpu_ns(work(event))) {
      kept.back() = event;
    }
  }
  return kept;
}

class CounterWriter {
 public:
  CounterWriter(const Run& run, const RunIds& ids, const Counters& counters, Packets& packets)
      : run_(run), ids_(ids), metrics_(counters.metrics), packets_(packets) {}

  void write(std::uint32_t device, const DeviceEvents& events) {
    const std::uint64_t descriptor = 1 + device;
    packets_.add(
        [&](Message& packet) {
          packet.message(kPacketInternedData, [&](Message& data) {
            data.message(kInternedCounters, [&](Message& entry) {
              entry.number(kIid, descriptor);
              entry.message(kCountersDescriptor, [&](Message& it) { fill_descriptor(run_, metrics_, it); });
              entry.number(kCountersGpu, ids_.gpu(device));
            });
          });
        },
        kNeedsState);
    for (std::size_t i = 0; i < events.size(); ++i) {
      const model::Activity& activity = run_.timeline().activities[events[i]->activity];
      add(activity.start_ns, device, *events[i], false);
      const bool goes_on =
          i + 1 < events.size() && run_.timeline().activities[events[i + 1]->activity].start_ns <= activity.end_ns;
      add(activity.end_ns, device, *events[i], true, goes_on ? &events[i + 1]->figures : nullptr);
    }
  }

 private:
  // With `ends` zeros, but of metrics that are of the next kernel, too, which starts where this one ends.
  void add(std::int64_t ns, std::uint32_t device, const MeasuredEvent& measured, bool ends,
           const std::vector<EventFigure>* next = nullptr) {
    packets_.add_at(ns, [&](Message& packet) {
      packet.message(kPacketGpuCounterEvent, [&](Message& event) {
        event.number(kCounterEventDescriptorId, 1 + device);
        event.number(kCounterEventGpu, ids_.gpu(device));
        for (const EventFigure& figure : measured.figures) {
          const auto is_same = [&figure](const EventFigure& one) { return *one.metric == *figure.metric; };
          if (next != nullptr && std::any_of(next->begin(), next->end(), is_same)) continue;
          event.message(kCounterEventCounter, [&](Message& counter) {
            counter.number(kCounterId, counter_id(*figure.metric));
            counter.real(kCounterDouble, ends ? 0 : figure.value);
          });
        }
      });
    });
  }

  [[nodiscard]] std::uint64_t counter_id(const std::string& metric) const {
    const auto found = std::lower_bound(metrics_.begin(), metrics_.end(), metric);
    return 1 + static_cast<std::uint64_t>(found - metrics_.begin());
  }

  const Run& run_;
  const RunIds& ids_;
  const std::vector<std::string>& metrics_;
  Packets& packets_;
};

// Utilization.

void describe_track(Packets& packets, std::uint64_t uuid, std::uint64_t parent, const std::string& name,
                    const std::string& unit) {
  packets.add([&](Message& packet) {
    packet.message(kPacketTrackDescriptor, [&](Message& track) {
      track.number(kTrackUuid, uuid);
      track.number(kTrackParent, parent);
      track.text(kTrackName, name);
      track.text(kTrackDescription, "GPUs were sampled in bursts: between them nothing is known, and the track says 0");
      if (unit.empty()) return;  // a track of slices
      track.message(kTrackCounter, [&unit](Message& counter) {
        counter.text(kCounterUnitName, unit);
        counter.text(kCounterShareKey, unit);
      });
    });
  });
}

void add_value(Packets& packets, std::uint64_t track, std::int64_t ns, double value) {
  packets.add_at(ns, [&](Message& packet) {
    packet.message(kPacketTrackEvent, [&](Message& event) {
      event.number(kEventType, kCounterValue);
      event.number(kEventTrack, track);
      event.real(kEventDoubleValue, value);
    });
  });
}

void add_edge(Packets& packets, std::uint64_t track, std::int64_t ns, bool begins) {
  packets.add_at(ns, [&](Message& packet) {
    packet.message(kPacketTrackEvent, [&](Message& event) {
      event.number(kEventType, begins ? kSliceBegin : kSliceEnd);
      event.number(kEventTrack, track);
      if (!begins) return;
      event.number(kEventCategory, kBurst);
      event.text(kEventName, "Sampled");
    });
  });
}

// The bins of one metric of one GPU: [first, last) of Timeline::bins. `bursts`: 0, or a track that is given their edges.
void write_bins(const model::Timeline& timeline, std::size_t first, std::size_t last, std::uint64_t track, std::uint64_t bursts,
                Packets& packets) {
  for (std::size_t i = first; i < last; ++i) {
    const model::SampleBin& bin = timeline.bins[i];
    const bool begins = i == first || timeline.bins[i - 1].end_ns < bin.start_ns;
    const bool ends = i + 1 == last || bin.end_ns < timeline.bins[i + 1].start_ns;
    if (begins && bursts != 0) add_edge(packets, bursts, bin.start_ns, true);
    add_value(packets, track, bin.start_ns, bin.value);
    if (!ends) continue;
    add_value(packets, track, bin.end_ns, 0);
    if (bursts != 0) add_edge(packets, bursts, bin.end_ns, false);
  }
}

}  // namespace

void write_counters(const Run& run, const RunIds& ids, const Counters& counters, Packets& packets) {
  CounterWriter writer(run, ids, counters, packets);
  for (const auto& [device, events] : by_device(run.timeline(), counters.events))
    writer.write(device, apart(run.timeline(), events));
}

void write_utilization(const Run& run, RunIds& ids, Packets& packets) {
  const model::Timeline& timeline = run.timeline();
  if (timeline.processes.empty()) return;
  std::uint32_t last_device = model::kNone;
  for (std::size_t first = 0, last = 0; first < timeline.bins.size(); first = last) {
    const model::SampleBin& bin = timeline.bins[first];
    const auto is_same = [&bin](const model::SampleBin& one) { return one.device == bin.device && one.metric == bin.metric; };
    while (last < timeline.bins.size() && is_same(timeline.bins[last])) ++last;
    std::uint64_t bursts = 0;
    if (bin.device != last_device) {
      bursts = ids.new_track();
      describe_track(packets, bursts, ids.process_track(0), fmt::format("GPU {}: sampled", ids.gpu(bin.device)), "");
      last_device = bin.device;
    }
    const std::string& metric = timeline.sampled_metrics[bin.metric];
    const std::string unit = run.unit_of ? run.unit_of(metric) : "";
    const std::uint64_t track = ids.new_track();
    describe_track(packets, track, ids.process_track(0), fmt::format("GPU {}: {}", ids.gpu(bin.device), valid_utf8(metric)),
                   unit.empty() ? "value" : unit);
    write_bins(timeline, first, last, track, bursts, packets);
  }
}

}  // namespace dlkprof::exports::perfetto
