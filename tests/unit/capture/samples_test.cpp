#include "capture/samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "base/error.h"

namespace dlkprof::capture::samples_test {
namespace {

SampleBatch some_samples(std::size_t count, std::size_t metrics) {
  std::mt19937 random(7);  // NOLINT: the same each time
  SampleBatch batch;
  batch.values.resize(metrics);
  std::int64_t at = 86'338'431'957;
  for (std::size_t i = 0; i < count; ++i) {
    batch.start_ns.push_back(at);
    batch.length_ns.push_back(9'984 + static_cast<std::int64_t>(random() % 32));
    at += batch.length_ns.back();
    for (auto& values : batch.values) values.push_back(static_cast<float>(random() % 1000) / 10);
  }
  return batch;
}

TEST(Samples, ComeBackAsTheyWere) {
  for (const std::size_t count : {0, 1, 2, 4096}) {
    const SampleBatch batch = some_samples(count, 3);
    const SamplesRecord record = pack_samples(batch);
    EXPECT_EQ(record.count, count);
    const SampleBatch again = unpack_samples(record, 3);
    EXPECT_EQ(again.start_ns, batch.start_ns);
    EXPECT_EQ(again.length_ns, batch.length_ns);
    EXPECT_EQ(again.values, batch.values);
  }
}

TEST(Samples, ExtremesComeBack) {
  SampleBatch batch;
  batch.start_ns = {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min(), 0};
  batch.length_ns = {-1, std::numeric_limits<std::int64_t>::max(), 0};
  batch.values = {{NAN, -INFINITY, std::numeric_limits<float>::denorm_min()}};
  const SampleBatch again = unpack_samples(pack_samples(batch), 1);
  EXPECT_EQ(again.start_ns, batch.start_ns);
  EXPECT_EQ(again.length_ns, batch.length_ns);
  EXPECT_TRUE(std::isnan(again.values[0][0]));
  EXPECT_EQ(again.values[0][1], -INFINITY);
  EXPECT_EQ(again.values[0][2], std::numeric_limits<float>::denorm_min());
}

TEST(Samples, TakeFewBytes) {
  SampleBatch batch = some_samples(4096, 10);
  for (auto& values : batch.values) values.assign(4096, 0.0F);  // an idle GPU
  EXPECT_LT(pack_samples(batch).zstd_columns.size(), 4096U * 4);
}

TEST(Samples, OfAnotherSetAreRefused) {
  const SamplesRecord record = pack_samples(some_samples(10, 3));
  EXPECT_THROW((void)unpack_samples(record, 2), Error);
  EXPECT_THROW((void)unpack_samples(record, 4), Error);
  EXPECT_THROW((void)unpack_samples(record, std::numeric_limits<std::size_t>::max()), Error);
}

TEST(Samples, FalseSizesAreRefusedBeforeMemoryIsTaken) {
  SamplesRecord record = pack_samples(some_samples(10, 3));
  SamplesRecord changed = record;
  changed.count = 0xffffffff;
  EXPECT_THROW((void)unpack_samples(changed, 3), Error);
  changed = record;
  changed.columns_bytes = std::uint64_t{1} << 60U;
  EXPECT_THROW((void)unpack_samples(changed, 3), Error);
  changed = record;
  changed.zstd_columns.push_back(0);
  EXPECT_THROW((void)unpack_samples(changed, 3), Error);
  changed.zstd_columns.clear();
  EXPECT_THROW((void)unpack_samples(changed, 3), Error);
}

TEST(Samples, DamagedOnesNeverCrash) {
  std::mt19937 random(1);  // NOLINT: the same noise each time
  const SamplesRecord record = pack_samples(some_samples(50, 2));
  for (int i = 0; i < 5000; ++i) {
    SamplesRecord changed = record;
    changed.zstd_columns[random() % changed.zstd_columns.size()] ^= static_cast<std::uint8_t>(1U << (random() % 8));
    try {
      EXPECT_EQ(unpack_samples(changed, 2).start_ns.size(), 50U);
    } catch (const Error&) {  // most damage is seen
    }
  }
}

}  // namespace
}  // namespace dlkprof::capture::samples_test
