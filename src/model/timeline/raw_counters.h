// Evaluates kept counter-data images with NVPerf, on any machine that has CUPTI; no GPU is needed.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dlkprof/capture_format.h"

namespace dlkprof::model {

// Opens CUPTI at the first image that is to be evaluated, and one NVPerf host a chip. Not thread-safe.
class RawEvaluator {
 public:
  // `extra_metrics` are evaluated besides those of the set, as far as the chip and the image have them.
  RawEvaluator(std::filesystem::path cupti_path, std::vector<std::string> extra_metrics);
  ~RawEvaluator();
  RawEvaluator(const RawEvaluator&) = delete;
  RawEvaluator& operator=(const RawEvaluator&) = delete;

  // Metric sets have numbers of their own in each capture.
  void begin_capture();

  // Metric to value of what is asked for and not stored, non-finite values left out. `stored`: the values of the set's metrics
  // are, as profiling evaluated them. None where nothing is asked for, or the image cannot be evaluated.
  [[nodiscard]] std::optional<std::map<std::string, double>> evaluate(capture::RawCountersRecord&& raw,
                                                                      const capture::MetricSetRecord& set,
                                                                      const std::string& chip, bool stored);

  // Why images or metrics could not be evaluated, each reason once.
  [[nodiscard]] const std::vector<capture::NoticeRecord>& notices() const noexcept { return notices_; }

 private:
  struct Chip;  // keeps CUPTI's headers out of here
  // The image that others of a metric set build on; unpacked where one of them is evaluated.
  struct Base {
    capture::RawCountersRecord record;
    std::vector<std::uint8_t> image;
  };
  using Values = std::map<std::string, double>;

  void note(const std::string& what, const std::string& detail, const std::string& remedy);
  [[nodiscard]] bool asks_for_more(const capture::MetricSetRecord& set) const;
  [[nodiscard]] Chip& chip_of(const std::string& name);
  [[nodiscard]] std::optional<Values> evaluate_on(Chip& chip, const capture::RawCountersRecord& raw,
                                                  const capture::MetricSetRecord& set, bool stored);
  // Extra metrics that images of `set` answer; probed with the first of them.
  const std::vector<std::string>& extras(Chip& chip, const capture::MetricSetRecord& set, const std::vector<std::uint8_t>& image);
  [[nodiscard]] std::vector<std::uint8_t> unpack(const capture::RawCountersRecord& raw);
  [[nodiscard]] std::span<const std::uint8_t> base_image(const capture::RawCountersRecord& raw);
  void keep_base(capture::RawCountersRecord&& raw);

  std::filesystem::path cupti_path_;
  std::vector<std::string> extra_metrics_;
  std::map<std::string, std::unique_ptr<Chip>> chips_;
  std::map<std::uint32_t, Base> bases_;  // by metric set
  std::vector<capture::NoticeRecord> notices_;
  std::size_t failures_ = 0, failed_bytes_ = 0;
};

}  // namespace dlkprof::model
