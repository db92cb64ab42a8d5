#include "capture/events.h"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "capture/fields.h"
#include "capture/frame.h"
#include "capture/varint.h"

namespace dlkprof::capture {
namespace {

// The program waits while its events are packed, and columns of differences pack well at any level.
constexpr int kBatchLevel = 1;

// Twice what the widest event takes at its worst, since a newer writer may have more columns than we know.
constexpr std::uint64_t kMostColumnBytesAnEvent = 256;

template <typename Event>
constexpr EventKind kKindOf = EventKind::range;
template <>
constexpr EventKind kKindOf<CallEvent> = EventKind::call;
template <>
constexpr EventKind kKindOf<ActivityEvent> = EventKind::activity;
template <>
constexpr EventKind kKindOf<GraphEvent> = EventKind::graph;

constexpr const char* kBatch = "a batch of events of the capture";

Error malformed_batch(std::string detail) { return {fmt::format("{} cannot be unpacked", kBatch), std::move(detail), ""}; }

// References to the fields of an event, in the order of its columns.
template <typename T>
constexpr auto columns_of(T& field) {
  if constexpr (std::is_class_v<T>) {
    return fields([](auto&... inner) { return std::tuple_cat(columns_of(inner)...); }, field);
  } else {
    return std::tie(field);
  }
}

template <typename Event>
constexpr std::size_t kColumns = std::tuple_size_v<decltype(columns_of(std::declval<Event&>()))>;

// Calls visit with a constant for each column: visit(column) may use it to pick from columns_of.
template <typename Event>
void for_each_column(const auto& visit) {
  [&]<std::size_t... Column>(std::index_sequence<Column...>) {
    (visit(std::integral_constant<std::size_t, Column>()), ...);
  }(std::make_index_sequence<kColumns<Event>>());
}

template <typename Event>
std::vector<std::uint8_t> to_columns(std::span<const Event> events) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(2 * kColumns<Event> * events.size());
  for_each_column<Event>([&](auto column) {
    std::uint64_t last = 0;
    for (const Event& event : events) {
      const auto value = static_cast<std::uint64_t>(std::get<column>(columns_of(event)));
      put_varint(bytes, zigzag(value - std::exchange(last, value)));
    }
  });
  return bytes;
}

class ColumnReader {
 public:
  explicit ColumnReader(std::span<const std::uint8_t> bytes) : left_(bytes) {}

  [[nodiscard]] bool at_end() const { return left_.empty(); }

  // Begins a column.
  void restart() { last_ = 0; }

  template <typename T>
  void get(T& value) {
    std::uint64_t code = 0;
    if (!take_varint(left_, code)) throw malformed_batch("its columns are cut, or a number in them is too long");
    last_ += unzigzag(code);
    value = static_cast<T>(last_);
    if (static_cast<std::uint64_t>(value) != last_) throw malformed_batch("a value is too large for its column");
  }

 private:
  std::span<const std::uint8_t> left_;
  std::uint64_t last_ = 0;
};

// An older writer has fewer columns: what it does not write keeps its default. Those that a newer one has follow ours.
template <typename Event>
std::vector<Event> from_columns(std::span<const std::uint8_t> bytes, std::size_t count) {
  std::vector<Event> events(count);
  ColumnReader reader(bytes);
  for_each_column<Event>([&](auto column) {
    if (reader.at_end()) return;
    reader.restart();
    for (Event& event : events) reader.get(std::get<column>(columns_of(event)));
  });
  return events;
}

// What the record and our limits say of the sizes must agree before memory is taken.
void check_sizes(const EventsRecord& record) {
  if (record.count > kMostEventsInABatch) throw malformed_batch(fmt::format("it is said to hold {} events", record.count));
  const bool plausible = record.columns_bytes >= record.count && record.columns_bytes <= record.count * kMostColumnBytesAnEvent &&
                         !packs_too_well(record.columns_bytes, record.zstd_columns.size());
  if (!plausible)
    throw malformed_batch(fmt::format("its size is given as {} bytes for {} events", record.columns_bytes, record.count));
}

}  // namespace

template <typename Event>
EventsRecord pack_events(std::span<const Event> events) {
  if (events.size() > kMostEventsInABatch) throw Error("a batch of events is too large for a capture", "", "");
  const std::vector<std::uint8_t> columns = to_columns(events);
  return {.kind = kKindOf<Event>,
          .count = static_cast<std::uint32_t>(events.size()),
          .columns_bytes = columns.size(),
          .zstd_columns = pack_frame(std::as_bytes(std::span(columns)), kBatchLevel, kBatch)};
}

template <typename Event>
std::vector<Event> unpack_events(const EventsRecord& record) {
  if (record.kind != kKindOf<Event>) throw malformed_batch("it holds events of another kind");
  check_sizes(record);
  return from_columns<Event>(unpack_frame(record.zstd_columns, record.columns_bytes, kBatch), record.count);
}

template EventsRecord pack_events(std::span<const RangeEvent>);
template EventsRecord pack_events(std::span<const CallEvent>);
template EventsRecord pack_events(std::span<const ActivityEvent>);
template EventsRecord pack_events(std::span<const GraphEvent>);
template std::vector<RangeEvent> unpack_events(const EventsRecord&);
template std::vector<CallEvent> unpack_events(const EventsRecord&);
template std::vector<ActivityEvent> unpack_events(const EventsRecord&);
template std::vector<GraphEvent> unpack_events(const EventsRecord&);

}  // namespace dlkprof::capture
