#include "inject/session/cupti_attachment.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "base/clock.h"
#include "cupti/activity.h"
#include "inject/session/thread_state.h"

namespace dlkprof::inject {

void CuptiAttachment::attach(CUpti_CallbackFunc callback, void* self) {
  DLKPROF_CUPTI(parts_.library, cuptiSubscribe, &subscriber_, callback, self);
  state_ = State::attached;
  parts_.calls.watch(subscriber_, true);
  parts_.timing.take_activity();
}

void CuptiAttachment::quiet() {
  parts_.calls.watch(subscriber_, false);
  cupti::Activity::disable();
  cupti::Activity::flush(true);
}

void CuptiAttachment::leave() noexcept {
  if (in_callbacks_ > 1 || parts_.graphs.seen() || state_.exchange(State::left) == State::left) return;
  const OwnCalls own;
  (void)parts_.library.cuptiFinalize();
}

bool CuptiAttachment::usable() const noexcept { return state_ != State::left && state_ != State::detached; }

void CuptiAttachment::reattach(CUpti_CallbackFunc callback, void* self, const PmSampling::Pause& pause,
                               const std::atomic<bool>& active) {
  constexpr int kLooks = 60;
  constexpr auto kPause = std::chrono::milliseconds(5);
  parts_.timeline.resume();
  DLKPROF_CUPTI(parts_.library, cuptiSubscribe, &subscriber_, callback, self);
  state_ = State::attached;
  end_absence();
  parts_.calls.watch(subscriber_, true);
  parts_.timing.take_activity();
  for (int looks = 0; looks < kLooks && active && !parts_.timeline.has_activity(); ++looks) {
    pause(kPause);
    cupti::Activity::flush(false);
  }
}

void CuptiAttachment::end_absence() {
  const std::int64_t now = event_clock_ns();
  away_ns_ += now - left_ns_;
  parts_.recorder.append(capture::AbsenceRecord{left_ns_, now});
}

bool CuptiAttachment::detach(const PmSampling::Pause& pause, const std::atomic<bool>& active) {
  constexpr int kLooks = 100;
  constexpr auto kPause = std::chrono::milliseconds(1);
  if (!parts_.options.in_bursts || parts_.graphs.seen()) return false;
  state_ = State::due;
  for (int looks = 0; looks < kLooks && state_ == State::due && active; ++looks) pause(kPause);
  if (auto due = State::due; state_.compare_exchange_strong(due, State::attached)) return false;
  while (state_ == State::detaching) pause(kPause);
  if (state_ != State::detached) return false;
  parts_.recorder.append(capture::AbsenceRecord{left_ns_, 0});
  return true;
}

void CuptiAttachment::detach_now() {
  constexpr int kLooks = 100;
  if (in_callbacks_ > 1 || parts_.graphs.seen()) return;
  if (auto due = State::due; !state_.compare_exchange_strong(due, State::detaching)) return;
  const OwnCalls own;
  try {
    cupti::Activity::disable();
    cupti::Activity::flush(true);
    for (int looks = 0; looks < kLooks && in_callbacks_ > 1; ++looks) std::this_thread::yield();
    if (in_callbacks_ > 1 || parts_.graphs.seen()) {
      parts_.timing.take_activity();
      state_ = State::attached;
      return;
    }
    cupti::Activity::forget();
    left_ns_ = event_clock_ns();
    cupti::check(parts_.library, parts_.library.cuptiFinalize(), "cuptiFinalize");
    state_ = State::detached;
  } catch (...) {
    state_ = State::attached;
    throw;
  }
}

void CuptiAttachment::finish() {
  if (state_ == State::detached) end_absence();
  if (away_ns_ == 0) return;
  constexpr double kSecond = 1e9;
  const double all = static_cast<double>(event_clock_ns() - started_ns_) / kSecond;
  parts_.recorder.note(capture::Severity::info, "launches were watched in bursts only: counts, ops and iterations are of these",
                       fmt::format("{:.2f} s of {:.1f} s", all - static_cast<double>(away_ns_) / kSecond, all),
                       "--timeline on watches all of them, and slows the program by what a timeline costs.");
}

}  // namespace dlkprof::inject
