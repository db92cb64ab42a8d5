// Evaluates kept counter-data images with NVPerf, on any machine that has CUPTI; no GPU is needed.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dlkprof/capture_format.h"

namespace dlkprof::model {

// Opens CUPTI at the first image and one NVPerf host a chip. Not thread-safe.
class RawEvaluator {
 public:
  // `extra_metrics` are evaluated besides those of the set, as far as the chip and the image have them.
  RawEvaluator(std::filesystem::path cupti_path, std::vector<std::string> extra_metrics);
  ~RawEvaluator();
  RawEvaluator(const RawEvaluator&) = delete;
  RawEvaluator& operator=(const RawEvaluator&) = delete;

  // Metric sets have numbers of their own in each capture.
  void begin_capture();

  // Metric to value, non-finite ones left out; none where the image cannot be evaluated.
  [[nodiscard]] std::optional<std::map<std::string, double>> evaluate(const capture::RawCountersRecord& raw,
                                                                      const capture::MetricSetRecord& set,
                                                                      const std::string& chip);

  // Why images or metrics could not be evaluated, each reason once.
  [[nodiscard]] const std::vector<capture::NoticeRecord>& notices() const noexcept { return notices_; }

 private:
  struct Chip;  // keeps CUPTI's headers out of here

  void note(const std::string& what, const std::string& detail, const std::string& remedy);
  // Extra metrics that images of `set` answer; probed with the first of them.
  const std::vector<std::string>& extras(Chip& chip, const capture::MetricSetRecord& set, const std::vector<std::uint8_t>& image);

  std::filesystem::path cupti_path_;
  std::vector<std::string> extra_metrics_;
  std::map<std::string, std::unique_ptr<Chip>> chips_;
  // The image that others of a metric set build on.
  struct Base {
    std::uint64_t launch_index = capture::kNoBase;
    std::vector<std::uint8_t> image;
  };
  [[nodiscard]] std::vector<std::uint8_t> unpack(const capture::RawCountersRecord& raw);
  std::map<std::uint32_t, Base> bases_;  // by metric set
  std::vector<capture::NoticeRecord> notices_;
};

}  // namespace dlkprof::model
