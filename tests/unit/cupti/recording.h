// The recorded counter-data image of tests/data (see its README), and what NVPerf made of it where it was recorded.
#pragma once

#include <zstd.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

namespace dlkprof::test {

inline std::vector<std::uint8_t> recorded_image() {
  const std::string packed = read_file(DLKPROF_SOURCE_DIR "/tests/data/h200_cnn_b512.counterdata.zst");
  std::vector<std::uint8_t> image(ZSTD_getFrameContentSize(packed.data(), packed.size()));
  const std::size_t size = ZSTD_decompress(image.data(), image.size(), packed.data(), packed.size());
  if (size != image.size()) throw Error("the recording cannot be unpacked", ZSTD_getErrorName(size), "");
  return image;
}

// values[range][metric], as text.
struct Expected {
  std::vector<std::string> metrics;
  std::vector<std::vector<std::string>> values;
};

inline Expected expected_values() {
  Expected expected;
  for (const std::string& line : split(read_file(DLKPROF_SOURCE_DIR "/tests/data/h200_cnn_b512.expected.csv"), '\n')) {
    if (line.empty()) continue;
    std::vector<std::string> cells = split(line, ',');
    cells.erase(cells.begin(), cells.begin() + 2);  // index and kernel
    if (expected.metrics.empty()) {
      expected.metrics = std::move(cells);
    } else {
      expected.values.push_back(std::move(cells));
    }
  }
  return expected;
}

}  // namespace dlkprof::test
