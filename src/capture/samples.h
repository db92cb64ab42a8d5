// Batches of counter samples to records and back.
//
// The columns are: starts (the first, then differences to the start before), lengths, then the values of each metric in turn,
// for all samples before the next metric begins. Times are base-128 varints, least significant group first, of zigzag-coded
// integers (bit 0 the sign). Values are 32-bit floats (counters are good for fewer digits), first all of the lowest bytes of a
// column, then those above, as neighbours differ least in the highest. All of it is one zstd frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dlkprof/capture_format.h"

namespace dlkprof::capture {

inline constexpr std::size_t kSamplesInABatch = 4096;
// More than these in one batch is hostile.
inline constexpr std::size_t kMostSamplesInABatch = std::size_t{1} << 20U;
inline constexpr std::size_t kMostSampleValuesInABatch = std::size_t{1} << 26U;

struct SampleBatch {
  std::vector<std::int64_t> start_ns, length_ns;
  std::vector<std::vector<float>> values;  // of each metric, one a sample; NaN where none came
};

// The record but for set, interval and losses.
[[nodiscard]] SamplesRecord pack_samples(const SampleBatch& batch);
// `metrics`: how many the record's set has. Throws Error where its bytes are no such batch.
[[nodiscard]] SampleBatch unpack_samples(const SamplesRecord& record, std::size_t metrics);

}  // namespace dlkprof::capture
