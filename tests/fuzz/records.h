// Captures as fuzzers write them: records without headers, checksums and packing, which hardly a mutant would get right, so that
// what is mutated is what readers see. A record is its type, the length of its payload (two bytes, little-endian) and that;
// the payload of events begins with their kind and their number (two bytes), and goes on with the columns.
#pragma once

#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "capture/encoding.h"

namespace dlkprof::fuzz {

using Bytes = std::span<const std::uint8_t>;

struct RawRecord {
  std::uint8_t type = 0;
  std::vector<std::uint8_t> payload;
};

inline std::vector<RawRecord> split_records(Bytes bytes) {
  std::vector<RawRecord> records;
  while (bytes.size() >= 3) {
    const std::size_t length = std::min<std::size_t>(bytes[1] | (bytes[2] << 8U), bytes.size() - 3);
    const Bytes payload = bytes.subspan(3, length);
    records.push_back({bytes[0], {payload.begin(), payload.end()}});
    bytes = bytes.subspan(3 + length);
  }
  return records;
}

inline void join_record(std::vector<std::uint8_t>& out, const RawRecord& record) {
  const auto length = static_cast<std::uint16_t>(std::min<std::size_t>(record.payload.size(), UINT16_MAX));
  out.insert(out.end(), {record.type, static_cast<std::uint8_t>(length & 0xffU), static_cast<std::uint8_t>(length >> 8U)});
  out.insert(out.end(), record.payload.begin(), record.payload.begin() + length);
}

inline std::vector<std::uint8_t> packed(Bytes columns) {
  std::vector<std::uint8_t> frame(ZSTD_compressBound(columns.size()));
  frame.resize(ZSTD_compress(frame.data(), frame.size(), columns.data(), columns.size(), 1));
  return frame;
}

// None where the payload is no such record.
inline std::optional<capture::Record> record_of(const RawRecord& raw) {
  const Bytes bytes = raw.payload;
  try {
    if (static_cast<capture::RecordType>(raw.type) != capture::RecordType::events)
      return capture::decode_payload(static_cast<capture::RecordType>(raw.type), bytes);
    if (bytes.size() < 3) return std::nullopt;
    const auto count = static_cast<std::uint32_t>(bytes[1] | (bytes[2] << 8U));
    return capture::EventsRecord{static_cast<capture::EventKind>(bytes[0]), count, bytes.size() - 3, packed(bytes.subspan(3))};
  } catch (const Error&) {
    return std::nullopt;
  }
}

// The other way round.
inline RawRecord raw_of(const capture::Record& record) {
  RawRecord raw{static_cast<std::uint8_t>(capture::type_of(record)), {}};
  const auto* events = std::get_if<capture::EventsRecord>(&record);
  if (events == nullptr) {
    raw.payload = capture::encode_payload(record);
    return raw;
  }
  raw.payload.resize(3 + events->columns_bytes);
  raw.payload[0] = static_cast<std::uint8_t>(events->kind);
  raw.payload[1] = static_cast<std::uint8_t>(events->count & 0xffU);
  raw.payload[2] = static_cast<std::uint8_t>(events->count >> 8U);
  ZSTD_decompress(raw.payload.data() + 3, events->columns_bytes, events->zstd_columns.data(), events->zstd_columns.size());
  return raw;
}

// A capture of all records that are any.
inline std::vector<std::uint8_t> capture_of(Bytes bytes) {
  std::vector<std::uint8_t> file = capture::encode_file_header();
  for (const RawRecord& raw : split_records(bytes)) {
    if (const std::optional<capture::Record> record = record_of(raw)) {
      const std::vector<std::uint8_t> whole = capture::encode_record(*record);
      file.insert(file.end(), whole.begin(), whole.end());
    }
  }
  return file;
}

}  // namespace dlkprof::fuzz
