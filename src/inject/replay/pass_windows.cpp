#include "inject/replay/pass_windows.h"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "base/error.h"
#include "cupti/collection_prices.h"

namespace dlkprof::inject {
namespace {

using Clock = std::chrono::steady_clock;

// Of what measuring may take of memory: counters that wait for further passes. Some 1 KB a range.
constexpr std::size_t kWaitingShare = 8;
// Of a launch: counters of each multiprocessor need 0.8 MB, all others some 50 KB, on an H200 with CUDA 13.0.
constexpr std::size_t kDearRangeBytes = std::size_t{256} << 10U;
// Of a window of the first of two stages: a larger one saves little, and holds up what waits for its GPU time.
constexpr std::size_t kMostFirstLaunches = 128;
constexpr double kNsPerSecond = 1e9;
// Asking whether another process waits for the counters takes some microseconds.
constexpr std::uint64_t kIdleBetweenLooks = 64;

struct Asked {
  cupti::CollectionPlan plan;
  std::vector<std::string> unavailable;
};

Asked plan_of(const cupti::Host& host, const std::vector<capture::MetricRequest>& metrics) {
  auto resolved = host.resolve(metrics);
  if (resolved.names.empty()) return {{}, std::move(resolved.unavailable)};
  return {host.plan(resolved.names), std::move(resolved.unavailable)};
}

std::vector<PassWindows::Stage> plan_stages(const cupti::Host& host, const capture::ProfileOptions& options) {
  std::vector<PassWindows::Stage> stages;
  Asked asked = plan_of(host, options.metrics);
  if (asked.plan.metrics.empty()) {
    throw Error("none of the metrics asked for is offered by this GPU", host.chip(),
                "See what it offers: dlkprof metrics --chip " + host.chip() + " --query <regex>");
  }
  if (asked.plan.passes > 1 && !options.first_metrics.empty()) {
    Asked first = plan_of(host, options.first_metrics);
    if (first.plan.passes == 1) stages.push_back({std::move(first.plan), std::move(first.unavailable)});
  }
  stages.push_back({std::move(asked.plan), std::move(asked.unavailable)});
  return stages;
}

}  // namespace

PassWindows::PassWindows(const cupti::Library& library, CUcontext context, const capture::DeviceRecord& device,
                         const capture::ProfileOptions& options, std::uint32_t first_metric_set,
                         RangeEvaluator::Listener listener)
    : library_(library), context_(context), gpu_(device.pci_bus_id), wants_all_(!options.samples) {
  const auto turn = cupti::CounterTurn::take(gpu_);  // even asking what counters there are fails while another process has them
  auto availability = cupti::counter_availability(library, context);
  stages_ = plan_stages(cupti::Host::create(library, device.chip, availability), options);
  auto profiler = cupti::RangeProfiler::create(library, context);
  std::vector<PassScheduler::Stage> scheduled;
  std::vector<RangeEvaluator::Stage> evaluated;
  for (Stage& stage : stages_) {
    stage.metric_set = first_metric_set++;
    const bool is_first_of_two = stages_.size() > 1 && scheduled.empty();
    const std::size_t most_launches = is_first_of_two ? kMostFirstLaunches : std::numeric_limits<std::size_t>::max();
    scheduled.push_back(schedule(profiler, stage.plan, options.max_memory_bytes(), most_launches));
    most_launches_.push_back(scheduled.back().most_launches);
    evaluated.push_back({stage.plan.metrics, stage.plan.passes, stage.metric_set, {}});
    if (stage.plan.passes > 1) evaluated.back().empty_image = profiler.empty_image(stage.plan);
  }
  scheduler_.emplace(std::move(scheduled));
  evaluator_ = std::make_unique<RangeEvaluator>(library, device.chip, std::move(availability), std::move(evaluated),
                                                options.max_memory_bytes() / kWaitingShare, std::move(listener));
}

PassScheduler::Stage PassWindows::schedule(cupti::RangeProfiler& profiler, const cupti::CollectionPlan& plan,
                                           std::size_t most_bytes, std::size_t most_launches) {
  const std::size_t few = profiler.image_bytes(plan, 1);
  const bool dear = profiler.image_bytes(plan, 2) - few >= kDearRangeBytes;
  const cupti::WindowPrices& prices = dear ? cupti::kPerSmPrices : cupti::kHwpmPrices;
  const std::size_t launches = std::min(most_launches, cupti::most_launches(prices, most_bytes));
  const double start_stop = prices.open_seconds + prices.close_seconds;
  const double window = start_stop + prices.image_seconds * static_cast<double>(launches);
  return {.passes = plan.passes,
          .most_launches = launches,
          .launch_ns = prices.launch_seconds * kNsPerSecond,
          .window_ns = window * kNsPerSecond,
          .start_stop_ns = start_stop * kNsPerSecond};
}

// Not for samples that may come from a later launch.
bool PassWindows::must_wait(const MeasuredLaunch& launch) const {
  if (launch.wanted == 0 || window_open_ || !evaluator_->busy()) return false;
  return wants_all_ || scheduler_->opens_first_stage(launch.entry);
}

void PassWindows::wait_for_room() {
  const auto begin = Clock::now();
  evaluator_->wait_for_room();
  spent_ += Clock::now() - begin;
}

bool PassWindows::enter(MeasuredLaunch launch, const std::function<void()>& before_window) {
  if (must_wait(launch)) wait_for_room();
  if (!window_open_) {
    for (const auto& [entry, ns] : evaluator_->take_gpu_times()) scheduler_->set_gpu_time(entry, ns);
  }
  const auto decision = scheduler_->before(launch.entry, launch.wanted, !evaluator_->busy());
  if (decision == PassScheduler::Before::idle) {
    if (++idle_launches_ % kIdleBetweenLooks == 0) let_others();
    return false;
  }
  if (decision == PassScheduler::Before::open) {
    try {
      before_window();
      open_window();
    } catch (...) {
      forget_window();
    }
  }
  if (!scheduler_->is_sample()) launch.wanted = 0;
  launches_.push_back(std::move(launch));
  return true;
}

bool PassWindows::leave() {
  if (!scheduler_->ends_window()) return false;
  close_window();
  let_others();
  return true;
}

void PassWindows::interrupt() {
  if (window_open_) close_window();
}

void PassWindows::open_window() {
  since_ = Clock::now();
  launches_.clear();
  const PassScheduler::Pass pass = scheduler_->pass();
  take_profiler(pass);
  const cupti::CollectionPlan& plan = stages_[pass.stage].plan;
  const std::size_t at = (pass.pass + plan.passes - scheduler_->skips()) % plan.passes;
  profiler_->configure(plan, CUPTI_UserReplay, most_launches_[pass.stage], at);
  pause_.emplace();
  for (std::size_t skipped = 0; skipped < scheduler_->skips(); ++skipped) skip({pass.stage, (at + skipped) % plan.passes});
  const auto begin = Clock::now();
  profiler_->start();
  starting_ = Clock::now() - begin;
  window_open_ = true;
}

// A profiler keeps to the plan that it was given first.
void PassWindows::take_profiler(const PassScheduler::Pass& pass) {
  if (profiler_ && profiled_stage_ == pass.stage) return;
  profiler_.reset();
  if (!turn_.held()) {
    turn_ = cupti::CounterTurn::take(gpu_);
    turn_since_ = Clock::now();
  }
  profiler_.emplace(cupti::RangeProfiler::create(library_, context_));
  profiled_stage_ = pass.stage;
  profiler_is_fresh_ = true;
}

// Where another process waits for the GPU's counters, and this one has had them for long enough to be worth a new profiler.
void PassWindows::let_others() {
  constexpr auto kTurn = std::chrono::seconds(2);
  if (Clock::now() - turn_since_ > kTurn && turn_.is_wanted()) release_counters();
}

void PassWindows::skip(const PassScheduler::Pass& pass) {
  const auto begin = Clock::now();
  profiler_->start();
  (void)profiler_->stop();
  const std::chrono::duration<double, std::nano> took = Clock::now() - begin;
  scheduler_->note_price(pass, took.count());
}

void PassWindows::close_window() {
  window_open_ = false;
  try {
    const auto begin = Clock::now();
    (void)profiler_->stop();
    const std::chrono::duration<double, std::nano> start_stop = starting_ + (Clock::now() - begin);
    pause_.reset();
    const PassScheduler::Pass pass = scheduler_->pass();
    profiler_->decode(launches_.size());
    if (profiler_->next_pass() != (pass.pass + 1) % stages_[pass.stage].plan.passes) {
      throw Error("counters are of another pass than was asked for", "cuptiRangeProfilerStop", "");
    }
    if (!std::exchange(profiler_is_fresh_, false)) scheduler_->note_price(pass, start_stop.count());
    const std::chrono::nanoseconds cost = Clock::now() - since_;
    spent_ += cost;
    deliver(cost);
    scheduler_->end_window(static_cast<double>(cost.count()));
  } catch (...) {
    forget_window();
  }
}

void PassWindows::deliver(std::chrono::nanoseconds cost) {
  const auto share = static_cast<std::uint64_t>(cost.count()) / std::max<std::uint64_t>(1, launches_.size());
  for (MeasuredLaunch& launch : launches_) {
    launch.record.mode = capture::ReplayMode::iteration;
    launch.record.cost_ns = share;
  }
  const PassScheduler::Pass pass = scheduler_->pass();
  evaluator_->give({profiler_->image(), pass.stage, pass.pass, std::exchange(launches_, {})});
}

// Where something failed: the next window has a new profiler, and the failure is thrown on.
void PassWindows::forget_window() {
  const std::exception_ptr failure = std::current_exception();
  window_open_ = false;
  pause_.reset();
  scheduler_->forget_window();
  profiler_.reset();
  launches_.clear();
  try {
    std::rethrow_exception(failure);
  } catch (const std::bad_alloc&) {
    throw Error("there is no memory for a window of launches", "", "Give less --max-memory.");
  }
}

void PassWindows::finish() {
  try {
    release_counters();
  } catch (...) {
    evaluator_->finish();
    throw;
  }
  evaluator_->finish();
}

void PassWindows::release_counters() {
  interrupt();
  scheduler_->lose_place();
  profiler_.reset();
  turn_ = {};
}

}  // namespace dlkprof::inject
