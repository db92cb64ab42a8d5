// Sampling of one GPU (cupti/pm_sampler.h), in bursts: the GPU writes samples into a buffer for some 40 ms, then they are read,
// which takes the host some 8 times as long as taking them. So short intervals can be kept up with, at the price of gaps between
// bursts. The groups of metrics that fit one pass each take their bursts in turn.
//
// Used by the sampling thread alone, so that NVPerf's objects are made and used by one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "capture/options.h"
#include "capture/samples.h"
#include "cupti/host.h"
#include "cupti/pm_sampler.h"
#include "cupti/sampling_plan.h"
#include "dlkprof/capture_format.h"

namespace dlkprof::inject {

class DeviceSampling {
 public:
  struct Output {
    std::function<std::uint32_t(capture::MetricSetRecord)> on_set;  // gives it its number
    std::function<void(const capture::SamplesRecord&)> on_samples;
    std::function<void(capture::Severity, const std::string& what, const std::string& detail, const std::string& remedy)> note;
    std::function<void(bool)> on_computing;  // begins or ends what needs neither driver nor GPU
  };
  // `interval_ns`: 0 for a short one, which grows where the hardware's buffer is full too soon. Takes some 0.3 s. Throws Error.
  DeviceSampling(const cupti::Library& library, const capture::DeviceRecord& device,
                 const std::vector<capture::MetricRequest>& metrics, std::uint64_t interval_ns, Output output);

  // A burst, and reading it. Throw Error.
  void start();
  void stop() { sampler_->stop(); }
  void read();
  // How long it should be.
  [[nodiscard]] std::chrono::microseconds burst_length() const;

 private:
  void plan(const std::string& chip, const std::vector<capture::MetricRequest>& metrics);
  void start_turn();
  void read_turn();
  void evaluate(std::size_t samples);
  void write_batch();
  void recover();
  [[nodiscard]] const cupti::CollectionPlan& turn() const { return plan_.turns[turn_]; }

  const cupti::Library& library_;
  const std::uint32_t device_;
  const Output output_;
  const bool adapts_;
  cupti::Host host_;
  std::optional<cupti::PmSampler> sampler_;
  cupti::SamplingPlan plan_;
  std::vector<std::uint32_t> sets_;  // of each turn

  std::size_t turn_ = 0;
  std::optional<std::size_t> configured_;  // the turn that the sampler is set up for
  std::uint64_t interval_ns_ = 0;
  bool overflowed_ = false;         // so that only a new sampler goes on
  std::uint64_t lost_ = 0;          // times that a buffer was full, not yet written
  std::vector<const char*> names_;  // of the turn's metrics
  std::vector<double> values_;
  capture::SampleBatch batch_;
};

}  // namespace dlkprof::inject
