// --replay-mode sample: each GPU is sampled from the first launch on that is selected, or the first of a graph
// (sampling/pm_sampling.h).
#pragma once

#include "inject/sampling/pm_sampling.h"
#include "inject/session/collector.h"
#include "inject/session/collector_services.h"

namespace dlkprof::inject {

class SampleCollector final : public Collector {
 public:
  SampleCollector(CollectorServices& services, PmSampling& sampling) : services_(services), sampling_(sampling) {}

  [[nodiscard]] bool wants(Launch& launch) override;
  void graph_launched(const capture::DeviceRecord& device) override { sample(device); }

 private:
  void sample(const capture::DeviceRecord& device);
  void begin(const std::string& chip);

  CollectorServices& services_;
  PmSampling& sampling_;
  bool tried_ = false, possible_ = false;
};

}  // namespace dlkprof::inject
