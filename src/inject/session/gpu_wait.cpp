#include "inject/session/gpu_wait.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace dlkprof::inject {

GpuEvents::GpuEvents(const cupti::Driver& driver, CUcontext context, bool all_gpus) noexcept {
  try {
    undone_.push_back(std::make_unique<cupti::ContextEvent>(driver, context));
    if (!all_gpus) return;
    for (CUcontext other : cupti::contexts_of_others(driver, context)) {
      undone_.push_back(std::make_unique<cupti::ContextEvent>(driver, other));
    }
  } catch (const std::exception&) {  // what is done next with the context tells what is wrong with it
  }
}

bool GpuEvents::are_done_within(std::chrono::steady_clock::duration longest) noexcept {
  const auto until = std::chrono::steady_clock::now() + longest;
  for (; !undone_.empty(); undone_.pop_back()) {
    try {
      if (!undone_.back()->is_done_within(until - std::chrono::steady_clock::now())) return false;
    } catch (const std::exception&) {  // its context is gone
    }
  }
  return true;
}

bool VainWaits::are_going_on() noexcept {
  const std::lock_guard lock(mutex_);
  if (undone_ != nullptr && undone_->are_done_within({})) undone_.reset();
  return undone_ != nullptr;
}

void VainWaits::add(std::unique_ptr<GpuEvents> events) noexcept {
  ++count_;
  if (events == nullptr) return;
  const std::lock_guard lock(mutex_);
  undone_ = std::move(events);
}

void VainWaits::forget() noexcept {
  const std::lock_guard lock(mutex_);
  undone_.reset();
}

// Who passed since the last time may have launched more.
bool GpuWait::is_done() {
  if (vain_.are_going_on()) {
    left_ = {};
    return false;
  }
  const auto longest = std::min(next_, left_);
  const auto until = std::chrono::steady_clock::now() + longest;
  const bool is_first = events_ == nullptr;
  if (is_first) events_ = std::make_unique<GpuEvents>(driver_, context_, all_gpus_);
  bool done = events_->are_done_within(longest);
  if (done && !is_first) {
    events_ = std::make_unique<GpuEvents>(driver_, context_, all_gpus_);
    done = events_->are_done_within(until - std::chrono::steady_clock::now());
  }
  next_ *= 2;
  left_ -= longest;
  if (!done && !goes_on()) vain_.add(std::move(events_));
  return done;
}

}  // namespace dlkprof::inject
