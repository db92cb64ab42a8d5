#include "inject/replay/iteration_replay.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/error.h"
#include "cupti/collection_prices.h"

namespace dlkprof::inject {
namespace {

using Clock = std::chrono::steady_clock;

// Of a window's share of memory: what counter data of its launches may take. What CUPTI takes besides is more.
constexpr std::size_t kImageShare = 2;
// Of a launch: counters of each multiprocessor need 0.8 MB, all others some 50 KB, on an H200 with CUDA 13.0.
constexpr std::size_t kDearRangeBytes = std::size_t{256} << 10U;
// A few launches of no use cost less than closing a window and opening another (collection_prices.h).
constexpr std::size_t kDearGap = 10;
constexpr std::size_t kCheapGap = 256;

}  // namespace

IterationReplay::IterationReplay(const cupti::Library& library, CUcontext context, const std::string& chip,
                                 const capture::ProfileOptions& options, LaunchEvaluator::Listener listener)
    : library_(library), context_(context), wants_all_(!options.samples) {
  auto availability = cupti::counter_availability(library, context);
  const auto host = cupti::Host::create(library, chip, availability);
  auto resolved = host.resolve(options.metrics);
  unavailable_ = std::move(resolved.unavailable);
  if (resolved.names.empty()) {
    throw Error("none of the metrics asked for is offered by this GPU", chip,
                "See what it offers: dlkprof metrics --chip " + chip + " --query <regex>");
  }
  plan_ = host.plan(resolved.names);
  const auto profiler = cupti::RangeProfiler::create(library, context);
  const std::size_t few = profiler.image_bytes(plan_, 1);
  const std::size_t a_launch = std::max<std::size_t>(1, profiler.image_bytes(plan_, 2) - few);
  const bool dear = a_launch >= kDearRangeBytes;
  const cupti::WindowPrices& prices = dear ? cupti::kPerSmPrices : cupti::kHwpmPrices;
  most_launches_ = std::clamp<std::size_t>(options.max_memory_bytes() / kImageShare / a_launch, 1,
                                           cupti::most_launches(prices, options.max_memory_bytes()));
  scheduler_.emplace(RunScheduler::Settings{
      .repeats = plan_.passes > 1, .most_launches = most_launches_, .longest_gap = dear ? kDearGap : kCheapGap});
  evaluator_ = std::make_unique<LaunchEvaluator>(library, chip, std::move(availability), plan_.metrics, std::move(listener));
}

bool IterationReplay::must_wait(const MeasuredLaunch& launch) const {
  return launch.wanted > 0 && !window_open_ && wants_all_ && evaluator_->busy();
}

RunScheduler::Before IterationReplay::decide(const MeasuredLaunch& launch) {
  if (must_wait(launch)) {
    const auto begin = Clock::now();
    evaluator_->wait_until_idle();
    spent_ += Clock::now() - begin;
  }
  return scheduler_->before(launch.entry, window_open_ || !evaluator_->busy() ? launch.wanted : 0);
}

bool IterationReplay::enter(RunScheduler::Before decision, MeasuredLaunch launch) {
  if (decision == RunScheduler::Before::broken) {
    drop_window();
    scheduler_->forget_run();
  }
  if (decision == RunScheduler::Before::wraps) close_window();
  if (decision == RunScheduler::Before::broken || decision == RunScheduler::Before::wraps) decision = decide(launch);
  if (decision == RunScheduler::Before::idle) return false;
  if (decision == RunScheduler::Before::open) open_window();
  launches_.push_back(std::move(launch));
  return true;
}

bool IterationReplay::leave() {
  if (!scheduler_->ends_pass()) return false;
  close_window();
  return true;
}

void IterationReplay::interrupt() {
  if (!window_open_) return;
  if (scheduler_->cut()) return close_window();
  drop_window();
  scheduler_->forget_run();
}

void IterationReplay::open_window() {
  since_ = Clock::now();
  launches_.clear();
  try {
    if (scheduler_->pass() == 0) {
      spent_on_run_ = {};
      prepare_run();
    }
    pause_.emplace();
    profiler_->start();
    window_open_ = true;
  } catch (...) {
    pause_.reset();
    scheduler_->forget_run();
    profiler_.reset();
    throw;
  }
}

// Configuring takes a second for a large window: once is enough, as long as runs are finished.
void IterationReplay::prepare_run() {
  if (half_done_) profiler_.reset();
  half_done_ = true;
  if (profiler_) return profiler_->reset();
  profiler_.emplace(cupti::RangeProfiler::create(library_, context_));
  try {
    profiler_->configure(plan_, CUPTI_UserReplay, most_launches_);
  } catch (const std::bad_alloc&) {
    throw Error("there is no memory for windows of " + std::to_string(most_launches_) + " launches", "",
                "Give less --max-memory.");
  }
}

void IterationReplay::close_window() {
  window_open_ = false;
  try {
    const bool complete = profiler_->stop();
    pause_.reset();
    if (complete) profiler_->decode(launches_.size());
    spent_on_run_ += Clock::now() - since_;
    spent_ += Clock::now() - since_;
    if (complete) {
      half_done_ = false;
      deliver();
      scheduler_->end_run();
    } else if (scheduler_->pass() < plan_.most_passes()) {
      scheduler_->end_pass();
    } else {
      throw Error("not all passes of a sequence of launches were collected", "cuptiRangeProfilerStop", "");
    }
  } catch (...) {
    pause_.reset();
    scheduler_->forget_run();
    profiler_.reset();
    throw;
  }
}

void IterationReplay::deliver() {
  const auto cost = static_cast<std::uint64_t>(spent_on_run_.count()) / std::max<std::uint64_t>(1, launches_.size());
  for (MeasuredLaunch& launch : launches_) {
    launch.record.mode = capture::ReplayMode::iteration;
    launch.record.passes = static_cast<std::uint32_t>(plan_.passes);
    launch.record.cost_ns = cost;
  }
  evaluator_->give({profiler_->image(), std::exchange(launches_, {})});
}

// Of a run that has come to nothing: the next one has a new profiler.
void IterationReplay::drop_window() noexcept {
  if (!window_open_) return;
  window_open_ = false;
  spent_ += Clock::now() - since_;
  try {
    (void)profiler_->stop();
  } catch (const std::exception&) {
    profiler_.reset();
  }
  pause_.reset();
}

void IterationReplay::release_counters() {
  if (window_open_ && scheduler_->cut()) close_window();
  drop_window();
  scheduler_->lose_run();
  profiler_.reset();
}

void IterationReplay::finish() {
  release_counters();
  evaluator_->finish();
}

}  // namespace dlkprof::inject
