// The session's way with sampling: which GPUs are sampled, and which contexts of theirs by PC sampling, and when.
#include <algorithm>
#include <utility>

#include "base/error.h"
#include "cupti/range_profiler.h"
#include "inject/session.h"
#include "inject/session_thread.h"

namespace dlkprof::inject {

// From the first launch on that is selected. The caller holds mutex_.
void Session::sample(std::uint32_t device) {
  if (!std::exchange(sampling_tried_, true)) begin_sampling(devices_.at(device).chip);
  if (sampling_possible_) pm_sampling_.add(devices_.at(device));
}

// NVPerf is taken into use on the program's thread, so that by the time the program can end it is known what must end before.
void Session::begin_sampling(const std::string& chip) {
  hold_call();
  auto& thread = this_thread();
  thread.ours = true;
  try {
    cupti::initialize_profiler(library_);
    (void)cupti::Host::create(library_, chip, {}, cupti::CollectBy::samples);
    register_sampling_end();
    sampling_possible_ = true;
  } catch (const std::exception& error) {
    const auto* ours = dynamic_cast<const Error*>(&error);
    recorder_.note(capture::Severity::error, std::string("counters cannot be sampled, the program runs on: ") + error.what(),
                   ours != nullptr ? ours->detail() : "", ours != nullptr ? ours->remedy() : "");
  }
  thread.ours = false;
}

// Of a launch of this thread, before the first of which there is nothing to sample. CUPTI is called without a lock of the
// session's, as callbacks may come on other threads meanwhile; and not from the callback that tells of a new context.
void Session::sample_pcs(CUcontext context) {
  auto& thread = this_thread();
  const std::uint64_t epoch = functions_.epoch();
  if (thread.sampled.contains(context, epoch)) return;
  std::uint32_t device = 0;
  {
    const std::lock_guard lock(mutex_);
    device = device_of(context);
  }
  thread.sampled.add(context, epoch);
  const auto& wanted = options_.selection.devices;
  if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), device) == wanted.end()) return;
  thread.ours = true;
  pc_sampling_->start(context, device);
  thread.ours = false;
  register_pc_sampling_end();
}

void Session::finish_pc_sampling() noexcept {
  if (!pc_sampling_) return;
  this_thread().ours = true;
  pc_sampling_->finish();
  this_thread().ours = false;
}

PmSampling::Hooks Session::sampling_hooks() {
  return {.on_thread = [] { this_thread().ours = true; }, .wanted = [this] { return active_ && window_open(); }};
}

}  // namespace dlkprof::inject
