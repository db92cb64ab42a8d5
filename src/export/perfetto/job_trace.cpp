// The ranks of a job for ui.perfetto.dev: a process per rank, with tracks of its iterations and collectives.
#include <fmt/format.h>

#include "base/text.h"
#include "export/formats.h"
#include "export/perfetto/interned_writer.h"
#include "export/perfetto/slices.h"

namespace dlkprof::exports {
namespace {

using perfetto::Packets;

class JobTraceWriter {
 public:
  JobTraceWriter(const JobRun& job, Packets& packets) : job_(job), packets_(packets) {}

  void write() {
    perfetto::write_clock(packets_, job_.start_ns, job_.start_ns);
    write_strings();
    job_.each_rank([this](const RankTrace& rank) { write_rank(rank); });
  }

 private:
  // All that is not a number is interned: strings by their places from 1.
  void write_strings() {
    packets_.add([](Message&) {}, perfetto::kStateCleared);
    perfetto::InternedWriter out(packets_);
    for (std::size_t i = 0; i < job_.strings.size(); ++i) {
      for (const perfetto::Field table : {perfetto::kInternedCategory, perfetto::kInternedEventName,
                                          perfetto::kInternedAnnotationName, perfetto::kInternedText})
        out.add(table, i + 1, std::string_view(job_.strings[i]));
    }
    out.finish();
  }

  void write_rank(const RankTrace& rank) {
    using namespace perfetto;
    const std::uint64_t process = next_track_++;
    packets_.add([&](Message& packet) {
      packet.message(kPacketTrackDescriptor, [&](Message& track) {
        track.number(kTrackUuid, process);
        track.message(kTrackProcess, [&](Message& it) {
          it.number(kProcessPid, std::uint64_t{1} + rank.number);  // numbers of processes are those of their host
          it.text(kProcessName, valid_utf8(rank.title));
        });
      });
    });
    for (const TraceTrack& track : rank.tracks) {
      const std::uint64_t id = next_track_++;
      write_track(packets_, id, process, track.name);
      std::int64_t end = std::numeric_limits<std::int64_t>::min();
      for (const TraceSlice& slice : track.slices) {
        const std::int64_t start = std::max(slice.start_ns, end);
        end = std::max(start, slice.end_ns);
        write_slice(slice, track.category, id, start);
        end_slice(packets_, id, end);
      }
    }
  }

  void write_slice(const TraceSlice& slice, std::uint64_t category, std::uint64_t track, std::int64_t start_ns) {
    using namespace perfetto;
    packets_.add_at(start_ns, [&](Message& packet) {
      packet.message(kPacketTrackEvent, [&](Message& event) {
        event.number(kEventType, kSliceBegin);
        event.number(kEventTrack, track);
        event.number(kEventCategory, 1 + category);
        event.number(kEventNameId, 1 + std::uint64_t{slice.name});
        for (const TraceArg& arg : slice.args) {
          const std::uint64_t name = 1 + std::uint64_t{arg.name};
          arg.is_text ? annotate(event, name, kAnnotationTextId, 1 + arg.value)
                      : annotate(event, name, kAnnotationUint, arg.value);
        }
      });
    });
  }

  const JobRun& job_;
  Packets& packets_;
  std::uint64_t next_track_ = 1;
};

}  // namespace

void write_perfetto_job(const JobRun& job, const report::Sink& sink) {
  report::Buffer out(sink);
  Packets packets(out, 1, 0);
  JobTraceWriter(job, packets).write();
  out.finish();
}

}  // namespace dlkprof::exports
