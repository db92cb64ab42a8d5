// The session's way with sampling: which GPUs are sampled, and which contexts of theirs by PC sampling, and when.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/error.h"
#include "cupti/activity.h"
#include "cupti/range_profiler.h"
#include "inject/session/session.h"
#include "inject/session/session_thread.h"

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
  return {.on_thread = [] { this_thread().ours = true; },
          .wanted = [this] { return active_ && window_open(); },
          .come = [this](const PmSampling::Pause& pause) { come_back(pause); },
          .go = [this](const PmSampling::Pause& pause) { return go_away(pause); }};
}

// --- Only for bursts --------------------------------------------------------------------------------------------------
//
// Callbacks and activity slow a program's calls, and what CUPTI has put into the driver does so also when nobody listens
// (leave_cupti). So between two bursts CUPTI is taken out of the process, from a launch of the program's; the sampling thread
// brings it back. A sampler that was made before goes on working without it (seen with CUDA 13.0 on an H200).

// From the sampling thread. Returns once the GPU does work whose launch was seen, or soon after that should have been so: what
// was launched before stands in the GPU's queues, and its samples would be nobody's.
void Session::come_back(const PmSampling::Pause& pause) {
  constexpr int kLooks = 60;
  constexpr auto kPause = std::chrono::milliseconds(5);
  if (presence_ == Presence::here) return;
  {
    const std::lock_guard lock(mutex_);  // nobody told us meanwhile which modules and contexts ended
    functions_.forget_handles();
    context_devices_.clear();
  }
  timeline_.resume();
  DLKPROF_CUPTI(library_, cuptiSubscribe, &subscriber_, &Session::on_callback, this);
  presence_ = Presence::here;
  end_absence();
  watch(true);
  take_activity();
  for (int looks = 0; looks < kLooks && active_ && !timeline_.has_activity(); ++looks) {
    pause(kPause);
    cupti::Activity::flush(false);
  }
}

void Session::end_absence() {
  const std::int64_t now = event_clock_ns();
  away_ns_ += now - left_ns_;
  recorder_.append(capture::AbsenceRecord{left_ns_, now});
}

// From the sampling thread: has the program's next launch do it. False where CUPTI stays, as nothing is launched now, or must.
bool Session::go_away(const PmSampling::Pause& pause) {
  constexpr int kLooks = 100;
  constexpr auto kPause = std::chrono::milliseconds(1);
  if (!options_.in_bursts || graphs_seen_) return false;
  presence_ = Presence::due_to_leave;
  for (int looks = 0; looks < kLooks && presence_ == Presence::due_to_leave && active_; ++looks) pause(kPause);
  if (auto due = Presence::due_to_leave; presence_.compare_exchange_strong(due, Presence::here)) return false;
  while (presence_ == Presence::leaving) pause(kPause);
  if (presence_ != Presence::away) return false;
  try {
    recorder_.append(capture::AbsenceRecord{left_ns_, 0});
    event_log_.flush();
  } catch (const std::exception& error) {
    fail(error);
  }
  return true;
}

// At the exit of a launch, where CUPTI may be left (cuptiFinalize in cupti_activity.h); not while another thread is in a
// callback.
void Session::leave_for_now() noexcept {
  constexpr int kLooks = 100;
  if (in_callbacks_ > 1 || graphs_seen_) return;
  if (auto due = Presence::due_to_leave; !presence_.compare_exchange_strong(due, Presence::leaving)) return;
  auto& thread = this_thread();
  thread.ours = true;
  try {
    cupti::Activity::disable();
    cupti::Activity::flush(true);
    for (int looks = 0; looks < kLooks && in_callbacks_ > 1; ++looks) std::this_thread::yield();
    if (in_callbacks_ > 1 || graphs_seen_) {
      take_activity();
      presence_ = Presence::here;
      thread.ours = false;
      return;
    }
    cupti::Activity::forget();
    left_ns_ = event_clock_ns();
    cupti::check(library_, library_.cuptiFinalize(), "cuptiFinalize");
    presence_ = Presence::away;
  } catch (const std::exception& error) {
    presence_ = Presence::here;
    fail(error);
  }
  thread.ours = false;
}

// At the end of the program, once the sampling thread has ended.
void Session::finish_presence() {
  if (presence_ == Presence::away) end_absence();
  if (away_ns_ == 0) return;
  const std::chrono::duration<double> all = std::chrono::steady_clock::now() - started_;
  recorder_.note(capture::Severity::info, "launches were watched in bursts only: counts, ops and iterations are of these",
                 fmt::format("{:.2f} s of {:.1f} s", all.count() - static_cast<double>(away_ns_) / 1e9, all.count()),
                 "--timeline on watches all of them, and slows the program by what a timeline costs.");
}

}  // namespace dlkprof::inject
