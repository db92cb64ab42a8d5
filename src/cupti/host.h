// NVPerf's host side for one chip: which metrics there are, what collecting them takes, and what raw counters mean.
// Needs no GPU and no driver. Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "capture/options.h"
#include "cupti/library.h"

namespace dlkprof::cupti {

enum class MetricType : std::uint8_t { counter, ratio, throughput };

struct MetricProperties {
  std::string description;
  std::string hardware_unit;  // sm, l1tex, lts, dram, ...
  std::string unit;           // NVPerf's dimension: byte/second, percent, ...
  MetricType type = MetricType::counter;
};

// What the target needs to collect a list of metrics.
struct CollectionPlan {
  std::vector<std::string> metrics;
  std::vector<std::uint8_t> config_image;
  std::size_t passes = 0;
};

// Requests matched against what a chip offers.
struct ResolvedMetrics {
  std::vector<std::string> names;        // one for each request that the chip can answer, without repetition
  std::vector<std::string> unavailable;  // the first name of each request that it cannot
};

class Host {
 public:
  // `chip` as NVPerf names it (GH100); `availability` as cuptiProfilerGetCounterAvailability gives it, empty where
  // there is no GPU. Throws UsageError naming the chips there are where `chip` is unknown.
  [[nodiscard]] static Host create(const Library& library, const std::string& chip,
                                   std::vector<std::uint8_t> availability = {});
  [[nodiscard]] static std::vector<std::string> chips(const Library& library);

  Host(Host&& other) noexcept;
  Host& operator=(Host&& other) noexcept;
  ~Host();

  [[nodiscard]] const std::string& chip() const noexcept { return chip_; }
  [[nodiscard]] std::vector<std::string> base_metrics(MetricType type) const;
  // The forms of a base metric, with their leading dot: ".sum", ".avg.pct_of_peak_sustained_active", ...
  [[nodiscard]] std::vector<std::string> submetrics(const std::string& base, MetricType type) const;
  // Throws Error where the chip has no such metric.
  [[nodiscard]] MetricProperties properties(const std::string& metric) const;
  // Whether the full metric name can be scheduled on this chip.
  [[nodiscard]] bool offers(const std::string& metric) const;
  [[nodiscard]] ResolvedMetrics resolve(const std::vector<capture::MetricRequest>& requests) const;

  [[nodiscard]] CollectionPlan plan(const std::vector<std::string>& metrics) const;
  // Values of `metrics` in range `range` of a counter-data image, in order; throws Error.
  [[nodiscard]] std::vector<double> evaluate(std::span<const std::uint8_t> image, std::size_t range,
                                             const std::vector<std::string>& metrics) const;

 private:
  Host(const Library& library, std::string chip, std::vector<std::uint8_t> availability, CUpti_Profiler_Host_Object* object);

  const Library* library_;
  std::string chip_;
  std::vector<std::uint8_t> availability_;
  CUpti_Profiler_Host_Object* object_ = nullptr;
};

}  // namespace dlkprof::cupti
