#include "inject/session/kernel_collector.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "capture/encoding.h"
#include "cupti/collection_prices.h"
#include "cupti/memory.h"

namespace dlkprof::inject {
namespace {

using Clock = std::chrono::steady_clock;

// Counters that are held slow every launch; taking them again costs some 10 ms. So they are given back after this many
// launches without a measurement.
constexpr std::uint64_t kIdleLaunches = 1000;
// After so many launches in a row that could not be measured the next will not be either.
constexpr int kFailuresToStop = 3;

}  // namespace

bool KernelCollector::wants(Launch& launch) {
  if (launch.selected()) {
    const auto against = reason_against(launch);
    if (against != capture::SkipReason::none) {
      services_->ledger.skipped(launch.entry, against, false);
    } else if (take(launch, services_->options.samples)) {
      return true;
    }
  }
  const bool idle = is_idle(launch);
  launch.all_gpus = launch.all_gpus || idle;  // counters of all are given back
  return idle;
}

capture::SkipReason KernelCollector::reason_against(const Launch& launch) const {
  const capture::SkipReason against = services_.reason_against(launch);
  if (against != capture::SkipReason::none) return against;
  if (failed_) return capture::SkipReason::failed;
  return refusals_.are_expected(launch.entry) ? capture::SkipReason::refused : against;
}

bool KernelCollector::take(Launch& launch, std::optional<std::uint64_t> samples) {
  launch.replayed = services_->ledger.take_sample(launch.entry, samples);
  launch.all_gpus = launch.all_gpus || launch.replayed;
  if (!launch.replayed) return false;
  ++waiting_;
  taken_at_ = launch.record.index;
  return true;
}

bool KernelCollector::is_settled(const Launch& launch) {
  constexpr std::uint64_t kSettled = 2048;  // launches without a new configuration
  return launch.record.index > taken_at_ + kSettled;
}

bool KernelCollector::is_idle(const Launch& launch) const noexcept {
  return holds_counters() && launch.record.index > counters_used_at_ + kIdleLaunches;
}

void KernelCollector::skip(const Launch& launch, capture::SkipReason reason) {
  if (!launch.replayed) return;
  --waiting_;
  services_->ledger.skipped(launch.entry, reason, true);
}

bool KernelCollector::enter(Launch& launch) {
  if (!launch.replayed) {
    release_counters();
    return false;
  }
  if (const auto against = reason_against(launch); against != capture::SkipReason::none) {  // by now
    skip(launch, against);
    return false;
  }
  --waiting_;
  services_.mark_overhead();
  Measuring measuring{nullptr, launch.entry, begun(launch.record), launch.alone_since};
  try {
    const cupti::CurrentContext current(services_->driver, launch.data.context);
    begin(measuring, launch);
  } catch (const LaunchRefused&) {
    leave_out(measuring);
  } catch (const std::exception& error) {
    give_up(launch.entry, error);
    if (measuring.replay == nullptr) failed_ = true;  // counters cannot be set up: nor will they be next time
    replays_.erase(launch.data.context);              // ends whatever state the failure left in the context
  }
  return measuring_.has_value();
}

void KernelCollector::begin(Measuring& measuring, const Launch& launch) {
  Replay& held = replay_for(launch);
  measuring.replay = held.replay.get();
  measuring.record.metric_set = held.metric_set;
  if (is_too_dear(launch, *measuring.replay)) return;
  measuring.replay->begin(launch.call);
  const bool timed = measuring.replay->caches() == capture::CacheControl::all;  // the program's own launch comes after the passes
  if (!timed) measuring.untimed = services_.untimed(launch);
  measuring_ = std::move(measuring);
}

KernelCollector::Replay& KernelCollector::replay_for(const Launch& launch) {
  counters_used_at_ = std::max<std::uint64_t>(1, launch.record.index);
  const CUcontext context = launch.data.context;
  for (auto& [other, held] : replays_) {
    if (other != context && held.replay != nullptr) held.replay->release_counters();  // a GPU's counters have one user
  }
  auto& held = replays_[context];
  if (held.replay != nullptr) return held;
  services_.use_profiler();
  const auto& options = services_->options;
  held.replay = std::make_unique<KernelReplay>(services_->library, services_->driver, context, *launch.device, options.metrics,
                                               options.cache_control);
  services_->host_used();
  held.metric_set = services_.record_metric_set(launch.device->index, held.replay->plan(), held.replay->unavailable());
  return held;
}

// A replay saves the context's memory and restores it before each pass: where it does not fit beside itself on the GPU, it goes
// over the host, which may take minutes a launch.
bool KernelCollector::is_too_dear(const Launch& launch, const KernelReplay& replay) {
  const cupti::MemoryUse memory = cupti::memory_use(services_->driver);
  const double seconds = cupti::replay_memory_seconds(memory.used_bytes, memory.free_bytes, replay.plan().passes);
  if (seconds <= cupti::kReplayBudgetSeconds) return false;
  services_->ledger.skipped(launch.entry, capture::SkipReason::memory, true);
  if (std::exchange(told_too_dear_, true)) return true;  // notes are said once each, but its figures change
  constexpr double kGigabyte = 1e9;
  services_->recorder.note(
      capture::Severity::warning, "kernels are not replayed, as saving and restoring GPU memory would take too long",
      fmt::format(
          "about {:.0f} s a launch, and the limit is {:.0f} s: {:.1f} GB are allocated (the largest allocation has {:.1f} "
          "GB) and {:.1f} GB are free",
          seconds, cupti::kReplayBudgetSeconds, static_cast<double>(memory.used_bytes) / kGigabyte,
          static_cast<double>(largest_allocation_) / kGigabyte, static_cast<double>(memory.free_bytes) / kGigabyte),
      "Use --replay-mode iteration, which replays nothing, or have the program reserve less (JAX: "
      "XLA_PYTHON_CLIENT_PREALLOCATE=false).");
  return true;
}

bool KernelCollector::leave(const CUpti_CallbackData& data) {
  if (!measuring_) return false;
  Measuring measuring = *std::exchange(measuring_, std::nullopt);
  services_.add(measuring.untimed, data);
  end(data, measuring);
  return selector_.exhausted() && waiting_ == 0;
}

void KernelCollector::end(const CUpti_CallbackData& data, Measuring& measuring) {
  auto& record = measuring.record;
  try {
    const cupti::CurrentContext current(services_->driver, data.context);
    record.values = measuring.replay->end();
    if (is_refused(data)) return leave_out(measuring);
  } catch (const std::exception& error) {
    if (is_refused(data)) return leave_out(measuring);
    give_up(measuring.entry, error);
    replays_.erase(data.context);  // ends whatever state the failure left in the context
    return;
  }
  record.mode = capture::ReplayMode::kernel;
  record.cache_control = measuring.replay->caches();
  record.passes = static_cast<std::uint32_t>(measuring.replay->plan().passes);
  record.cost_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(Clock::now() - measuring.since).count());
  failures_in_a_row_ = 0;
  refusals_.measured(measuring.entry);
  services_->recorder.append(record);
  if (services_->options.keep_counters) keep_counters(record, measuring.replay->image());
  measuring.replay->let_others();
  services_->on_measured();
}

