#include "inject/session/sample_collector.h"

#include <utility>

namespace dlkprof::inject {

bool SampleCollector::wants(Launch& launch) {
  if (launch.selected()) sample(*launch.device);
  return false;
}

void SampleCollector::sample(const capture::DeviceRecord& device) {
  if (!std::exchange(tried_, true)) begin(device.chip);
  if (possible_) sampling_.add(device);
}

// NVPerf is taken into use on the program's thread, so that by the time the program can end it is known what must end before:
// asked for a metric for the first time it makes tables that the process destroys at its end before all that was registered
// earlier.
void SampleCollector::begin(const std::string& chip) {
  services_.mark_overhead();
  try {
    services_.use_profiler();
    (void)cupti::Host::create(services_->library, chip, {}, cupti::CollectBy::samples).offers("gpu__time_duration.sum");
    services_->host_used();
    possible_ = true;
  } catch (const std::exception& error) {
    services_->recorder.note("counters cannot be sampled, the program runs on", error);
  }
}

}  // namespace dlkprof::inject
