#include "inject/replay/launch_evaluator.h"

#include <exception>
#include <utility>

#include "inject/signals_blocked.h"

namespace dlkprof::inject {

LaunchEvaluator::LaunchEvaluator(const cupti::Library& library, std::string chip, std::vector<std::uint8_t> availability,
                                 std::vector<std::string> metrics, Listener listener)
    : library_(library),
      chip_(std::move(chip)),
      availability_(std::move(availability)),
      metrics_(std::move(metrics)),
      listener_(std::move(listener)) {
  const SignalsBlocked blocked;
  thread_ = std::thread([this] { run(); });
}

void LaunchEvaluator::give(Job job) {
  busy_.store(true, std::memory_order_release);
  const std::lock_guard lock(mutex_);
  job_ = std::move(job);
  changed_.notify_all();
}

void LaunchEvaluator::wait_until_idle() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !busy(); });
}

void LaunchEvaluator::run() noexcept {
  std::optional<cupti::Host> host;  // NVPerf's objects are made and used by one thread
  for (;;) {
    std::optional<Job> job;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || job_; });
      if (!job_) return;
      job = std::exchange(job_, std::nullopt);
    }
    try {
      if (!host) host = cupti::Host::create(library_, chip_, availability_);
      evaluate(*host, std::move(*job));
    } catch (const std::exception& error) {
      listener_.on_failure(error);
    }
    const std::lock_guard lock(mutex_);
    busy_.store(false, std::memory_order_release);
    changed_.notify_all();
  }
}

void LaunchEvaluator::evaluate(const cupti::Host& host, Job job) {
  for (std::size_t range = 0; range < job.launches.size(); ++range) {
    MeasuredLaunch& launch = job.launches[range];
    if (launch.wanted == 0) continue;
    launch.record.values = host.evaluate(*job.image, range, metrics_);
    listener_.on_values(std::move(launch));
  }
}

void LaunchEvaluator::finish() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

}  // namespace dlkprof::inject
