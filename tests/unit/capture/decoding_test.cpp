#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "capture/encoding.h"
#include "sample_records.h"

namespace dlkprof::capture::decoding_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

TEST(Decoding, UnknownTypesAreNone) {
  EXPECT_FALSE(decode_payload(static_cast<RecordType>(0), {}));
  EXPECT_FALSE(decode_payload(static_cast<RecordType>(21), {}));
  EXPECT_FALSE(decode_payload(static_cast<RecordType>(65535), {}));
}

TEST(Decoding, AppendedFieldsAreIgnored) {
  for (const Record& record : sample_records()) {
    Bytes payload = encode_payload(record);
    const Bytes old = payload;
    payload.insert(payload.end(), {1, 2, 3, 4, 5});
    EXPECT_EQ(encode_payload(decode_payload(type_of(record), payload).value()), old);
  }
}

TEST(Decoding, FieldsNotThereKeepTheirDefaults) {
  Bytes payload = encode_payload(sample<FunctionRecord>());
  payload.resize(payload.size() - 8);  // without shared_carveout_percent and binary_version
  const auto record = std::get<FunctionRecord>(decode_payload(RecordType::function, payload).value());
  EXPECT_EQ(record.max_threads_per_block, 256U);
  EXPECT_EQ(record.shared_carveout_percent, -1);
  EXPECT_EQ(record.binary_version, 0U);
}

// A payload cut between two fields is an older record, one cut within a field is none.
TEST(Decoding, CutWithinAFieldIsAnError) {
  for (const Record& record : sample_records()) {
    const Bytes payload = encode_payload(record);
    std::size_t whole = 0;
    for (std::size_t length = 0; length < payload.size(); ++length) {
      try {
        const auto decoded = decode_payload(type_of(record), std::span(payload).first(length));
        ASSERT_TRUE(decoded);
        const Bytes again = encode_payload(*decoded);
        EXPECT_TRUE(std::equal(payload.begin(), payload.begin() + static_cast<std::ptrdiff_t>(length), again.begin()));
        ++whole;
      } catch (const Error&) {  // expected within a field
      }
    }
    EXPECT_GE(whole, 1U);  // the empty one
    EXPECT_LT(whole, payload.size());
  }
}

TEST(Decoding, CountsAreCheckedBeforeMemoryIsTaken) {
  const Bytes huge_text{0, 0xff, 0xff, 0xff, 0xff, 'a'};
  EXPECT_THROW((void)decode_payload(RecordType::notice, huge_text), Error);
  const Bytes huge_keys{0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0};
  EXPECT_THROW((void)decode_payload(RecordType::key_stats, huge_keys), Error);
  EXPECT_THROW((void)decode_payload(RecordType::strings, Bytes{2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}), Error);
  EXPECT_THROW((void)decode_payload(RecordType::facts, Bytes{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}), Error);
  const Bytes huge_events{1, 1, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f, 0};
  EXPECT_THROW((void)decode_payload(RecordType::events, huge_events), Error);
  Bytes huge_strings = encode_payload(MetricSetRecord{});
  huge_strings[12] = 2;  // two metrics, where bytes for one are left
  huge_strings.resize(16 + 4);
  EXPECT_THROW((void)decode_payload(RecordType::metric_set, huge_strings), Error);
  Bytes huge_counts = encode_payload(PcSamplesRecord{});
  std::fill(huge_counts.end() - 4, huge_counts.end(), std::uint8_t{0xff});
  EXPECT_THROW((void)decode_payload(RecordType::pc_samples, huge_counts), Error);
  EXPECT_THROW((void)decode_payload(RecordType::pc_names, Bytes{0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0x0f}), Error);
}

TEST(Decoding, OnlyZeroAndOneAreBooleans) {
  Bytes payload = encode_payload(KeyStatsRecord{.timing_complete = true});
  ASSERT_EQ(payload.back(), 1);
  payload.back() = 2;
  EXPECT_THROW((void)decode_payload(RecordType::key_stats, payload), Error);
}

TEST(Decoding, NoiseNeverCrashes) {
  std::mt19937 random(1);  // NOLINT: the same noise each time
  for (int i = 0; i < 20000; ++i) {
    Bytes noise(random() % 200);
    for (auto& byte : noise) byte = static_cast<std::uint8_t>(random() % 3 == 0 ? random() : 0);
    try {
      const auto decoded = decode_payload(static_cast<RecordType>(random() % 18), noise);
      EXPECT_LE(decoded ? encode_payload(*decoded).size() : 0, noise.size() + 256);
    } catch (const Error&) {  // most noise is no record
    }
  }
}

TEST(Headers, EveryFlippedBitIsNoticed) {
  const Bytes record = encode_record(EndRecord{1, 2});
  std::array<std::uint8_t, kRecordHeaderBytes> header{};
  std::copy_n(record.begin(), header.size(), header.begin());
  const auto good = decode_header(header);
  ASSERT_TRUE(good);
  EXPECT_EQ(good->type, RecordType::end);
  EXPECT_EQ(good->length, 16U);
  for (std::size_t bit = 0; bit < 8 * header.size(); ++bit) {
    auto flipped = header;
    flipped.at(bit / 8) ^= static_cast<std::uint8_t>(1U << (bit % 8));
    EXPECT_FALSE(decode_header(flipped)) << bit;
  }
}

}  // namespace
}  // namespace dlkprof::capture::decoding_test
