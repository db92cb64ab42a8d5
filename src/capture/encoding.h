// Record payloads to bytes and back. One list of fields a record (fields.h style) drives both directions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dlkprof/capture_format.h"

namespace dlkprof::capture {

[[nodiscard]] RecordType type_of(const Record& record);
[[nodiscard]] std::vector<std::uint8_t> encode_payload(const Record& record);
// None where the type is unknown; throws Error where the bytes are no such record.
[[nodiscard]] std::optional<Record> decode_payload(RecordType type, std::span<const std::uint8_t> payload);
// CRC-32C (Castagnoli), RFC 3720 appendix B.4.
[[nodiscard]] std::uint32_t crc32c(std::span<const std::uint8_t> bytes);

// A whole record: header and payload.
[[nodiscard]] std::vector<std::uint8_t> encode_record(const Record& record);

// The image of RawCountersRecord, packed and unpacked (zstd). unpack throws Error on hostile sizes.
[[nodiscard]] std::vector<std::uint8_t> pack_image(std::span<const std::uint8_t> image);
[[nodiscard]] std::vector<std::uint8_t> unpack_image(const RawCountersRecord& record);

}  // namespace dlkprof::capture
