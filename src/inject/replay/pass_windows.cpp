#include "inject/replay/pass_windows.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/error.h"
#include "cupti/counter_images.h"

namespace dlkprof::inject {
namespace {

// Of what measuring may take of memory: counters that wait for further passes. Some 1 KB a range.
constexpr std::size_t kWaitingShare = 8;
// Of a launch, with a value for each instance of a counter: those of multiprocessors need 0.8 to 1.3 MB, all others some 25 KB,
// on an H200 with CUDA 13.0.
constexpr std::size_t kDearRangeBytes = std::size_t{256} << 10U;
constexpr double kNsPerSecond = 1e9;
constexpr double kLeastWindowNs = 1e6;  // that opening and closing one takes
// Every launch takes some 16 us longer while counters are held, and taking them again takes some 0.1 s
// (results/2026-11-26-h100/held.md): they are held in vain for no longer than that is worth.
constexpr std::uint64_t kHeldLaunches = 6'000;

PassWindows::Asked plan_of(const cupti::Host& host, const std::vector<capture::MetricRequest>& metrics) {
  auto resolved = host.resolve(metrics);
  if (resolved.names.empty()) return {{}, std::move(resolved.unavailable)};
  return {host.plan(resolved.names), std::move(resolved.unavailable)};
}

// One plan alone where it counts SASS instructions: once a context had a configuration that does, the session of one that does
// not frees at its end what was freed before, and the process ends with signal 11 (CUDA 13.0, driver 580, H100 and H200).
std::vector<PassWindows::Asked> plans_of(const cupti::Host& host, const capture::ProfileOptions& options) {
  std::vector<PassWindows::Asked> all;
  PassWindows::Asked asked = plan_of(host, options.metrics);
  if (asked.plan.metrics.empty()) {
    throw Error("none of the metrics asked for is offered by this GPU", host.chip(),
                "See what it offers: dlkprof metrics --chip " + host.chip() + " --query <regex>");
  }
  if (asked.plan.passes > 1 && !options.first_metrics.empty() && !asked.plan.patches_code()) {
    PassWindows::Asked first = plan_of(host, options.first_metrics);
    if (first.plan.passes == 1) all.push_back(std::move(first));
  }
  all.push_back(std::move(asked));
  return all;
}

std::vector<std::string> metrics_of(std::span<const PassWindows::Asked> all) {
  std::vector<std::string> metrics;
  for (const auto& asked : all) metrics.insert(metrics.end(), asked.plan.metrics.begin(), asked.plan.metrics.end());
  std::sort(metrics.begin(), metrics.end());
  metrics.erase(std::unique(metrics.begin(), metrics.end()), metrics.end());
  return metrics;
}

// Whether counters of each multiprocessor are read out, by what CUPTI would keep of a launch.
bool reads_multiprocessors(cupti::RangeProfiler& profiler, std::span<const std::string> metrics) {
  return profiler.image_bytes(metrics, 2) - profiler.image_bytes(metrics, 1) >= kDearRangeBytes;
}

// Where the libraries refuse what others do, images are laid out as CUPTI does: windows are then smaller, and nothing is lost.
std::optional<cupti::CounterImages> images_of(const cupti::Library& library, const cupti::Host& host,
                                              std::span<const PassWindows::Asked> asked) {
  std::vector<const cupti::CollectionPlan*> plans;
  for (const auto& one : asked) plans.push_back(&one.plan);
  const bool several = std::any_of(plans.begin(), plans.end(), [](const auto* plan) { return plan->passes > 1; });
  if (!several) return std::nullopt;
  (void)cupti::NvPerf::open(library);  // without it no passes are put together
  try {
    auto images = cupti::CounterImages::create(library, host, plans);
    if (images) (void)images->empty(1);
    return images;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

PassScheduler::Price price_of(const cupti::WindowPrices& prices) noexcept {
  return {(prices.launch_seconds + prices.close_launch_seconds) * kNsPerSecond,
          (prices.open_seconds + prices.close_seconds) * kNsPerSecond};
}

PassWindows::PassWindows(const cupti::Library& library, CUcontext context, const capture::DeviceRecord& device,
                         const capture::ProfileOptions& options, std::uint32_t first_metric_set,
                         RangeEvaluator::Listener listener)
    : library_(library), context_(context), gpu_(device.pci_bus_id) {
  const auto turn = cupti::CounterTurn::take(gpu_);  // even asking what counters there are fails while another process has them
  auto availability = cupti::counter_availability(library, context);
  const auto host = cupti::Host::create(library, device.chip, availability);
  asked_ = plans_of(host, options);
  auto profiler = cupti::RangeProfiler::create(library, context);
  const auto images = images_of(library, host, asked_);
  const auto metrics = metrics_of(asked_);
  const auto empty_image = [&](std::size_t launches) {
    return images ? images->empty(launches) : profiler.empty_image(metrics, launches);
  };
  const auto& dear = images ? cupti::kPerSmPrices : cupti::kPerInstancePrices;
  schedule(profiler, dear, reads_multiprocessors(profiler, metrics) ? dear : cupti::kHwpmPrices, options.max_memory_bytes());
  image_ = std::make_shared<cupti::ReusableImage>(empty_image(most_launches_));
  std::vector<RangeEvaluator::Plan> plans;
  for (Asked& asked : asked_) {
    asked.metric_set = first_metric_set++;
    plans.push_back({asked.plan.metrics, asked.plan.passes, asked.metric_set});
  }
  evaluator_ = std::make_unique<RangeEvaluator>(library, device.chip, std::move(availability), std::move(plans), empty_image(1),
                                                options.max_memory_bytes() / kWaitingShare, std::move(listener));
}

// Where there are two plans, the first is of one pass that each configuration is to have from the first time that it comes.
// `dear`: where counters of each multiprocessor are read out; `all`: of what one window must have room for.
void PassWindows::schedule(cupti::RangeProfiler& profiler, const cupti::WindowPrices& dear, const cupti::WindowPrices& all,
                           std::size_t most_bytes) {
  most_launches_ = cupti::most_launches(all, most_bytes);
  std::vector<PassScheduler::Price> scheduled;
  for (std::size_t plan = 0; plan < asked_.size(); ++plan) {
    const auto& prices = reads_multiprocessors(profiler, asked_[plan].plan.metrics) ? dear : cupti::kHwpmPrices;
    for (std::size_t pass = 0; pass < asked_[plan].plan.passes; ++pass) {
      passes_.push_back({plan, pass});
      scheduled.push_back(price_of(prices));
      passes_.back().close_launch_ns = prices.close_launch_seconds * kNsPerSecond;
    }
  }
  scheduler_.emplace(std::move(scheduled), most_launches_, asked_.size() > 1);
}

bool PassWindows::is_to_give_back(bool launch_is_wanted) {
  constexpr std::uint64_t kBetweenLooks = 64;  // asking whether another process waits takes some microseconds
  constexpr auto kTurn = std::chrono::seconds(2);
  if (!turn_.held()) return false;
  if (scheduler_->quiet_for() > kHeldLaunches) return true;
  const bool looks = ++launches_seen_ % kBetweenLooks == 0 || launch_is_wanted;
  return looks && Clock::now() - turn_since_ > kTurn && turn_.is_wanted();
}

bool PassWindows::enter(MeasuredLaunch launch, Clock::time_point since) {
  since_ = Clock::now();
  const auto waited = since_ - since;
  spent_ += waited;
  try {
    const PassScheduler::Step step = scheduler_->take(launch.entry);
    if (step == PassScheduler::Step::close) close_window();
    if (step == PassScheduler::Step::none || step == PassScheduler::Step::close) return false;
    if (step == PassScheduler::Step::window) open_window(launch.entry);
    launch.record.cost_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(waited).count());
    launches_.push_back(std::move(launch));
    pause_.emplace();
    session_->enable();
    return true;
  } catch (...) {
    forget_window();
  }
}

bool PassWindows::leave(bool refused) {
  try {
    session_->disable();
    pause_.reset();
    const std::chrono::nanoseconds cost = Clock::now() - since_;
    launches_.back().record.cost_ns += static_cast<std::uint64_t>(cost.count());
    spent_ += cost;
    if (!refused && !scheduler_->full()) return false;
    if (refused) {
      scheduler_->take_back();
      launches_.pop_back();
    }
    const bool has_some = !launches_.empty();
    close_window(refused);
    return has_some;
  } catch (...) {
    forget_window();
  }
}

void PassWindows::open_window(Ledger::Entry entry) {
  close_window();
  scheduler_->open(entry);
  const auto begin = Clock::now();
  take_session();
  const auto session = Clock::now();
  const Pass& pass = passes_.at(scheduler_->pass());
  session_->begin(asked_[pass.plan].plan, pass.pass);
  window_open_ = true;
  window_cost_ = Clock::now() - session;
  since_ = Clock::now();
  spent_ += since_ - begin;
}

void PassWindows::take_session() {
  if (session_) return;
  if (!turn_.held()) {
    turn_ = cupti::CounterTurn::take(gpu_);
    turn_since_ = Clock::now();
  }
  image_->empty();  // of what a window that failed left there
  session_.emplace(library_, context_, image_->bytes(), most_launches_);
}

void PassWindows::close_window(bool refused) {
  if (!std::exchange(window_open_, false)) return;
  const auto begin = Clock::now();
  evaluator_->wait_for_room();  // what was measured before is read from the same image
  const auto end = Clock::now();
  session_->end(launches_.size(), refused);
  window_cost_ += Clock::now() - end;
  spent_ += Clock::now() - begin;
  const Pass& pass = passes_.at(scheduler_->pass());
  const auto share = static_cast<std::uint64_t>(window_cost_.count()) / std::max<std::uint64_t>(1, launches_.size());
  for (MeasuredLaunch& launch : launches_) {
    launch.record.mode = capture::ReplayMode::iteration;
    launch.record.cost_ns += share;
  }
  const double of_launches_ns = pass.close_launch_ns * static_cast<double>(launches_.size());
  const double window_ns = std::max(kLeastWindowNs, static_cast<double>(window_cost_.count()) - of_launches_ns);
  if (launches_.empty()) {
    image_->empty();
  } else {
    evaluator_->give({image_, pass.plan, pass.pass, std::exchange(launches_, {})});
  }
  scheduler_->end_window(learns_prices_ ? std::optional(window_ns) : std::nullopt);
}

// Where something failed: the next window has a new session, and the failure is thrown on.
void PassWindows::forget_window() {
  const std::exception_ptr failure = std::current_exception();
  window_open_ = false;
  pause_.reset();
  scheduler_->forget_window();
  launches_.clear();
  give_back();
  try {
    std::rethrow_exception(failure);
  } catch (const std::bad_alloc&) {
    throw Error("there is no memory for a window of launches", "", "Give less --max-memory.");
  }
}

void PassWindows::give_back() noexcept {
  evaluator_->wait_for_room();  // its image is the session's
  session_.reset();
}

void PassWindows::release_counters() {
  try {
    close_window();
  } catch (...) {
    turn_ = {};
    forget_window();
  }
  give_back();
  turn_ = {};
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

}  // namespace dlkprof::inject
