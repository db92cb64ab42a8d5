#include "inject/session/auto_collector.h"

#include "inject/session/thread_state.h"

namespace dlkprof::inject {

bool AutoCollector::windows_first() {
  if (!windows_first_) windows_first_ = !picks_launches_ && framework_is_loaded_();
  return *windows_first_;
}

bool AutoCollector::wants(Launch& launch) {
  if (launch.selected() && chooses_replay(launch)) return true;
  const bool wanted = windows_.wants(launch) || kernels_.is_idle(launch);
  launch.all_gpus = launch.all_gpus || (wanted && kernels_.holds_counters());  // which are given back, on all of them
  return wanted;
}

// Where windows cannot take the launch either, the ledger is told why.
bool AutoCollector::chooses_replay(Launch& launch) {
  using capture::SkipReason;
  const bool has_windows = windows_.usable();
  const bool in_windows = windows_first() || this_thread().nodes != nullptr;
  if (in_windows && !services_.waits_for_program()) return windows_.is_stuck(launch) && replay_once(launch);
  const auto against = kernels_.reason_against(launch);
  if (against != SkipReason::none) {
    if (has_windows && against != SkipReason::failed && against != SkipReason::refused) return false;
    services_->ledger.skipped(launch.entry, against, false);
    launch.window_samples = 0;
    return false;
  }
  // The first sample is a replay's, and windows take what is wanted beyond it.
  const auto samples = services_->options.samples;
  launch.window_samples = !has_windows ? 0 : samples ? *samples - 1 : PassScheduler::kAll;
  return kernels_.take(launch, has_windows ? 1 : samples);
}

// Of a configuration that windows get no further with, as long as such replays have not taken long: each needs the counters that
// windows have, and gives them back.
bool AutoCollector::replay_once(Launch& launch) {
  constexpr auto kMostReplaying = std::chrono::seconds(3);
  if (replaying_ > kMostReplaying || kernels_.reason_against(launch) != capture::SkipReason::none) return false;
  return replayed_.insert(launch.entry).second && kernels_.take(launch, std::nullopt);
}

bool AutoCollector::enter(Launch& launch) {
  if (launch.replayed) {
    replay_began_ = launch.alone_since;
    windows_.release_counters();  // a GPU's counters have one user
    return kernels_.enter(launch);
  }
  const bool others_unasked =
      kernels_.holds_counters() && !launch.all_gpus;  // it has come to hold them since, or is a graph's node
  if (others_unasked && !services_.is_done(launch.data.context, services_.kLongestOfOthers, true)) return false;
  kernels_.release_counters();
  return windows_.enter(launch);
}

void AutoCollector::skip(const Launch& launch, capture::SkipReason reason) {
  if (!launch.replayed) return windows_.skip(launch, reason);
  replayed_.erase(launch.entry);
  kernels_.skip(launch, reason);
}

bool AutoCollector::leave(const CUpti_CallbackData& data) {
  if (!kernels_.is_measuring()) return windows_.leave(data);
  const bool done = kernels_.leave(data);
  replaying_ += std::chrono::steady_clock::now() - replay_began_;
  return done;
}

void AutoCollector::context_ends(CUcontext context) {
  kernels_.context_ends(context);
  windows_.context_ends(context);
}

void AutoCollector::stop(bool alone) noexcept {
  kernels_.stop(alone);
  windows_.stop(alone);
}

void AutoCollector::finish() noexcept {
  kernels_.finish();
  windows_.finish();
}

}  // namespace dlkprof::inject
