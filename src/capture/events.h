// Batches of timeline events to records and back.
//
// The columns of a batch are the fields of the event struct (fields.h), each for all events before the next field begins.
// Of a Dim3 x, y and z are three columns. A value is the difference to the one before it in its column (the first: to 0),
// zigzag-coded (bit 0 the sign) and then as base-128 varint, least significant group first; all of it is one zstd frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dlkprof/capture_format.h"

namespace dlkprof::capture {

// As many as are worth a batch: more compress no better, and what is not written yet is lost in a crash.
inline constexpr std::size_t kEventsInABatch = 4096;
// More than this in one batch is hostile, as is what packs by more than a thousand. Writers of ours stay below kEventsInABatch,
// and their batches pack by 72 at most, mostly by 5.
inline constexpr std::size_t kMostEventsInABatch = std::size_t{1} << 16U;
[[nodiscard]] constexpr bool packs_too_well(std::uint64_t bytes, std::size_t packed_bytes) {
  constexpr std::uint64_t kMostTimes = 1000, kTooFewToMatter = 1U << 16U;
  return bytes > kTooFewToMatter + kMostTimes * packed_bytes;
}
// A capture of so many bytes may hold so many events. Ours have one in 7 bytes.
[[nodiscard]] constexpr std::uint64_t most_events_of(std::uint64_t file_bytes) { return kMostEventsInABatch + 2 * file_bytes; }

// Event is RangeEvent, CallEvent, ActivityEvent or GraphEvent.
template <typename Event>
[[nodiscard]] EventsRecord pack_events(std::span<const Event> events);

// Throws Error where the record is of another kind or its bytes are no such batch.
template <typename Event>
[[nodiscard]] std::vector<Event> unpack_events(const EventsRecord& record);

}  // namespace dlkprof::capture
