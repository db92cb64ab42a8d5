// NVPerf's host side for one chip: which metrics there are, what collecting them takes, and what raw counters mean.
// Needs no GPU and no driver. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "capture/options.h"

struct CUpti_Profiler_Host_Object;  // as cupti_profiler_host.h has it, without which those who ask a host compile

namespace dlkprof::cupti {

class Library;

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
  // Whether some of its counters are counted by instructions that CUPTI adds to the program's kernels: those of SASS
  // instructions, by the names that NVPerf gives them (smsp__sass_thread_inst_executed_op_fadd_pred_on.sum).
  [[nodiscard]] bool patches_code() const;
  // After so many it will never be complete: no plan has come near twice its passes.
  [[nodiscard]] std::size_t most_passes() const { return 2 * passes + 2; }
};

// What a host object plans for: kernels, or samples of a whole GPU taken at intervals, which differ in what counters can do.
enum class CollectBy : std::uint8_t { ranges, samples };

// Requests matched against what a chip offers.
struct ResolvedMetrics {
  std::vector<std::string> names;        // one for each request that the chip can answer, without repetition
  std::vector<std::string> unavailable;  // the first name of each request that it cannot
};

class Host {
 public:
  // `chip` as NVPerf names it (GH100); `availability` as cuptiProfilerGetCounterAvailability gives it, empty where
  // there is no GPU. Throws UsageError naming the chips there are where `chip` is unknown.
  [[nodiscard]] static Host create(const Library& library, const std::string& chip, std::vector<std::uint8_t> availability = {},
                                   CollectBy by = CollectBy::ranges);
  // The chips that create() takes.
  [[nodiscard]] static std::vector<std::string> chips(const Library& library);

  [[nodiscard]] const std::string& chip() const noexcept { return chip_; }
  [[nodiscard]] std::vector<std::string> base_metrics(MetricType type) const;
  // The forms of a base metric, with their leading dot: ".sum", ".avg.pct_of_peak_sustained_active", ...
  [[nodiscard]] std::vector<std::string> submetrics(const std::string& base, MetricType type) const;
  // Of a metric with or without its form. Throws Error where the chip has no such metric.
  [[nodiscard]] MetricProperties properties(const std::string& metric) const;
  // Whether the full metric name can be scheduled on this chip. A few milliseconds the first time that a name is asked for.
  [[nodiscard]] bool offers(const std::string& metric) const;
  // Of each request, the first name that the chip offers.
  [[nodiscard]] ResolvedMetrics resolve(const std::vector<capture::MetricRequest>& requests) const;

  // Throws Error: no metrics, or some that the chip does not offer.
  [[nodiscard]] CollectionPlan plan(const std::vector<std::string>& metrics) const;
  // Whether ranges need only the sums of its counters over their instances (counter_images.h).
  [[nodiscard]] bool can_sum(const CollectionPlan& plan) const;
  // Values of `metrics` in range `range` of a counter-data image, in order; NaN where the image does not hold what a
  // metric needs. Throws Error. NVPerf checks neither image nor range: use only on an image that was decoded in this
  // process, and evaluate_untrusted() on any other.
  [[nodiscard]] std::vector<double> evaluate(std::span<const std::uint8_t> image, std::size_t range,
                                             const std::vector<std::string>& metrics) const;
  // The same into `values`, one for each of `metrics`: for images with many ranges.
  void evaluate(std::span<const std::uint8_t> image, std::size_t range, std::span<const char* const> metrics,
                std::span<double> values) const;

 private:
  struct Deinitialize {
    const Library* library;
    void operator()(CUpti_Profiler_Host_Object* object) const noexcept;
  };
  using HostObject = std::unique_ptr<CUpti_Profiler_Host_Object, Deinitialize>;

  Host(const Library& library, std::string chip, std::vector<std::uint8_t> availability, CollectBy by,
       CUpti_Profiler_Host_Object* object);
  [[nodiscard]] HostObject new_object() const;
  [[nodiscard]] bool known(const std::string& metric) const;
  [[nodiscard]] bool schedulable(const std::vector<std::string>& metrics) const;
  void remember_offered(const std::vector<capture::MetricRequest>& requests) const;

  const Library* library_;
  std::string chip_;
  std::vector<std::uint8_t> availability_;  // objects refer to it for as long as they live
  CollectBy by_;
  HostObject object_;  // for questions; no metric is ever added to it
  mutable std::map<std::string, bool> offered_;
};

}  // namespace dlkprof::cupti
