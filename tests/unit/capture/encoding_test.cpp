#include "capture/encoding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "base/error.h"
#include "sample_records.h"

namespace dlkprof::capture::encoding_test {
namespace {

using testing::ElementsAre;
using Bytes = std::vector<std::uint8_t>;

template <typename T>
T round_trip(const T& record) {
  return std::get<T>(decode_payload(type_of(record), encode_payload(record)).value());
}

TEST(RoundTrip, Process) {
  const auto a = sample<ProcessRecord>();
  const auto b = round_trip(a);
  EXPECT_EQ(b.pid, 101U);
  EXPECT_EQ(b.parent_pid, 102U);
  EXPECT_EQ(b.start_unix_ns, -103);
  EXPECT_EQ(b.host, "host");
  EXPECT_EQ(b.arguments, a.arguments);
  EXPECT_EQ(b.dlkprof_version, "0.1.0");
  EXPECT_EQ(b.cupti_version, 130001U);
  EXPECT_EQ(b.driver_version, 13000U);
  EXPECT_EQ(b.options_json, R"({"a":1})");
}

TEST(RoundTrip, Device) {
  const auto b = round_trip(sample<DeviceRecord>());
  EXPECT_EQ(b.index, 1U);
  EXPECT_EQ(b.name, "NVIDIA H200");
  EXPECT_EQ(b.chip, "GH100");
  EXPECT_EQ(b.pci_bus_id, "0000:01:00.0");
  EXPECT_EQ(b.cc_major, 9U);
  EXPECT_EQ(b.cc_minor, 1U);
  EXPECT_EQ(b.sm_count, 132U);
  EXPECT_EQ(b.warp_size, 32U);
  EXPECT_EQ(b.max_threads_per_sm, 2048U);
  EXPECT_EQ(b.max_threads_per_block, 1024U);
  EXPECT_EQ(b.max_blocks_per_sm, 32U);
  EXPECT_EQ(b.registers_per_sm, 65536U);
  EXPECT_EQ(b.registers_per_block, 65537U);
  EXPECT_EQ(b.shared_per_sm, 233472U);
  EXPECT_EQ(b.shared_per_block, 49152U);
  EXPECT_EQ(b.shared_per_block_optin, 232448U);
  EXPECT_EQ(b.shared_reserved_per_block, 1024U);
  EXPECT_EQ(b.l2_bytes, 62914560U);
  EXPECT_EQ(b.memory_bytes, 150754820096U);
  EXPECT_EQ(b.sm_clock_khz, 1980000U);
  EXPECT_EQ(b.memory_clock_khz, 3201000U);
}

TEST(RoundTrip, Function) {
  const auto b = round_trip(sample<FunctionRecord>());
  EXPECT_EQ(b.id, 7U);
  EXPECT_EQ(b.mangled_name, "_ZN7cutlass7Kernel2IfEEvv");
  EXPECT_EQ(b.registers_per_thread, 168U);
  EXPECT_EQ(b.static_shared_bytes, 49153U);
  EXPECT_EQ(b.local_bytes_per_thread, 8U);
  EXPECT_EQ(b.constant_bytes, 560U);
  EXPECT_EQ(b.max_threads_per_block, 256U);
  EXPECT_EQ(b.shared_carveout_percent, 50);
  EXPECT_EQ(b.binary_version, 90U);
}

TEST(RoundTrip, MetricSet) {
  const auto b = round_trip(sample<MetricSetRecord>());
  EXPECT_EQ(b.id, 3U);
  EXPECT_EQ(b.device, 1U);
  EXPECT_EQ(b.passes, 10U);
  EXPECT_THAT(b.metrics, ElementsAre("sm__cycles_active.avg", "dram__bytes.sum"));
  EXPECT_THAT(b.unavailable, ElementsAre("no__such.sum"));
}

TEST(RoundTrip, Launch) {
  const auto b = round_trip(sample<LaunchRecord>());
  EXPECT_EQ(b.index, 1ULL << 40U);
  EXPECT_EQ(b.key, sample_key());
  EXPECT_EQ(b.occurrence, 13U);
  EXPECT_EQ(b.context_id, 14U);
  EXPECT_EQ(b.stream_id, 15U);
  EXPECT_EQ(b.thread_id, 16U);
  EXPECT_EQ(b.metric_set, 3U);
  EXPECT_EQ(b.mode, ReplayMode::kernel);
  EXPECT_EQ(b.cache_control, CacheControl::all);
  EXPECT_EQ(b.passes, 17U);
  EXPECT_EQ(b.start_unix_ns, -18);
  EXPECT_EQ(b.cost_ns, 19U);
  EXPECT_THAT(b.values, ElementsAre(0.5, testing::NanSensitiveDoubleEq(NAN), INFINITY));
}

TEST(RoundTrip, RawCounters) {
  const auto b = round_trip(sample<RawCountersRecord>());
  EXPECT_EQ(b.launch_index, 1ULL << 41U);
  EXPECT_EQ(b.metric_set, 3U);
  EXPECT_EQ(b.image_bytes, 5U);
  EXPECT_THAT(b.zstd_image, ElementsAre(1, 2, 0, 255));
}

TEST(RoundTrip, KeyStats) {
  const auto b = round_trip(sample<KeyStatsRecord>());
  ASSERT_EQ(b.keys.size(), 2U);
  EXPECT_EQ(b.keys[0].key, sample_key());
  EXPECT_EQ(b.keys[0].launches, 20U);
  EXPECT_EQ(b.keys[0].matched, 21U);
  EXPECT_EQ(b.keys[0].measured, 22U);
  EXPECT_EQ(b.keys[0].near_missed, 23U);
  EXPECT_EQ(b.keys[0].skipped, 24U);
  EXPECT_EQ(b.keys[0].reason, SkipReason::collective);
  EXPECT_EQ(b.keys[0].timed, 25U);
  EXPECT_EQ(b.keys[0].timed_gpu_ns, 26U);
  EXPECT_EQ(b.keys[1].launches, 27U);
  EXPECT_EQ(b.graph_launches, 28U);
  EXPECT_EQ(b.graph_timed_gpu_ns, 29U);
  EXPECT_TRUE(b.timing_complete);
}

TEST(RoundTrip, NoticeAndEnd) {
  const auto notice = round_trip(sample<NoticeRecord>());
  EXPECT_EQ(notice.severity, Severity::error);
  EXPECT_EQ(notice.what, "what");
  EXPECT_EQ(notice.detail, "detail");
  EXPECT_EQ(notice.remedy, "remedy");
  const auto end = round_trip(sample<EndRecord>());
  EXPECT_EQ(end.end_unix_ns, -30);
  EXPECT_EQ(end.launches, 31U);
}

TEST(RoundTrip, Strings) {
  const auto a = sample<StringsRecord>();
  const auto b = round_trip(a);
  ASSERT_EQ(b.strings.size(), 3U);
  for (std::size_t i = 0; i < b.strings.size(); ++i) {
    EXPECT_EQ(b.strings[i].id, 32 + i);
    EXPECT_EQ(b.strings[i].text, a.strings[i].text);
  }
}

TEST(RoundTrip, Events) {
  const auto b = round_trip(sample<EventsRecord>());
  EXPECT_EQ(b.kind, EventKind::activity);
  EXPECT_EQ(b.count, 35U);
  EXPECT_EQ(b.columns_bytes, 36U);
  EXPECT_THAT(b.zstd_columns, ElementsAre(4, 0, 3, 254));
}

TEST(RoundTrip, FactsAndClock) {
  EXPECT_THAT(round_trip(sample<FactsRecord>()).facts,
              ElementsAre(Fact{"pytorch", "cudnn.benchmark", "false"}, Fact{"", "", ""}));
  const auto clock = round_trip(sample<ClockRecord>());
  EXPECT_EQ(clock.monotonic_ns, -37);
  EXPECT_EQ(clock.unix_ns, 38);
}

TEST(RoundTrip, Samples) {
  const auto b = round_trip(sample<SamplesRecord>());
  EXPECT_EQ(b.metric_set, 39U);
  EXPECT_EQ(b.interval_ns, 40U);
  EXPECT_EQ(b.count, 41U);
  EXPECT_EQ(b.lost, 42U);
  EXPECT_EQ(b.columns_bytes, 43U);
  EXPECT_THAT(b.zstd_columns, ElementsAre(5, 0, 2, 253));
}

TEST(RoundTrip, PcSamples) {
  const auto b = round_trip(sample<PcSamplesRecord>());
  EXPECT_EQ(b.device, 1U);
  EXPECT_EQ(b.period_log2, 17U);
  EXPECT_EQ(b.samples, 39U);
  EXPECT_EQ(b.foreign, 40U);
  EXPECT_EQ(b.dropped, 41U);
  EXPECT_EQ(b.overflows, 42U);
  ASSERT_EQ(b.counts.size(), 2U);
  EXPECT_EQ(b.counts[0].function, 43U);
  EXPECT_EQ(b.counts[0].offset, 1ULL << 42U);
  EXPECT_THAT(b.counts[0].stalls, ElementsAre(PcStall{44, 1ULL << 43U}, PcStall{45, 46}));
  EXPECT_THAT(b.counts[1].stalls, ElementsAre());
}

TEST(RoundTrip, PcNames) {
  const auto b = round_trip(sample<PcNamesRecord>());
  EXPECT_EQ(b.reasons.at(0).id, 49U);
  EXPECT_EQ(b.reasons.at(0).name, "stalled");
  EXPECT_EQ(b.functions.at(0).id, 50U);
  EXPECT_EQ(b.functions.at(0).cubin_crc, 1ULL << 63U);
  EXPECT_EQ(b.functions.at(0).mangled_name, "_Z1fv");
  EXPECT_THAT(b.files, ElementsAre("/a.cu", ""));
  EXPECT_EQ(b.lines.at(0).function, 51U);
  EXPECT_EQ(b.lines.at(0).offset, 52U);
  EXPECT_EQ(b.lines.at(0).file, 53U);
  EXPECT_EQ(b.lines.at(0).line, 54U);
}

TEST(RoundTrip, SassCounts) {
  const auto b = round_trip(sample<SassCountsRecord>());
  EXPECT_EQ(b.launch_index, 64U);
  EXPECT_EQ(b.key, sample_key());
  EXPECT_THAT(b.metrics, ElementsAre("smsp__a", ""));
  ASSERT_EQ(b.counts.size(), 2U);
  EXPECT_EQ(b.counts[0].function, 65U);
  EXPECT_EQ(b.counts[0].offset, 1ULL << 44U);
  EXPECT_THAT(b.counts[0].values, ElementsAre(SassValue{66, 1ULL << 45U}, SassValue{67, 68}));
  EXPECT_THAT(b.counts[1].values, ElementsAre());
}

TEST(RoundTrip, DefaultsOfEveryType) {
  for (const Record& record : sample_records()) {
    std::visit(
        [](const auto& r) {
          const Record fresh = std::remove_cvref_t<decltype(r)>{};
          EXPECT_EQ(encode_record(decode_payload(type_of(fresh), encode_payload(fresh)).value()), encode_record(fresh));
        },
        record);
  }
}

TEST(Types, AreThoseOfTheFormat) {
  std::vector<int> types;
  for (const Record& record : sample_records()) types.push_back(static_cast<int>(type_of(record)));
  EXPECT_THAT(types, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20));
  EXPECT_EQ(type_of(LaunchRecord{}), RecordType::launch);
  EXPECT_EQ(type_of(NoticeRecord{}), RecordType::notice);
  EXPECT_EQ(type_of(StringsRecord{}), RecordType::strings);
  EXPECT_EQ(type_of(EventsRecord{}), RecordType::events);
  EXPECT_EQ(type_of(FactsRecord{}), RecordType::facts);
  EXPECT_EQ(type_of(ClockRecord{}), RecordType::clock);
  EXPECT_EQ(type_of(SamplesRecord{}), RecordType::samples);
  EXPECT_EQ(type_of(PcSamplesRecord{}), RecordType::pc_samples);
  EXPECT_EQ(type_of(AbsenceRecord{}), RecordType::absence);
  EXPECT_EQ(type_of(DetachRecord{}), RecordType::detach);
  EXPECT_EQ(type_of(PcCodeRecord{}), RecordType::pc_code);
  EXPECT_EQ(type_of(SassCountsRecord{}), RecordType::sass_counts);
}

// The bytes themselves, so that files written today stay readable.
TEST(Layout, OfAPayload) {
  EXPECT_EQ(encode_payload(NoticeRecord{Severity::warning, "ab", "", "c"}),
            (Bytes{1, 2, 0, 0, 0, 'a', 'b', 0, 0, 0, 0, 1, 0, 0, 0, 'c'}));
  EXPECT_EQ(encode_payload(EndRecord{-2, 0x0102}), (Bytes{0xfe, 255, 255, 255, 255, 255, 255, 255, 2, 1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(encode_payload(StringsRecord{{{0x0102, "ab"}, {3, ""}}}),
            (Bytes{2, 0, 0, 0, 2, 1, 0, 0, 2, 0, 0, 0, 'a', 'b', 3, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(encode_payload(EventsRecord{EventKind::call, 4, 5, {6, 7}}),
            (Bytes{2, 4, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 6, 7}));
  EXPECT_EQ(encode_payload(FactsRecord{{{"a", "", "b"}}}), (Bytes{1, 0, 0, 0, 1, 0, 0, 0, 'a', 0, 0, 0, 0, 1, 0, 0, 0, 'b'}));
  EXPECT_EQ(encode_payload(AbsenceRecord{-2, 1}), (Bytes{254, 255, 255, 255, 255, 255, 255, 255, 1, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(encode_payload(ClockRecord{1, -2}), (Bytes{1, 0, 0, 0, 0, 0, 0, 0, 254, 255, 255, 255, 255, 255, 255, 255}));
}

TEST(Layout, OfHeaders) {
  EXPECT_EQ(encode_file_header(), (Bytes{'D', 'L', 'K', 'P', 'C', 'A', 'P', '\n', 1, 0, 0, 0, 0, 0, 0, 0}));
  const Bytes record = encode_record(EndRecord{1, 2});
  ASSERT_EQ(record.size(), kRecordHeaderBytes + 16);
  EXPECT_EQ(Bytes(record.begin(), record.begin() + 12), (Bytes{'D', 'M' - 1, 'K', 'R', 9, 0, 0, 0, 16, 0, 0, 0}));
  const std::uint32_t crc = crc32c(std::span(record).subspan(kRecordHeaderBytes));
  EXPECT_TRUE(std::equal(record.begin() + 12, record.begin() + 16, reinterpret_cast<const std::uint8_t*>(&crc)));
}

// Vectors of RFC 3720, appendix B.4.
TEST(Crc32c, KnownAnswers) {
  EXPECT_EQ(crc32c(Bytes(32, 0)), 0x8a9136aaU);
  EXPECT_EQ(crc32c(Bytes(32, 0xff)), 0x62a8ab43U);
  Bytes ascending(32);
  std::iota(ascending.begin(), ascending.end(), std::uint8_t{0});
  EXPECT_EQ(crc32c(ascending), 0x46dd794eU);
  std::reverse(ascending.begin(), ascending.end());
  EXPECT_EQ(crc32c(ascending), 0x113fdb5cU);
  EXPECT_EQ(crc32c({}), 0U);
}

TEST(Crc32c, EveryLengthAgreesWithTheDefinition) {
  Bytes bytes;
  for (std::uint32_t length = 0; length < 40; ++length) {
    std::uint32_t crc = ~0U;
    for (const std::uint8_t byte : bytes) {
      crc ^= byte;
      for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0x82f63b78U : 0U);
    }
    EXPECT_EQ(crc32c(bytes), ~crc) << length;
    bytes.push_back(static_cast<std::uint8_t>(length * 37 + 11));
  }
}

TEST(Code, ComesBackAsItWas) {
  const std::string elf = std::string(10'000, 'x') + "end";
  const std::vector<std::uint8_t> packed = pack_code(elf);
  EXPECT_LT(packed.size(), elf.size() / 10);
  const std::vector<char> unpacked = unpack_code(packed, elf.size());
  EXPECT_EQ(std::string(unpacked.begin(), unpacked.end()), elf);
}

TEST(Code, OfHostileSizesIsRefused) {
  const std::string elf(1000, 'x');
  std::vector<std::uint8_t> packed = pack_code(elf);
  for (const std::uint64_t bytes :
       {std::uint64_t{0}, std::uint64_t{999}, std::uint64_t{1001}, kMostCodeBytes + 1, ~std::uint64_t{0}})
    EXPECT_THROW((void)unpack_code(packed, bytes), Error) << bytes;
  packed.push_back(0);
  EXPECT_THROW((void)unpack_code(packed, elf.size()), Error) << "something follows";
  EXPECT_THROW((void)unpack_code({}, 0), Error);
  EXPECT_THROW((void)pack_code(std::string(kMostCodeBytes + 1, 'x')), Error);
  EXPECT_THROW((void)unpack_code(pack_code(std::string(100, 'x')), kMostCodeBytes), Error);
}

}  // namespace
}  // namespace dlkprof::capture::encoding_test
