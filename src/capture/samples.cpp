#include "capture/samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"
#include "capture/events.h"
#include "capture/frame.h"
#include "capture/varint.h"

namespace dlkprof::capture {
namespace {

// The program's cores are the program's; values pack hardly better at higher levels.
constexpr int kSamplesLevel = 1;
constexpr std::size_t kMostVarintBytes = 10;
constexpr std::size_t kFloatBytes = sizeof(float);

constexpr const char* kSamplesBatch = "a batch of samples of the capture";

Error malformed_samples(std::string detail) {
  return {fmt::format("{} cannot be unpacked", kSamplesBatch), std::move(detail), ""};
}

void put_times(std::vector<std::uint8_t>& bytes, const std::vector<std::int64_t>& times, bool differences) {
  std::uint64_t last = 0;
  for (const std::int64_t time : times) {
    const auto value = static_cast<std::uint64_t>(time);
    put_varint(bytes, zigzag(value - last));
    if (differences) last = value;
  }
}

std::vector<std::int64_t> take_times(std::span<const std::uint8_t>& bytes, std::size_t count, bool differences) {
  std::vector<std::int64_t> times(count);
  std::uint64_t last = 0;
  for (std::int64_t& time : times) {
    std::uint64_t code = 0;
    if (!take_varint(bytes, code)) throw malformed_samples("its times are cut");
    const std::uint64_t value = last + unzigzag(code);
    time = static_cast<std::int64_t>(value);
    if (differences) last = value;
  }
  return times;
}

void put_values(std::vector<std::uint8_t>& bytes, const std::vector<float>& values) {
  for (std::size_t plane = 0; plane < kFloatBytes; ++plane) {
    for (const float value : values) {
      bytes.push_back(static_cast<std::uint8_t>(std::bit_cast<std::uint32_t>(value) >> (8 * plane)));
    }
  }
}

std::vector<float> take_values(std::span<const std::uint8_t>& bytes, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t bits = 0;
    for (std::size_t plane = 0; plane < kFloatBytes; ++plane) {
      bits |= std::uint32_t{bytes[plane * count + i]} << (8 * plane);
    }
    values[i] = std::bit_cast<float>(bits);
  }
  bytes = bytes.subspan(count * kFloatBytes);
  return values;
}

// What the record and our limits say of the sizes must agree before memory is taken.
void check_sample_sizes(const SamplesRecord& record, std::size_t metrics) {
  if (record.count > kMostSamplesInABatch || metrics > kMostSampleValuesInABatch / std::max<std::size_t>(record.count, 1)) {
    throw malformed_samples(fmt::format("it is said to hold {} samples", record.count));
  }
  const std::uint64_t values = std::uint64_t{record.count} * metrics * kFloatBytes;
  const bool plausible = record.columns_bytes >= values + 2 * std::uint64_t{record.count} &&
                         record.columns_bytes <= values + 2 * kMostVarintBytes * record.count &&
                         !packs_too_well(record.columns_bytes, record.zstd_columns.size());
  if (!plausible) {
    throw malformed_samples(
        fmt::format("its size is given as {} bytes for {} samples of {} metrics", record.columns_bytes, record.count, metrics));
  }
}

}  // namespace

SamplesRecord pack_samples(const SampleBatch& batch) {
  const std::size_t count = batch.start_ns.size();
  if (count > kMostSamplesInABatch) throw Error("a batch of samples is too large for a capture", "", "");
  std::vector<std::uint8_t> columns;
  columns.reserve(count * (2 * kMostVarintBytes + batch.values.size() * kFloatBytes));
  put_times(columns, batch.start_ns, true);
  put_times(columns, batch.length_ns, false);
  for (const auto& values : batch.values) put_values(columns, values);
  SamplesRecord record;
  record.count = static_cast<std::uint32_t>(count);
  record.columns_bytes = columns.size();
  record.zstd_columns = pack_frame(std::as_bytes(std::span(columns)), kSamplesLevel, kSamplesBatch);
  return record;
}

SampleBatch unpack_samples(const SamplesRecord& record, std::size_t metrics) {
  check_sample_sizes(record, metrics);
  const std::vector<std::uint8_t> columns = unpack_frame(record.zstd_columns, record.columns_bytes, kSamplesBatch);
  std::span<const std::uint8_t> left(columns);
  SampleBatch batch;
  batch.start_ns = take_times(left, record.count, true);
  batch.length_ns = take_times(left, record.count, false);
  if (left.size() != std::size_t{record.count} * metrics * kFloatBytes) throw malformed_samples("its columns are cut");
  for (std::size_t metric = 0; metric < metrics; ++metric) batch.values.push_back(take_values(left, record.count));
  return batch;
}

}  // namespace dlkprof::capture
