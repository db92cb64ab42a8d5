// The packets of a trace file, which is nothing but packets: they go to a sink as they are made.
#pragma once

#include <algorithm>
#include <cstdint>

#include "export/perfetto/fields.h"
#include "export/protobuf.h"
#include "report/format/rows.h"

namespace dlkprof::exports::perfetto {

// Packets of one run: they share interned text, which others cannot see.
class Packets {
 public:
  // `sequence`: from 1, another one for each run. `shift_ns` is added to all times.
  Packets(report::Buffer& out, std::uint32_t sequence, std::int64_t shift_ns)
      : out_(out), sequence_(sequence), shift_ns_(shift_ns) {}

  // `fill(packet)` writes what it holds.
  template <typename Fill>
  void add(const Fill& fill, std::uint64_t flags = 0) {
    Message(out_.text).message(kTracePacket, [&](Message& packet) {
      packet.number(kPacketSequence, sequence_);
      if (flags != 0) packet.number(kPacketSequenceFlags, flags);
      fill(packet);
    });
    out_.drain();
  }
  template <typename Fill>
  void add_at(std::int64_t ns, const Fill& fill) {
    add(
        [&](Message& packet) {
          packet.number(kPacketTimestamp, time(ns));
          fill(packet);
        },
        kNeedsState);
  }

  // On the clock of the trace, which has no times before 0.
  [[nodiscard]] std::uint64_t time(std::int64_t ns) const {
    std::int64_t shifted = 0;
    if (__builtin_add_overflow(ns, shift_ns_, &shifted)) shifted = ns;
    return static_cast<std::uint64_t>(std::max<std::int64_t>(shifted, 0));
  }

 private:
  report::Buffer& out_;
  std::uint32_t sequence_;
  std::int64_t shift_ns_;
};

}  // namespace dlkprof::exports::perfetto
