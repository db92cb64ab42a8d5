#include "export/perfetto/slices.h"

namespace dlkprof::exports::perfetto {

void write_clock(Packets& packets, std::int64_t monotonic_ns, std::int64_t unix_ns) {
  const auto add_clock = [](Message& snapshot, std::uint64_t id, std::int64_t ns) {
    snapshot.message(kSnapshotClock, [&](Message& clock) {
      clock.number(kClockId, id);
      clock.number(kClockTimestamp, static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0)));
    });
  };
  packets.add([&](Message& packet) {
    packet.message(kPacketClockSnapshot, [&](Message& snapshot) {
      add_clock(snapshot, kMonotonic, monotonic_ns);
      add_clock(snapshot, kRealtime, unix_ns);
      snapshot.number(kSnapshotPrimary, kMonotonic);
    });
  });
}

void write_track(Packets& packets, std::uint64_t uuid, std::uint64_t parent, const std::string& name,
                 const std::string& description) {
  packets.add([&](Message& packet) {
    packet.message(kPacketTrackDescriptor, [&](Message& track) {
      track.number(kTrackUuid, uuid);
      track.number(kTrackParent, parent);
      track.text(kTrackName, name);
      if (!description.empty()) track.text(kTrackDescription, description);
    });
  });
}

void end_slice(Packets& packets, std::uint64_t track, std::int64_t ns) {
  packets.add([&](Message& packet) {
    packet.number(kPacketTimestamp, packets.time(ns));
    packet.message(kPacketTrackEvent, [track](Message& event) {
      event.number(kEventType, kSliceEnd);
      event.number(kEventTrack, track);
    });
  });
}

void annotate(Message& event, std::uint64_t name, Field kind, std::uint64_t value) {
  event.message(kEventAnnotation, [&](Message& annotation) {
    annotation.number(kAnnotationNameId, name);
    annotation.number(kind, value);
  });
}

}  // namespace dlkprof::exports::perfetto
