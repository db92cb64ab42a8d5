#include "inject/replay/range_evaluator.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <future>
#include <limits>
#include <optional>

#include "inject/signals_blocked.h"

namespace dlkprof::inject {
namespace {

constexpr const char* kGpuTime = "gpu__time_duration.sum";

bool any_is_finite(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

}  // namespace

// What the thread has of its own: NVPerf's objects are made and used by one thread.
class RangeEvaluator::Worker {
 public:
  explicit Worker(RangeEvaluator& evaluator) : evaluator_(evaluator), shared_(evaluator.shared_) {
    for (const Plan& plan : shared_.plans) partial_.emplace_back(plan.passes, shared_.most_bytes);
  }

  void evaluate(Window window);
  // What there is of configurations that lack passes.
  void evaluate_incomplete();

 private:
  [[nodiscard]] const cupti::Host& host();
  void keep(Window window);
  [[nodiscard]] std::vector<PackedRange> pack(const Window& window) const;
  void combine(std::size_t plan, std::vector<PartialCounters::Range> ranges);
  void deliver(std::size_t plan, MeasuredLaunch launch);
  void blank_throughputs(std::size_t plan, std::vector<double>& values);

  RangeEvaluator& evaluator_;
  const Shared& shared_;
  std::optional<cupti::Host> host_;
  std::vector<PartialCounters> partial_;  // by plan
};

const cupti::Host& RangeEvaluator::Worker::host() {
  if (!host_) host_ = cupti::Host::create(shared_.library, shared_.chip, shared_.availability);
  return *host_;
}

void RangeEvaluator::Worker::evaluate(Window window) {
  const Plan& plan = shared_.plans.at(window.plan);
  for (MeasuredLaunch& launch : window.launches) launch.record.metric_set = plan.metric_set;
  if (plan.passes > 1) return keep(std::move(window));
  for (std::size_t range = 0; range < window.launches.size(); ++range) {
    MeasuredLaunch& launch = window.launches[range];
    launch.record.passes = 1;
    launch.record.values = host().evaluate(window.image->bytes(), range, plan.metrics);
    deliver(window.plan, std::move(launch));
  }
}

void RangeEvaluator::Worker::keep(Window window) {
  std::vector<PackedRange> packed = pack(window);
  PartialCounters& partial = partial_.at(window.plan);
  for (std::size_t range = 0; range < packed.size(); ++range) {
    const Ledger::Entry entry = window.launches[range].entry;
    partial.add(window.pass, {std::move(window.launches[range]), std::move(packed[range])});
    if (auto all = partial.take_complete(entry); !all.empty()) combine(window.plan, std::move(all));
  }
  evaluator_.given_up_ = partial.given_up();
}

// By several threads: a range takes longer than measuring it did, and the next window waits for this one's image.
std::vector<PackedRange> RangeEvaluator::Worker::pack(const Window& window) const {
  constexpr std::size_t kMostThreads = 4;
  const cupti::NvPerf& nvperf = cupti::NvPerf::open(shared_.library);
  std::vector<PackedRange> packed(window.launches.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t range = next++; range < packed.size(); range = next++) {
      cupti::CounterCombiner alone(nvperf, shared_.empty_image);
      alone.add(window.image->bytes(), range);
      packed[range] = PackedRange(alone.image(), shared_.empty_image);
    }
  };
  std::vector<std::future<void>> others;
  while (others.size() + 1 < std::min(kMostThreads, packed.size())) others.push_back(std::async(std::launch::async, work));
  work();
  for (auto& other : others) other.get();
  return packed;
}

// One launch of them all: the last, with the passes and the cost of each.
void RangeEvaluator::Worker::combine(std::size_t index, std::vector<PartialCounters::Range> ranges) {
  const Plan& plan = shared_.plans.at(index);
  cupti::CounterCombiner sum(cupti::NvPerf::open(shared_.library), shared_.empty_image);
  std::uint64_t cost_ns = 0;
  for (const auto& range : ranges) {
    std::vector<std::uint8_t> image = shared_.empty_image;
    range.counters.put_into(image);
    sum.add(image, 0);
    cost_ns += range.launch.record.cost_ns;
  }
  const auto last = std::max_element(ranges.begin(), ranges.end(), [](const auto& one, const auto& other) {
    return one.launch.record.index < other.launch.record.index;
  });
  MeasuredLaunch launch = std::move(last->launch);
  launch.record.cost_ns = cost_ns;
  launch.record.passes = static_cast<std::uint32_t>(ranges.size());
  launch.record.values = host().evaluate(sum.image(), 0, plan.metrics);
  if (ranges.size() < plan.passes) blank_throughputs(index, launch.record.values);
  if (any_is_finite(launch.record.values)) deliver(index, std::move(launch));
}

// A throughput is the greatest of several figures, and NVPerf takes the greatest of those it has: while passes lack that is a
// wrong one. All other metrics are then no number, or right (H200, CUDA 13.0).
void RangeEvaluator::Worker::blank_throughputs(std::size_t plan, std::vector<double>& values) {
  const auto& metrics = shared_.plans.at(plan).metrics;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    if (!std::isfinite(values[i]) || host().properties(metrics[i]).type != cupti::MetricType::throughput) continue;
    values[i] = std::numeric_limits<double>::quiet_NaN();
  }
}

