// Records to bytes and back. One list of fields a record (fields.h) drives both directions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dlkprof/capture_format.h"

namespace dlkprof::capture {

inline constexpr std::size_t kFileHeaderBytes = 16;
inline constexpr std::size_t kRecordHeaderBytes = 20;

// What a record's header says of its payload.
struct RecordHeader {
  RecordType type{};  // may be one that this version does not know
  std::uint32_t length = 0;
  std::uint32_t payload_crc = 0;
};

[[nodiscard]] RecordType type_of(const Record& record);

// Throws Error where a payload would exceed kMaxPayloadBytes.
[[nodiscard]] std::vector<std::uint8_t> encode_payload(const Record& record);
// None where the type is unknown; throws Error where the bytes are no such record. An enumerator that this version
// does not know is kept as it is.
[[nodiscard]] std::optional<Record> decode_payload(RecordType type, std::span<const std::uint8_t> payload);

// A whole record: header and payload.
[[nodiscard]] std::vector<std::uint8_t> encode_record(const Record& record);
// None where the bytes are no header, or a damaged one.
[[nodiscard]] std::optional<RecordHeader> decode_header(std::span<const std::uint8_t, kRecordHeaderBytes> bytes);

// What a capture begins with; the version of one, or none where the bytes begin no capture.
[[nodiscard]] std::vector<std::uint8_t> encode_file_header();
[[nodiscard]] std::optional<std::uint32_t> decode_file_header(std::span<const std::uint8_t, kFileHeaderBytes> bytes);

// CRC-32C (Castagnoli), RFC 3720 appendix B.4.
[[nodiscard]] std::uint32_t crc32c(std::span<const std::uint8_t> bytes);

// The image of RawCountersRecord, packed and unpacked (zstd). `base` is the image of base_launch_index, of the same size, or
// empty where there is none. unpack throws Error on hostile sizes, and where the base is not what the record needs.
[[nodiscard]] std::vector<std::uint8_t> pack_image(std::span<const std::uint8_t> image, std::span<const std::uint8_t> base = {});
[[nodiscard]] std::vector<std::uint8_t> unpack_image(const RawCountersRecord& record, std::span<const std::uint8_t> base = {});

// The ELF file of PcCodeRecord, likewise. Throw Error where it is larger than kMostCodeBytes, unpack also on hostile sizes.
[[nodiscard]] std::vector<std::uint8_t> pack_code(std::span<const char> elf);
[[nodiscard]] std::vector<char> unpack_code(std::span<const std::uint8_t> zstd_elf, std::uint64_t elf_bytes);

}  // namespace dlkprof::capture
