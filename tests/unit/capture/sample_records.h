// One record of each type, no field at its default: what a test writes and expects back.
#pragma once

#include <cmath>
#include <filesystem>
#include <vector>

#include "capture/encoding.h"
#include "capture/reader.h"
#include "dlkprof/capture_format.h"

namespace dlkprof::capture {

inline LaunchKey sample_key() {
  return {.device = 1, .function = 2, .grid = {3, 4, 5}, .block = {6, 7, 8}, .cluster = {9, 10, 11}, .dynamic_shared_bytes = 12};
}

inline std::vector<Record> sample_records() {
  return {
      ProcessRecord{101, 102, -103, "host", {"python", "", std::string("\xff\0 raw", 6)}, "0.1.0", 130001, 13000, R"({"a":1})"},
      DeviceRecord{1,     "NVIDIA H200", "GH100", "0000:01:00.0", 9,      1,    132,      32,           2048,    1024,   32,
                   65536, 65537,         233472,  49152,          232448, 1024, 62914560, 150754820096, 1980000, 3201000},
      FunctionRecord{7, "_ZN7cutlass7Kernel2IfEEvv", 168, 49153, 8, 560, 256, 50, 90},
      MetricSetRecord{3, 1, 10, {"sm__cycles_active.avg", "dram__bytes.sum"}, {"no__such.sum"}},
      LaunchRecord{
          1ULL << 40U, sample_key(), 13, 14, 15, 16, 3, ReplayMode::kernel, CacheControl::all, 17, -18, 19, {0.5, NAN, INFINITY}},
      RawCountersRecord{1ULL << 41U, 3, 5, {1, 2, 0, 255}, 7},
      KeyStatsRecord{{{sample_key(), 20, 21, 22, 23, 24, SkipReason::collective, 25, 26}, {.launches = 27}}, 28, 29, true},
      NoticeRecord{Severity::error, "what", "detail", "remedy"},
      EndRecord{-30, 31},
      StringsRecord{{{32, "cuLaunchKernel"}, {33, ""}, {34, std::string("\xfe\0raw", 5)}}},
      EventsRecord{EventKind::activity, 35, 36, {4, 0, 3, 254}},
      FactsRecord{{{"pytorch", "cudnn.benchmark", "false"}, {"", "", ""}}},
      ClockRecord{-37, 38},
      SamplesRecord{39, 40, 41, 42, 43, {5, 0, 2, 253}},
      PcSamplesRecord{1, 17, 39, 40, 41, 42, {{43, 1ULL << 42U, {{44, 1ULL << 43U}, {45, 46}}}, {47, 48, {}}}},
      PcNamesRecord{{{49, "stalled"}}, {{50, 1ULL << 63U, "_Z1fv"}}, {"/a.cu", ""}, {{51, 52, 53, 54}}},
      AbsenceRecord{55, 56},
      DetachRecord{57, 58, true, {{"step", {59, -60}}, {"", {}}}},
      PcCodeRecord{{61, 62}, 63, {6, 0, 1, 252}},
      SassCountsRecord{64, sample_key(), {"smsp__a", ""}, {{65, 1ULL << 44U, {{66, 1ULL << 45U}, {67, 68}}}, {69, 70, {}}}},
  };
}

// A capture's bytes: header and records.
inline std::vector<std::uint8_t> capture_bytes(const std::vector<Record>& records) {
  std::vector<std::uint8_t> bytes = encode_file_header();
  for (const Record& record : records) {
    const std::vector<std::uint8_t> encoded = encode_record(record);
    bytes.insert(bytes.end(), encoded.begin(), encoded.end());
  }
  return bytes;
}

// All records that a reader gives, encoded again: records have no operator==, and NaN is equal to nothing.
inline std::vector<std::vector<std::uint8_t>> read_all(Reader& reader) {
  std::vector<std::vector<std::uint8_t>> all;
  while (const std::optional<Record> record = reader.next()) all.push_back(encode_record(*record));
  return all;
}

inline std::vector<std::vector<std::uint8_t>> encode_all(const std::vector<Record>& records) {
  std::vector<std::vector<std::uint8_t>> all;
  all.reserve(records.size());
  for (const Record& record : records) all.push_back(encode_record(record));
  return all;
}

// The one of this type.
template <typename T>
T sample() {
  for (const Record& record : sample_records()) {
    if (const T* found = std::get_if<T>(&record)) return *found;
  }
  throw std::logic_error("no sample");
}

}  // namespace dlkprof::capture
