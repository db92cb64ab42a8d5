#include "inject/replay/range_evaluator.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <exception>
#include <future>
#include <limits>
#include <map>
#include <optional>
#include <utility>

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

  // Evaluates or keeps all that is in it.
  void read(Window window);
  [[nodiscard]] bool has_complete() const noexcept { return !complete_.empty(); }
  // One configuration that has all passes, or what there is of all that lack some.
  void evaluate_complete() noexcept;
  void evaluate_incomplete() noexcept;

 private:
  struct Ranges {  // of a configuration: of each pass that it has, one
    std::size_t plan = 0;
    std::vector<PartialCounters::Range> of_passes;
  };
  [[nodiscard]] const cupti::Host& host();
  void show_device(const Window& window);
  void keep(Window window);
  [[nodiscard]] std::vector<PackedRange> pack(const Window& window);
  [[nodiscard]] PackedRange::Blocks blocks_of(const Window& window, std::size_t range) const;
  void combine(Ranges ranges) noexcept;
  [[nodiscard]] MeasuredLaunch sum_up(Ranges& ranges);
  void deliver(std::size_t plan, MeasuredLaunch launch);
  void blank_throughputs(std::size_t plan, std::vector<double>& values);

  RangeEvaluator& evaluator_;
  const Shared& shared_;
  std::optional<cupti::Host> host_;
  bool knows_device_ = false;
  std::vector<PartialCounters> partial_;  // by plan
  std::deque<Ranges> complete_;
  std::map<std::pair<std::size_t, std::size_t>, std::shared_ptr<const PackedRange::Blocks>> likes_;  // by plan and pass
  std::vector<std::uint8_t> scratch_;                                                                // an image of one range
};

const cupti::Host& RangeEvaluator::Worker::host() {
  if (!host_) host_ = cupti::Host::create(shared_.library, shared_.chip, shared_.availability);
  return *host_;
}

// NVPerf takes what it knows of the GPU from the first image that a host evaluates, and never looks again. Images in which ranges
// were only added up have nothing of it: for a host that saw such a one first, all metrics but times are no number (CUDA 13.0).
void RangeEvaluator::Worker::show_device(const Window& window) {
  if (window.launches.empty() || std::exchange(knows_device_, true)) return;
  (void)host().evaluate(window.image->bytes(), 0, {shared_.plans.at(window.plan).metrics.front()});
}

void RangeEvaluator::Worker::read(Window window) {
  const Plan& plan = shared_.plans.at(window.plan);
  show_device(window);
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
    if (auto all = partial.take_complete(entry); !all.empty()) complete_.push_back({window.plan, std::move(all)});
  }
  evaluator_.given_up_ = partial.given_up();
}

// By two threads: a range takes longer than measuring it did, and the next window waits for this one's image.
std::vector<PackedRange> RangeEvaluator::Worker::pack(const Window& window) {
  constexpr std::size_t kMostThreads = 2;  // each keeps some MB of images
  auto& like = likes_[{window.plan, window.pass}];
  if (!like) like = std::make_shared<const PackedRange::Blocks>(blocks_of(window, 0));
  std::vector<PackedRange> packed(window.launches.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t range = next++; range < packed.size(); range = next++) {
      packed[range] = PackedRange(blocks_of(window, range), like);
    }
  };
  std::vector<std::future<void>> others;
  while (others.size() + 1 < std::min(kMostThreads, packed.size())) others.push_back(std::async(std::launch::async, work));
  work();
  for (auto& other : others) other.get();
  return packed;
}

PackedRange::Blocks RangeEvaluator::Worker::blocks_of(const Window& window, std::size_t range) const {
  cupti::CounterCombiner alone(cupti::NvPerf::open(shared_.library), shared_.empty_image);
  alone.add(window.image->bytes(), range);
  return PackedRange::blocks_of(alone.image(), shared_.empty_image);
}

void RangeEvaluator::Worker::combine(Ranges ranges) noexcept {
  try {
    MeasuredLaunch launch = sum_up(ranges);
    if (any_is_finite(launch.record.values)) deliver(ranges.plan, std::move(launch));
  } catch (const std::exception& error) {
    shared_.listener.on_failure(error);
  }
}

// One launch of them all: the last, with the passes and the cost of each.
MeasuredLaunch RangeEvaluator::Worker::sum_up(Ranges& ranges) {
  cupti::CounterCombiner sum(cupti::NvPerf::open(shared_.library), shared_.empty_image);
  std::uint64_t cost_ns = 0;
  for (const auto& range : ranges.of_passes) {
    scratch_ = shared_.empty_image;
    range.counters.put_into(scratch_);
    sum.add(scratch_, 0);
    cost_ns += range.launch.record.cost_ns;
  }
  const auto earlier = [](const auto& one, const auto& other) { return one.launch.record.index < other.launch.record.index; };
  const auto last = std::max_element(ranges.of_passes.begin(), ranges.of_passes.end(), earlier);
  MeasuredLaunch launch = std::move(last->launch);
  const Plan& plan = shared_.plans.at(ranges.plan);
  launch.record.cost_ns = cost_ns;
  launch.record.passes = static_cast<std::uint32_t>(ranges.of_passes.size());
  launch.record.values = host().evaluate(sum.image(), 0, plan.metrics);
  if (ranges.of_passes.size() < plan.passes) blank_throughputs(ranges.plan, launch.record.values);
  return launch;
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

void RangeEvaluator::Worker::evaluate_complete() noexcept {
  Ranges ranges = std::move(complete_.front());
  complete_.pop_front();
  combine(std::move(ranges));
}

void RangeEvaluator::Worker::evaluate_incomplete() noexcept {
  for (std::size_t plan = 0; plan < partial_.size(); ++plan) {
    for (auto some = partial_[plan].take_incomplete(); !some.empty(); some = partial_[plan].take_incomplete()) {
      combine({plan, std::move(some)});
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
  thread_.start([this] { run(); });
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

// Windows first: the program may wait for room.
void RangeEvaluator::run() noexcept {
  Worker worker(*this);
  for (;;) {
    if (auto window = next_window(!worker.has_complete())) {
      read(worker, std::move(*window));
    } else if (worker.has_complete()) {
      worker.evaluate_complete();
    } else {
      break;
    }
  }
  worker.evaluate_incomplete();
}

// `wait`: for one, until there will be none any more.
std::optional<RangeEvaluator::Window> RangeEvaluator::next_window(bool wait) {
  std::unique_lock lock(mutex_);
  if (wait) changed_.wait(lock, [this] { return stopping_ || window_; });
  return std::exchange(window_, std::nullopt);
}

void RangeEvaluator::read(Worker& worker, Window window) noexcept {
  const auto image = window.image;
  try {
    worker.read(std::move(window));
  } catch (const std::exception& error) {
    shared_.listener.on_failure(error);
  }
  try {
    image->empty();
  } catch (const std::exception& error) {
    shared_.listener.on_failure(error);
  }
  const std::lock_guard lock(mutex_);
  busy_ = false;
  changed_.notify_all();
}

void RangeEvaluator::finish() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

}  // namespace dlkprof::inject
