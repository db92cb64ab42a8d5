#include "export/perfetto/cpu_slices.h"

#include <fmt/format.h>

#include "base/text.h"
#include "export/perfetto/slices.h"
#include "model/fold/time_arithmetic.h"

namespace dlkprof::exports::perfetto {
namespace {

std::string process_title(const Run& run, std::uint32_t process) {
  const model::Process& it = run.timeline().processes[process];
  const std::optional<std::uint32_t> rank = rank_of(run.timeline());
  const std::string who = rank ? fmt::format("rank {}", *rank) : run.label;
  return fmt::format("{}: {} (pid {} on {})", who, command_line(it), it.record.pid, valid_utf8(it.record.host));
}

// The slices of one thread: on its own track as long as they nest, else on further ones. They come by rising start.
class ThreadSlices {
 public:
  // The track that a slice belongs on, after the ends of those before it there. `beside`: it may nest in nothing.
  std::uint64_t open(std::int64_t start, std::int64_t end, bool beside, std::uint32_t thread, RunIds& ids, Packets& packets) {
    if (lanes_.empty()) lanes_.push_back({ids.thread_track(thread), {}});
    for (std::size_t i = beside ? 1 : 0; i < lanes_.size(); ++i) {
      close_before(lanes_[i], start, packets);
      if (!lanes_[i].ends.empty() && lanes_[i].ends.back() < end) continue;
      lanes_[i].ends.push_back(end);
      return lanes_[i].track;
    }
    const std::uint64_t track = ids.new_track();
    write_track(packets, track, ids.thread_track(thread), "Overlapping ranges");
    lanes_.push_back({track, {end}});
    return track;
  }
  void close_all(Packets& packets) {
    for (Lane& lane : lanes_) close_before(lane, model::kMostNs, packets);
  }

 private:
  struct Lane {
    std::uint64_t track = 0;
    std::vector<std::int64_t> ends;  // of what is open, the innermost last
  };

  static void close_before(Lane& lane, std::int64_t start, Packets& packets) {
    for (; !lane.ends.empty() && lane.ends.back() <= start; lane.ends.pop_back())
      end_slice(packets, lane.track, lane.ends.back());
  }

  std::vector<Lane> lanes_;
};

class SliceWriter {
 public:
  SliceWriter(const Run& run, const RunIndex& index, RunIds& ids, Packets& packets)
      : timeline_(run.timeline()), index_(index), ids_(ids), packets_(packets), threads_(timeline_.threads.size()) {}

  // Both kinds are ordered by start; a call made where a range begins lies inside it.
  void write() {
    std::uint32_t range = 0, call = 0;
    while (range < timeline_.ranges.size() || call < timeline_.calls.size()) {
      const bool takes_range =
          call == timeline_.calls.size() ||
          (range < timeline_.ranges.size() && timeline_.ranges[range].start_ns <= timeline_.calls[call].start_ns);
      takes_range ? add_range(range++) : add_call(call++);
    }
    for (ThreadSlices& thread : threads_) thread.close_all(packets_);
  }

 private:
  void add_range(std::uint32_t index) {
    const model::Range& range = timeline_.ranges[index];
    const bool is_mark = range.kind == capture::RangeKind::mark;
    const std::uint64_t track =
        is_mark ? ids_.thread_track(range.thread)
                : threads_[range.thread].open(range.start_ns, range.end_ns, range.kind == capture::RangeKind::start_end,
                                              range.thread, ids_, packets_);
    const std::uint32_t op = index_.op_of_range(index);
    begin(range.start_ns, track, is_mark ? kInstant : kSliceBegin, [&](Message& event) {
      event.number(kEventCategory, is_mark ? kMark : op == model::kNone ? kRange : kOp);
      event.number(kEventNameId, op == model::kNone ? ids_.name_of_string(range.message) : ids_.name_of_op(op));
      if (op == model::kNone) return;
      annotate(event, kOpName, kAnnotationTextId, ids_.text_of_op_name(op));
      annotate(event, kOpId, kAnnotationTextId, ids_.text_of_op_id(op));
    });
  }