void KernelCollector::keep_counters(const capture::LaunchRecord& launch, std::span<const std::uint8_t> image) {
  Base& base = bases_[launch.metric_set];
  const bool builds_on_base = base.image.size() == image.size();
  services_->recorder.append(capture::RawCountersRecord{
      .launch_index = launch.index,
      .metric_set = launch.metric_set,
      .image_bytes = image.size(),
      .zstd_image = capture::pack_image(
          image, builds_on_base ? std::span<const std::uint8_t>(base.image) : std::span<const std::uint8_t>()),
      .base_launch_index = builds_on_base ? base.launch_index : capture::kNoBase});
  if (!builds_on_base) base = {launch.index, {image.begin(), image.end()}};
}

// Counters are set up anew, as it is not known which pass would come next: 0.4 s on an H200.
void KernelCollector::leave_out(const Measuring& measuring) {
  services_->ledger.skipped(measuring.entry, capture::SkipReason::refused, true);
  refusals_.refused(measuring.entry);
  measuring.replay->release_counters();
}

void KernelCollector::give_up(Ledger::Entry entry, const std::exception& error) noexcept {
  services_->ledger.skipped(entry, capture::SkipReason::failed, true);
  services_->recorder.note("a kernel could not be measured", error);
  if (++failures_in_a_row_ >= kFailuresToStop) failed_ = true;
}

void KernelCollector::release_counters() noexcept {
  if (!holds_counters()) return;
  for (auto& [context, held] : replays_) {
    if (held.replay != nullptr) held.replay->release_counters();
  }
  counters_used_at_ = 0;
}

void KernelCollector::stop(bool alone) noexcept {
  failed_ = true;
  if (alone) replays_.clear();
}

}  // namespace dlkprof::inject
