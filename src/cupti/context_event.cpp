#include "cupti/context_event.h"

#include <thread>

namespace dlkprof::cupti {

ContextEvent::ContextEvent(const Driver& driver, CUcontext context) : driver_(driver), context_(context) {
  const CurrentContext current(driver_, context_);
  check(driver_, driver_.cuEventCreate(&event_, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
  const CUresult recorded = driver_.cuCtxRecordEvent(context_, event_);
  if (recorded == CUDA_SUCCESS) return;
  (void)driver_.cuEventDestroy(event_);
  check(driver_, recorded, "cuCtxRecordEvent");
}

ContextEvent::~ContextEvent() { (void)driver_.cuEventDestroy(event_); }

// Asks without a pause for as long as most kernels take.
bool ContextEvent::is_done_within(std::chrono::steady_clock::duration longest) const {
  using Clock = std::chrono::steady_clock;
  constexpr auto kOften = std::chrono::microseconds(100), kPause = std::chrono::microseconds(20);
  const CurrentContext current(driver_, context_);
  for (const auto since = Clock::now();;) {
    const CUresult result = driver_.cuEventQuery(event_);
    if (result != CUDA_ERROR_NOT_READY) check(driver_, result, "cuEventQuery");
    if (result == CUDA_SUCCESS) return true;
    const auto spent = Clock::now() - since;
    if (spent >= longest) return false;
    if (spent > kOften) std::this_thread::sleep_for(kPause);
  }
}

}  // namespace dlkprof::cupti