  void add_call(std::uint32_t index) {
    const model::Call& call = timeline_.calls[index];
    const std::uint64_t track = threads_[call.thread].open(call.start_ns, call.end_ns, false, call.thread, ids_, packets_);
    begin(call.start_ns, track, kSliceBegin, [&](Message& event) {
      event.number(kEventCategory, kCudaCall);
      event.number(kEventNameId, ids_.name_of_string(call.name));
      event.number(kEventGpuApi, kCuda);
      const std::span<const std::uint32_t> works = index_.works(index);
      if (works.empty()) return;
      event.message(kEventGpuCorrelation, [&](Message& correlation) {
        for (const std::uint32_t work : works) {
          if (model::is_timed(timeline_.activities[work])) correlation.number(kCorrelationSubmitted, ids_.event(work));
        }
      });
    });
  }

  template <typename Fill>
  void begin(std::int64_t ns, std::uint64_t track, std::uint64_t type, const Fill& fill) {
    packets_.add_at(ns, [&](Message& packet) {
      packet.message(kPacketTrackEvent, [&](Message& event) {
        event.number(kEventType, type);
        event.number(kEventTrack, track);
        fill(event);
      });
    });
  }

  const model::Timeline& timeline_;
  const RunIndex& index_;
  RunIds& ids_;
  Packets& packets_;
  std::vector<ThreadSlices> threads_;
};

}  // namespace

void write_tracks(const Run& run, const RunIds& ids, Packets& packets) {
  const model::Timeline& timeline = run.timeline();
  const auto describe = [&packets](std::uint64_t uuid, const auto& fill) {
    packets.add([&](Message& packet) {
      packet.message(kPacketTrackDescriptor, [&](Message& track) {
        track.number(kTrackUuid, uuid);
        fill(track);
      });
    });
  };
  for (std::uint32_t i = 0; i < timeline.processes.size(); ++i) {
    describe(ids.process_track(i), [&](Message& track) {
      track.message(kTrackProcess, [&](Message& process) {
        process.number(kProcessPid, ids.pid(i));
        process.text(kProcessName, process_title(run, i));
      });
    });
  }
  for (std::uint32_t i = 0; i < timeline.threads.size(); ++i) {
    const model::Thread& thread = timeline.threads[i];
    describe(ids.thread_track(i), [&](Message& track) {
      track.message(kTrackThread, [&](Message& it) {
        it.number(kThreadPid, ids.pid(thread.process));
        it.number(kThreadTid, ids.tid(thread));
        it.text(kThreadName, fmt::format("Thread {}", thread.tid));
      });
    });
  }
}

void write_iterations(const Run& run, const RunIds& ids, Packets& packets) {
  const model::Aggregate& aggregate = run.profile->aggregate;
  if (run.timeline().processes.empty() || run.fold().key_nodes_found == 0) return;
  write_track(packets, ids.iteration_track(), ids.process_track(0), "Iterations",
              fmt::format("From one end of {} to before the next", valid_utf8(run.fold().key_node)));
  for (std::uint32_t i = 0; i < run.fold().iterations.size(); ++i) {
    const model::Iteration& iteration = run.fold().iterations[i];
    const auto is_in = [i](std::uint32_t first, std::uint32_t last) { return first <= i && i <= last ? 1U : 0U; };
    packets.add_at(iteration.start_ns, [&](Message& packet) {
      packet.message(kPacketTrackEvent, [&](Message& event) {
        event.number(kEventType, kSliceBegin);
        event.number(kEventTrack, ids.iteration_track());
        event.number(kEventCategory, kIteration);
        event.text(kEventName, fmt::format("Iteration {}", i));
        annotate(event, kIterationNumber, kAnnotationUint, i);
        annotate(event, kIsAggregated, kAnnotationUint, aggregate.has(run.fold(), i) ? 1U : 0U);
        annotate(event, kIsSteady, kAnnotationUint, is_in(aggregate.steady.first, aggregate.steady.last));
      });
    });
    // The last nanosecond is part of it.
    end_slice(packets, ids.iteration_track(), iteration.start_ns + model::elapsed_ns(iteration.start_ns, iteration.stop_ns) + 1);
  }
}

void write_cpu_slices(const Run& run, const RunIndex& index, RunIds& ids, Packets& packets) {
  SliceWriter(run, index, ids, packets).write();
}

}  // namespace dlkprof::exports::perfetto
