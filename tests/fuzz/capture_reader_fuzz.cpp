// A capture file is hostile input: whatever its bytes, reading it must neither crash, hang nor take memory on the
// file's word. The first byte of the input picks the door that the rest goes in by.
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include <cstdlib>
#include <span>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "capture/encoding.h"
#include "capture/events.h"
#include "capture/options.h"
#include "capture/reader.h"
#include "capture/samples.h"

namespace {

using namespace dlkprof;           // NOLINT(google-build-using-namespace)
using namespace dlkprof::capture;  // NOLINT(google-build-using-namespace)
using Bytes = std::span<const std::uint8_t>;

void require(bool holds) {
  if (!holds) std::abort();
}

template <typename Event>
void unpack(const EventsRecord& record) {
  const std::vector<Event> events = unpack_events<Event>(record);
  require(events.size() == record.count);
  require(unpack_events<Event>(pack_events(std::span<const Event>(events))) == events);
}

void unpack(const EventsRecord& record) {
  switch (record.kind) {
    case EventKind::range:
      return unpack<RangeEvent>(record);
    case EventKind::call:
      return unpack<CallEvent>(record);
    case EventKind::activity:
      return unpack<ActivityEvent>(record);
    case EventKind::graph:
      return unpack<GraphEvent>(record);
  }
}

// As if its set had so many metrics as the set's number says.
void unpack(const SamplesRecord& record) {
  const std::size_t metrics = record.metric_set % 8;
  const SampleBatch batch = unpack_samples(record, metrics);
  require(batch.start_ns.size() == record.count && batch.length_ns.size() == record.count && batch.values.size() == metrics);
  const SampleBatch again = unpack_samples(pack_samples(batch), metrics);
  require(again.start_ns == batch.start_ns && again.length_ns == batch.length_ns);
}

// What readers of a record do with it, and what must hold of one that was decoded.
void use(const Record& record) {
  const std::vector<std::uint8_t> payload = encode_payload(record);
  const std::optional<Record> again = decode_payload(type_of(record), payload);
  require(again && encode_payload(*again) == payload);
  if (const auto* raw = std::get_if<RawCountersRecord>(&record)) require(unpack_image(*raw).size() == raw->image_bytes);
  if (const auto* events = std::get_if<EventsRecord>(&record)) unpack(*events);
  if (const auto* samples = std::get_if<SamplesRecord>(&record)) unpack(*samples);
  if (const auto* function = std::get_if<FunctionRecord>(&record)) {
    require(!function_base_name(function->mangled_name).empty() || function->mangled_name.empty());
    require(printable(function->mangled_name, 80).size() <= 4 * 80);
  }
  if (const auto* process = std::get_if<ProcessRecord>(&record)) (void)options_from_json(process->options_json);
}

void use_if_good(const auto& make) {
  try {
    if (const std::optional<Record> record = make()) use(*record);
  } catch (const Error&) {  // an answer as good as any
  }
}

void read_file_of(Bytes bytes) {
  const UniqueFd file(memfd_create("capture", MFD_CLOEXEC));
  const std::string path = "/proc/self/fd/" + std::to_string(file.get());
  write_all(file.get(), bytes, path);
  try {
    Reader reader = Reader::open(path);
    while (const std::optional<Record> record = reader.next()) use_if_good([&] { return record; });
    const ReadState& state = reader.state();
    require(state.bytes <= bytes.size() && state.cut == (state.bytes < bytes.size()));
  } catch (const Error&) {  // not a capture
  }
}

// The payload in a frame with good checksums, which the fuzzer would hardly find.
void read_framed(RecordType type, Bytes payload) {
  use_if_good([&] { return decode_payload(type, payload); });
}

// Columns in a good frame: two bytes say of how many events of which kind.
std::optional<Record> events_of(Bytes bytes) {
  if (bytes.size() < 2) return std::nullopt;
  const Bytes columns = bytes.subspan(2);
  std::vector<std::uint8_t> frame(ZSTD_compressBound(columns.size()));
  frame.resize(ZSTD_compress(frame.data(), frame.size(), columns.data(), columns.size(), 1));
  return EventsRecord{static_cast<EventKind>(1 + bytes[0] % 3), bytes[1], columns.size(), frame};
}

std::optional<Record> samples_of(Bytes bytes) {
  if (bytes.size() < 2) return std::nullopt;
  const Bytes columns = bytes.subspan(2);
  std::vector<std::uint8_t> frame(ZSTD_compressBound(columns.size()));
  frame.resize(ZSTD_compress(frame.data(), frame.size(), columns.data(), columns.size(), 1));
  return SamplesRecord{bytes[0], 10'000, bytes[1], 0, columns.size(), frame};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Bytes rest(data + 1, size - 1);
  const std::string text(rest.begin(), rest.end());
  switch (data[0] % 32) {
    case 0:
      read_file_of(rest);
      break;
    case 16:
      use_if_good([&] { return std::optional<Record>(RawCountersRecord{0, 0, size * size, {rest.begin(), rest.end()}}); });
      break;
    case 17:
      use_if_good([&] { return std::optional<Record>(FunctionRecord{.mangled_name = text}); });
      break;
    case 18:
      use_if_good([&] { return std::optional<Record>(ProcessRecord{.options_json = text}); });
      break;
    case 19:
      use_if_good([&] { return events_of(rest); });
      break;
    case 20:
      use_if_good([&] { return samples_of(rest); });
      break;
    default:
      read_framed(static_cast<RecordType>(data[0] % 32), rest);
  }
  return 0;
}