void RangeEvaluator::Worker::deliver(std::size_t plan, MeasuredLaunch launch) {
  const auto& metrics = shared_.plans.at(plan).metrics;
  const auto found = std::find(metrics.begin(), metrics.end(), kGpuTime);
  if (found != metrics.end()) {
    const double ns = launch.record.values.at(static_cast<std::size_t>(found - metrics.begin()));
    if (std::isfinite(ns) && ns > 0) {
      for (PartialCounters& partial : partial_) partial.set_gpu_time(launch.entry, static_cast<std::uint64_t>(ns));
    }
  }
  shared_.listener.on_values(std::move(launch));
}

void RangeEvaluator::Worker::evaluate_incomplete() {
  for (std::size_t plan = 0; plan < partial_.size(); ++plan) {
    for (auto some = partial_[plan].take_incomplete(); !some.empty(); some = partial_[plan].take_incomplete()) {
      try {
        combine(plan, std::move(some));
      } catch (const std::exception& error) {
        shared_.listener.on_failure(error);
      }
    }
  }
}

RangeEvaluator::RangeEvaluator(const cupti::Library& library, std::string chip, std::vector<std::uint8_t> availability,
                               std::vector<Plan> plans, std::vector<std::uint8_t> empty_image, std::size_t most_bytes,
                               Listener listener)
    : shared_{library,    std::move(chip),    std::move(availability), std::move(plans), std::move(empty_image),
              most_bytes, std::move(listener)} {
  const auto has_several = [](const Plan& plan) { return plan.passes > 1; };
  // Before anything is measured that nothing can be made of.
  if (std::any_of(shared_.plans.begin(), shared_.plans.end(), has_several)) (void)cupti::NvPerf::open(library);
  const SignalsBlocked blocked;
  thread_ = std::thread([this] { run(); });
}

void RangeEvaluator::give(Window window) {
  const std::lock_guard lock(mutex_);
  busy_ = true;
  window_ = std::move(window);
  changed_.notify_all();
}

void RangeEvaluator::wait_for_room() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !busy_; });
}

void RangeEvaluator::run() noexcept {
  Worker worker(*this);
  for (;;) {
    std::optional<Window> window;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || window_; });
      if (!window_) break;
      window = std::exchange(window_, std::nullopt);
    }
    work(worker, std::move(*window));
    const std::lock_guard lock(mutex_);
    busy_ = false;
    changed_.notify_all();
  }
  worker.evaluate_incomplete();
}

void RangeEvaluator::work(Worker& worker, Window window) noexcept {
  const auto image = window.image;
  try {
    worker.evaluate(std::move(window));
  } catch (const std::exception& error) {
    shared_.listener.on_failure(error);
  }
  try {
    image->empty();
  } catch (const std::exception& error) {
    shared_.listener.on_failure(error);
  }
}

void RangeEvaluator::finish() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

}  // namespace dlkprof::inject
