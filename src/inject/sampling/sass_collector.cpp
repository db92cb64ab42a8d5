#include "inject/sampling/sass_collector.h"

#include <utility>

#include "base/error.h"
#include "cupti/driver.h"

namespace dlkprof::inject {

capture::SkipReason SassCollector::reason_against(const Launch& launch) {
  if (failed_) return capture::SkipReason::failed;
  const auto against = services_.reason_against(launch);
  return against == capture::SkipReason::none && refusals_.are_expected(launch.entry) ? capture::SkipReason::refused : against;
}

bool SassCollector::wants(Launch& launch) {
  if (!launch.selected()) return false;
  const auto against = reason_against(launch);
  if (against == capture::SkipReason::none) return services_->ledger.take_sample(launch.entry, 1);
  services_->ledger.skipped(launch.entry, against, false);
  return false;
}

void SassCollector::skip(const Launch& launch, capture::SkipReason reason) {
  services_->ledger.skipped(launch.entry, reason, true);
}

bool SassCollector::enter(Launch& launch) {
  if (const auto against = reason_against(launch); against != capture::SkipReason::none) {  // by now
    skip(launch, against);
    return false;
  }
  const CUcontext context = launch.data.context;
  try {
    Counting counting{launch.entry, launch.record.index, launch.record.key, nullptr};
    const cupti::CurrentContext current(services_->driver, context);
    cupti::check(services_->driver, services_->driver.cuCtxSynchronize(), "cuCtxSynchronize");
    counting.counter = &counter_of(*launch.device);
    counting.counter->begin(context);
    counting_ = counting;
  } catch (const std::exception& error) {
    give_up(launch.entry, error);
  }
  return counting_.has_value();
}

bool SassCollector::leave(const CUpti_CallbackData& data) {
  if (!counting_) return false;
  const Counting counting = *std::exchange(counting_, std::nullopt);
  try {
    const cupti::CurrentContext current(services_->driver, data.context);
    fetch(counting, data);
  } catch (const std::exception& error) {
    counting.counter->cancel();
    give_up(counting.entry, error);
  }
  return false;
}

// The driver may have refused the launch, which is the program's affair.
void SassCollector::fetch(const Counting& counting, const CUpti_CallbackData& data) {
  if (is_refused(data)) {
    counting.counter->cancel();
    refusals_.refused(counting.entry);
    return services_->ledger.skipped(counting.entry, capture::SkipReason::refused, true);
  }
  cupti::check(services_->driver, services_->driver.cuCtxSynchronize(), "cuCtxSynchronize");
  code_.record(counting.index, counting.key, counting.counter->metrics(), counting.counter->end());
  failures_in_a_row_ = 0;
  refusals_.measured(counting.entry);
  services_->on_measured();
}

cupti::SassCounter& SassCollector::counter_of(const capture::DeviceRecord& device) {
  if (const auto known = counters_.find(device.index); known != counters_.end()) return known->second;
  services_.use_profiler();
  return counters_.emplace(device.index, cupti::SassCounter::create(services_->library, device.index, device.chip)).first->second;
}

void SassCollector::give_up(Ledger::Entry entry, const std::exception& error) noexcept {
  constexpr int kFailuresToStop = 3;  // after so many in a row the next will not be counted either
  services_->ledger.skipped(entry, capture::SkipReason::failed, true);
  services_->recorder.note("the instructions of a kernel were not counted", error);
  if (++failures_in_a_row_ >= kFailuresToStop) failed_ = true;
}

void SassCollector::stop(bool alone) noexcept {
  failed_ = true;
  if (!alone) return;
  counting_.reset();
  counters_.clear();
}

}  // namespace dlkprof::inject
