#include "capture/events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include <limits>
#include <random>

#include "base/error.h"

namespace dlkprof::capture::events_test {
namespace {

using Bytes = std::vector<std::uint8_t>;
using testing::AnyOf;
using testing::HasSubstr;

template <typename T>
constexpr T kMost = std::numeric_limits<T>::max();
template <typename T>
constexpr T kLeast = std::numeric_limits<T>::min();

template <typename Event>
EventsRecord packed(const std::vector<Event>& events) {
  return pack_events(std::span<const Event>(events));
}

template <typename Event>
std::vector<Event> round_trip(const std::vector<Event>& events) {
  return unpack_events<Event>(packed(events));
}

Bytes columns_of(const EventsRecord& record) {
  Bytes columns(record.columns_bytes);
  const std::size_t size =
      ZSTD_decompress(columns.data(), columns.size(), record.zstd_columns.data(), record.zstd_columns.size());
  EXPECT_EQ(size, record.columns_bytes);
  return columns;
}

EventsRecord record_of(EventKind kind, std::uint32_t count, const Bytes& columns) {
  Bytes frame(ZSTD_compressBound(columns.size()));
  frame.resize(ZSTD_compress(frame.data(), frame.size(), columns.data(), columns.size(), 1));
  return {.kind = kind, .count = count, .columns_bytes = columns.size(), .zstd_columns = frame};
}

template <typename Event>
std::string refusal(const EventsRecord& record) {
  try {
    (void)unpack_events<Event>(record);
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("a batch of events of the capture cannot be unpacked"));
    return error.message();
  }
  return "no error";
}

template <typename Event>
void expect_refusal_or(std::size_t count, const EventsRecord& record) {
  if (refusal<Event>(record) == "no error") {
    EXPECT_EQ(unpack_events<Event>(record).size(), count);
  }
}

RangeEvent sample_range() {
  return {.id = (3ULL << 40U) + 1,
          .parent = 3ULL << 40U,
          .thread = 4,
          .domain = 5,
          .name = 6,
          .category = 7,
          .kind = RangeKind::mark,
          .start_ns = 1000,
          .end_ns = 1008,
          .payload_type = 9,
          .payload_bits = 10,
          .sequence = 11,
          .op_id = 12};
}

CallEvent sample_call() {
  return {.correlation = 1,
          .thread = 2,
          .range = 3,
          .name = 4,
          .start_ns = 5,
          .end_ns = 6,
          .launch_index = 7,
          .function = 8,
          .held = true};
}

ActivityEvent sample_activity() {
  return {.kind = ActivityKind::set,
          .correlation = 2,
          .start_ns = 3,
          .end_ns = 4,
          .device = 5,
          .context = 6,
          .stream = 7,
          .graph_node = 8,
          .name = 9,
          .grid = {10, 11, 12},
          .block = {13, 14, 15},
          .cluster = {16, 17, 18},
          .dynamic_shared_bytes = 19,
          .copy = CopyKind::dtoh,
          .bytes = 21,
          .function = 22};
}

RangeEvent greatest_range() {
  return {kMost<std::uint64_t>, kMost<std::uint64_t>,        kMost<std::uint32_t>, kMost<std::uint32_t>, kMost<std::uint32_t>,
          kMost<std::uint32_t>, static_cast<RangeKind>(255), kMost<std::int64_t>,  kLeast<std::int64_t>, 255,
          kMost<std::uint64_t>};
}

ActivityEvent greatest_work() {
  constexpr std::uint32_t kMost32 = kMost<std::uint32_t>;
  constexpr Dim3 kMostDim{kMost32, kMost32, kMost32};
  return {.kind = static_cast<ActivityKind>(255),
          .correlation = kMost32,
          .start_ns = kMost<std::int64_t>,
          .end_ns = kLeast<std::int64_t>,
          .device = kMost32,
          .context = kMost32,
          .stream = kMost32,
          .graph_node = kMost<std::uint64_t>,
          .name = kMost32,
          .grid = kMostDim,
          .block = kMostDim,
          .cluster = kMostDim,
          .dynamic_shared_bytes = kMost32,
          .copy = static_cast<CopyKind>(255),
          .bytes = kMost<std::uint64_t>,
          .function = kMost32};
}

TEST(Events, NoneRoundTrip) {
  EXPECT_EQ(round_trip(std::vector<RangeEvent>{}), std::vector<RangeEvent>{});
  EXPECT_EQ(round_trip(std::vector<CallEvent>{}), std::vector<CallEvent>{});
  EXPECT_EQ(round_trip(std::vector<ActivityEvent>{}), std::vector<ActivityEvent>{});
}

// No two fields of an event are the same, so that one put for another is noticed.
TEST(Events, OneRoundTrips) {
  EXPECT_EQ(round_trip<RangeEvent>({sample_range()}), std::vector{sample_range()});
  EXPECT_EQ(round_trip<CallEvent>({sample_call()}), std::vector{sample_call()});
  EXPECT_EQ(round_trip<ActivityEvent>({sample_activity()}), std::vector{sample_activity()});
  const GraphEvent node{GraphEventKind::node_cloned, (9ULL << 32U) | 4, (7ULL << 32U) | 4, 7, 1ULL << 40U, ~0ULL};
  EXPECT_EQ(round_trip<GraphEvent>({node, {}, node}), (std::vector<GraphEvent>{node, {}, node}));
}

TEST(Events, ExtremesRoundTrip) {
  const std::vector<RangeEvent> ranges{
      {}, greatest_range(), {.start_ns = kLeast<std::int64_t>, .end_ns = kMost<std::int64_t>}, {}};
  EXPECT_EQ(round_trip(ranges), ranges);
  const std::vector<ActivityEvent> activities{greatest_work(), {}, greatest_work()};
  EXPECT_EQ(round_trip(activities), activities);
}

std::vector<CallEvent> some_calls(std::size_t count) {
  std::mt19937_64 random(3);  // NOLINT: the same calls each time
  std::vector<CallEvent> calls(count);
  std::int64_t now = 1'000'000'000'000;
  for (std::uint32_t i = 0; i < calls.size(); ++i) {
    calls[i] = sample_call();
    calls[i].correlation = i;
    calls[i].range = random() >> (random() % 64);
    calls[i].start_ns = now += static_cast<std::int64_t>(random() % 20'000);
    calls[i].end_ns = now += static_cast<std::int64_t>(random() % 9'000);
  }
  return calls;
}

TEST(Events, FullBatchRoundTrips) {
  const auto calls = some_calls(kEventsInABatch);
  EXPECT_EQ(round_trip(calls), calls);
}

TEST(Events, GetSmaller) {
  std::vector<CallEvent> calls = some_calls(kEventsInABatch);
  for (CallEvent& call : calls) call.range = 1ULL << 40U;
  EXPECT_LT(packed(calls).zstd_columns.size(), 6 * calls.size());
}

TEST(Events, TooManyAreNeitherPackedNorUnpacked) {
  EXPECT_THROW((void)packed(std::vector<CallEvent>(kMostEventsInABatch + 1)), Error);
  // One up and one down again, here and there, as nothing packs so well as zeros.
  const auto a_column_of = [](std::uint32_t count) {
    Bytes bytes(count);
    std::mt19937 random(7);  // NOLINT: the same bytes each time
    for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) {
      if (random() % 2 != 0) continue;
      bytes[i] = 2;
      bytes[i + 1] = 1;
    }
    return record_of(EventKind::call, count, bytes);
  };
  EXPECT_EQ(unpack_events<CallEvent>(a_column_of(kMostEventsInABatch)).size(), kMostEventsInABatch);
  EXPECT_THAT(refusal<CallEvent>(a_column_of(kMostEventsInABatch + 1)), HasSubstr("65537 events"));
}

// A kilobyte of zstd can stand for many megabytes.
TEST(Events, WhatPacksTooWellIsNotUnpacked) {
  EXPECT_THAT(refusal<CallEvent>(record_of(EventKind::call, kMostEventsInABatch, Bytes(8 * kMostEventsInABatch))),
              HasSubstr("524288 bytes for 65536 events"));
}

// The bytes themselves, so that files written today stay readable. Two values a column, one byte each: the first twice
// itself, the second twice the step; odd where it falls.
TEST(EventColumns, OfRanges) {
  const EventsRecord record = packed<RangeEvent>({{.id = 1, .parent = 0, .thread = 63, .kind = RangeKind::start_end},
                                                  {.id = 2,
                                                   .parent = 1,
                                                   .thread = 62,
                                                   .domain = 1,
                                                   .name = 2,
                                                   .category = 3,
                                                   .start_ns = -5,
                                                   .end_ns = 64,
                                                   .payload_type = 4,
                                                   .payload_bits = ~0ULL}});
  EXPECT_EQ(record.kind, EventKind::range);
  EXPECT_EQ(record.count, 2U);
  EXPECT_EQ(columns_of(record),
            (Bytes{2,    2,    0,    2,    126,  1, 0,    2,    0,    4,    0,    6, 2, 1, 0, 9, 0, 0x80, 1, 0, 8, 0, 1,  //
                   0xfe, 0xff, 0xff, 0xff, 0x1f, 0, 0xfe, 0xff, 0xff, 0xff, 0x1f, 0}));
}

TEST(EventColumns, OfCalls) {
  const EventsRecord record = packed<CallEvent>({sample_call()});
  EXPECT_EQ(record.kind, EventKind::call);
  EXPECT_EQ(columns_of(record), (Bytes{2, 4, 6, 8, 10, 12, 14, 16, 2}));
}

TEST(EventColumns, OfWork) {
  const EventsRecord record = packed<ActivityEvent>({sample_activity()});
  EXPECT_EQ(record.kind, EventKind::activity);
  EXPECT_EQ(columns_of(record), (Bytes{4, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 4, 42, 44}));
}

TEST(EventColumns, OfLongValues) {
  EXPECT_EQ(columns_of(packed<CallEvent>({{.launch_index = 1ULL << 63U, .function = ~0U}})),
            (Bytes{0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0xfe, 0xff, 0xff, 0xff, 0x1f, 0}));
}

// A frame as zstd has written it: magic, one segment of 8 bytes, one raw block that is the last.
TEST(EventColumns, OfAFrameWrittenBefore) {
  const EventsRecord record{.kind = EventKind::call,
                            .count = 1,
                            .columns_bytes = 8,
                            .zstd_columns = {0x28, 0xb5, 0x2f, 0xfd, 0x20, 8, 0x41, 0, 0, 2, 4, 6, 8, 10, 12, 14, 16}};
  CallEvent expected = sample_call();
  expected.held = false;  // a column that there was not yet
  EXPECT_EQ(unpack_events<CallEvent>(record), std::vector{expected});
}

TEST(Unpacking, ColumnsOfAnOlderWriterAreFewer) {
  const Bytes columns = columns_of(packed<CallEvent>({sample_call(), {}}));
  const auto calls = unpack_events<CallEvent>(record_of(EventKind::call, 2, {columns.begin(), columns.begin() + 12}));
  CallEvent expected = sample_call();
  expected.launch_index = kNoLaunch;
  expected.function = 0;
  expected.held = false;
  EXPECT_EQ(calls, (std::vector{expected, CallEvent{}}));
  // A Dim3 is three columns.
  const auto activities = unpack_events<ActivityEvent>(record_of(EventKind::activity, 1, {0, 0, 0, 0, 0, 0, 0, 0, 0, 10}));
  EXPECT_EQ(activities, std::vector{ActivityEvent{.grid = {5}}});
}

TEST(Unpacking, ColumnsOfANewerWriterAreIgnored) {
  Bytes columns = columns_of(packed<CallEvent>({sample_call()}));
  columns.insert(columns.end(), {0xff, 0xff});
  EXPECT_EQ(unpack_events<CallEvent>(record_of(EventKind::call, 1, columns)), std::vector{sample_call()});
}

TEST(Unpacking, CutWithinAColumnIsAnError) {
  const std::vector<ActivityEvent> activities(3, greatest_work());
  const Bytes columns = columns_of(packed(activities));
  std::size_t whole = 0;
  for (std::size_t length = activities.size(); length < columns.size(); ++length) {
    const auto record =
        record_of(EventKind::activity, 3, {columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(length)});
    const std::string refused = refusal<ActivityEvent>(record);
    whole += refused == "no error" ? 1 : 0;
    EXPECT_THAT(refused, AnyOf("no error", HasSubstr("its columns are cut")));
  }
  EXPECT_EQ(whole, 21U);  // one column to all but one of them
}

TEST(Unpacking, AnotherKindIsAnError) {
  EventsRecord record = packed<CallEvent>({sample_call()});
  EXPECT_THAT(refusal<RangeEvent>(record), HasSubstr("another kind"));
  EXPECT_THAT(refusal<ActivityEvent>(record), HasSubstr("another kind"));
  record.kind = static_cast<EventKind>(0);
  EXPECT_THAT(refusal<CallEvent>(record), HasSubstr("another kind"));
}

TEST(Unpacking, ValuesBeyondTheirWidthAreErrors) {
  const Bytes greatest{0, 0, 0, 0, 0, 0, 0xfe, 3};  // kind, a byte: 255
  EXPECT_EQ(unpack_events<RangeEvent>(record_of(EventKind::range, 1, greatest)).at(0).kind, static_cast<RangeKind>(255));
  const Bytes too_great{0, 0, 0, 0, 0, 0, 0x80, 4};  // 256
  EXPECT_THAT(refusal<RangeEvent>(record_of(EventKind::range, 1, too_great)), HasSubstr("too large"));
  const Bytes negative{0, 0, 0, 0, 0, 0, 1};
  EXPECT_THAT(refusal<RangeEvent>(record_of(EventKind::range, 1, negative)), HasSubstr("too large"));
  const Bytes sum_too_great{0xfe, 0xff, 0xff, 0xff, 0x1f, 2};  // correlation: 2^32 - 1 and then one more
  EXPECT_THAT(refusal<CallEvent>(record_of(EventKind::call, 2, sum_too_great)), HasSubstr("too large"));
}

TEST(Unpacking, NumbersOfMoreThan64BitsAreErrors) {
  Bytes number(9, 0xff);
  number.push_back(1);
  EXPECT_EQ(unpack_events<RangeEvent>(record_of(EventKind::range, 1, number)).at(0).id, 1ULL << 63U);
  number.back() = 2;
  EXPECT_THAT(refusal<RangeEvent>(record_of(EventKind::range, 1, number)), HasSubstr("too long"));
  number.back() = 0x80;
  number.push_back(0);
  EXPECT_THAT(refusal<RangeEvent>(record_of(EventKind::range, 1, number)), HasSubstr("too long"));
}

TEST(Unpacking, SizesThatDisagreeAreRefused) {
  const EventsRecord good = packed(some_calls(100));
  for (const std::uint64_t bytes : {std::uint64_t{0}, good.columns_bytes - 1, good.columns_bytes + 1, kMost<std::uint64_t>}) {
    EventsRecord bad = good;
    bad.columns_bytes = bytes;
    EXPECT_THAT(refusal<CallEvent>(bad), HasSubstr("its size is given as")) << bytes;
  }
  for (const std::uint32_t count : {0U, 1U, 101U, 1U << 20U}) {
    EventsRecord bad = good;
    bad.count = count;
    EXPECT_NE(refusal<CallEvent>(bad), "no error") << count;
  }
}

TEST(Unpacking, BombsAreRefusedBeforeMemoryIsTaken) {
  EventsRecord record = packed(some_calls(1));
  record.count = kMost<std::uint32_t>;
  EXPECT_THAT(refusal<CallEvent>(record), HasSubstr("4294967295 events"));
  // A frame header that promises 2^62 bytes: magic, descriptor with an 8-byte size and single segment, the size.
  record = {.kind = EventKind::call,
            .count = 1U << 16U,
            .columns_bytes = 1ULL << 62U,
            .zstd_columns = {0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 0, 0, 0, 0x40, 1, 0, 0}};
  EXPECT_THAT(refusal<CallEvent>(record), HasSubstr("its size is given as"));
  // More than so few events can take, in a frame that would unpack well.
  EXPECT_THAT(refusal<CallEvent>(record_of(EventKind::call, 1, Bytes(1U << 20U))), HasSubstr("its size is given as"));
  // Fewer bytes than a single column of so many events has.
  EXPECT_THAT(refusal<CallEvent>(record_of(EventKind::call, 1U << 16U, Bytes(100))), HasSubstr("its size is given as"));
}

TEST(Unpacking, OnlyOneWholeFrameIsTaken) {
  const EventsRecord good = packed(some_calls(100));
  EventsRecord bad = good;
  bad.zstd_columns.pop_back();
  EXPECT_NE(refusal<CallEvent>(bad), "no error");
  bad = good;
  bad.zstd_columns.push_back(0);
  EXPECT_NE(refusal<CallEvent>(bad), "no error");
  bad = good;
  bad.zstd_columns.insert(bad.zstd_columns.end(), good.zstd_columns.begin(), good.zstd_columns.end());
  EXPECT_NE(refusal<CallEvent>(bad), "no error");
  bad.zstd_columns.clear();
  EXPECT_NE(refusal<CallEvent>(bad), "no error");
}

TEST(Unpacking, DamageNeverCrashes) {
  const EventsRecord good = packed(some_calls(50));
  for (std::size_t i = 0; i < good.zstd_columns.size(); ++i) {
    EventsRecord bad = good;
    bad.zstd_columns[i] ^= 0xff;
    expect_refusal_or<CallEvent>(50, bad);
  }
  std::mt19937 random(4);  // NOLINT: the same noise each time
  for (int i = 0; i < 5000; ++i) {
    Bytes noise(1 + random() % 200);
    for (auto& byte : noise) byte = static_cast<std::uint8_t>(random() % 3 == 0 ? random() : 0);
    const auto record = record_of(EventKind::activity, 1 + random() % 4, noise);
    expect_refusal_or<ActivityEvent>(record.count, record);
  }
}

}  // namespace
}  // namespace dlkprof::capture::events_test
