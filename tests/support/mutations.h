// Captures changed at random, with good checksums, as no writer of ours would write them: what reads captures gets to see what
// is in them, not what a checksum says of it.
#pragma once

#include <zstd.h>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "capture/encoding.h"
#include "dlkprof/capture_format.h"

namespace dlkprof::test {

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  // A few changes of records, and of their order.
  [[nodiscard]] std::vector<capture::Record> mutate(std::vector<capture::Record> records) {
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) change_one(records);
    return records;
  }

 private:
  [[nodiscard]] std::size_t below(std::size_t end) { return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_); }

  void change_one(std::vector<capture::Record>& records) {
    const std::size_t one = below(records.size()), other = below(records.size());
    switch (below(8)) {
      case 0:
        return std::swap(records[one], records[other]);
      case 1:
        return records.push_back(capture::Record(records[one]));
      case 2:
        if (records.size() > 1) records.erase(records.begin() + static_cast<std::ptrdiff_t>(one));
        return;
      default:
        records[one] = changed(records[one]);
    }
  }

  // A record whose bytes cannot be decoded any more would be left out by the reader: it stays.
  [[nodiscard]] capture::Record changed(const capture::Record& record) {
    if (const auto* events = std::get_if<capture::EventsRecord>(&record)) return changed_columns(*events);
    std::vector<std::uint8_t> payload = capture::encode_payload(record);
    change_bytes(payload);
    try {
      return capture::decode_payload(capture::type_of(record), payload).value_or(record);
    } catch (const Error&) {
      return record;
    }
  }

  [[nodiscard]] capture::Record changed_columns(capture::EventsRecord record) {
    std::vector<std::uint8_t> columns(record.columns_bytes);
    const auto& packed = record.zstd_columns;
    if (ZSTD_isError(ZSTD_decompress(columns.data(), columns.size(), packed.data(), packed.size())) != 0) return record;
    change_bytes(columns);
    std::vector<std::uint8_t> frame(ZSTD_compressBound(columns.size()));
    frame.resize(ZSTD_compress(frame.data(), frame.size(), columns.data(), columns.size(), 1));
    record.columns_bytes = columns.size();
    record.zstd_columns = std::move(frame);
    return record;
  }

  // A byte, a bit, or a number of 8 bytes with an extreme value.
  void change_bytes(std::vector<std::uint8_t>& bytes) {
    static constexpr std::array<std::uint64_t, 6> kExtremes{
        0, 1, 0x7fff'ffff, 0xffff'ffff, 0x7fff'ffff'ffff'ffff, std::numeric_limits<std::uint64_t>::max()};
    if (bytes.empty()) return;
    const std::size_t at = below(bytes.size());
    const std::uint64_t extreme = kExtremes.at(below(kExtremes.size()));
    switch (below(3)) {
      case 0:
        bytes[at] = static_cast<std::uint8_t>(below(256));
        return;
      case 1:
        bytes[at] = static_cast<std::uint8_t>(bytes[at] ^ (1U << below(8)));
        return;
      default:
        for (std::size_t i = 0; i < sizeof extreme && at + i < bytes.size(); ++i)
          bytes[at + i] = static_cast<std::uint8_t>(extreme >> (8 * i));
    }
  }

  std::mt19937_64 random_;
};

}  // namespace dlkprof::test
