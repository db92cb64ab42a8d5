#include "inject/sampling/pm_sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/error.h"

namespace dlkprof::inject {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// How long the thread sleeps where now is no time to measure.
constexpr auto kBetweenLooks = 5ms;
// A burst is some 50 ms, in which a program that launches all the time is slowed by a quarter
// (results/2026-11-23-h200/performance.md), and both
// coming and leaving take some 10 ms of its time.
constexpr int kAwayForEachHere = 32;
constexpr Clock::duration kLongestAway = 2s;

}  // namespace

PmSampling::PmSampling(const cupti::Library& library, Recorder& recorder, const capture::ProfileOptions& options, Hooks hooks,
                       std::chrono::milliseconds patience)
    : library_(library), recorder_(recorder), options_(options), hooks_(std::move(hooks)), patience_(patience) {}

void PmSampling::add(const capture::DeviceRecord& device) {
  const std::lock_guard lock(*mutex_);
  if (stopping_ || !known_.insert(device.index).second) return;
  added_.push_back(device);
  if (!thread_.started()) thread_.start([this] { run(); });
  changed_->notify_all();
}

void PmSampling::finish() noexcept {
  std::unique_lock lock(*mutex_);
  stopping_ = true;
  changed_->notify_all();
  if (!thread_.started()) return;
  while (!changed_->wait_for(lock, patience_, [this] { return ended_; })) {
    if (computing_) continue;  // it gets on, and may not be in the midst of it when NVPerf is taken down
    thread_.let_go();          // it may end yet
    return;
  }
  lock.unlock();
  thread_.join();
}

void PmSampling::forget() noexcept {
  thread_.forget();
  stopping_ = true;
}

void PmSampling::pause(std::chrono::microseconds time) {
  std::unique_lock lock(*mutex_);
  changed_->wait_for(lock, time, [this] { return stopping_; });
}

void PmSampling::run() noexcept {
  hooks_.on_thread();
  Devices devices;
  while (!told_to_stop()) {
    if (!away_) open_added(devices);
    if (devices.empty()) stay();
    if (!devices.empty() && hooks_.wanted()) {
      take_burst(devices);
    } else {
      pause(kBetweenLooks);
    }
  }
  end(devices);
  const std::lock_guard lock(*mutex_);
  ended_ = true;
  changed_->notify_all();
}

bool PmSampling::told_to_stop() {
  const std::lock_guard lock(*mutex_);
  return stopping_;
}

// Only while CUPTI is here, which would come to life again.
void PmSampling::open_added(Devices& devices) {
  std::vector<capture::DeviceRecord> added;
  {
    const std::lock_guard lock(*mutex_);
    added = std::exchange(added_, {});
  }
  for (const auto& device : added) {
    if (auto opened = open(device)) devices.emplace(device.index, std::move(opened));
  }
}

// Where nothing can be sampled any more CUPTI comes back for good, and the timeline goes on.
void PmSampling::stay() noexcept {
  if (!std::exchange(away_, false)) return;
  try {
    hooks_.come([this](std::chrono::microseconds time) { pause(time); });
  } catch (const std::exception& error) {
    fail(error, 0);
  }
}

// Reading takes longer than sampling, and needs nothing of the program's.
void PmSampling::take_burst(Devices& devices) {
  const Pause wait = [this](std::chrono::microseconds time) { pause(time); };
  auto begin = Clock::now();
  try {
    hooks_.come(wait);
  } catch (const std::exception& error) {
    for (const auto& [index, device] : devices) fail(error, index);
    end(devices);
    return;
  }
  const bool was_away = std::exchange(away_, false);
  open_added(devices);
  for_each(devices, &DeviceSampling::start);
  if (!was_away) begin = Clock::now();  // CUPTI was here anyway, and samplers have been set up for all bursts
  std::chrono::microseconds length{0};
  for (const auto& [index, device] : devices) length = std::max(length, device->burst_length());
  pause(length);
  for_each(devices, &DeviceSampling::stop);
  if (devices.empty()) return;  // nothing is sampled any more: CUPTI stays
  away_ = hooks_.go(wait);
  const auto gone = Clock::now();
  for_each(devices, &DeviceSampling::read);
  const auto away = std::min(kAwayForEachHere * (gone - begin), kLongestAway) - (Clock::now() - gone);
  if (away_ && !devices.empty()) pause(std::chrono::duration_cast<std::chrono::microseconds>(away));
}

// A sampler is not ended where CUPTI was left, which would come to life again: that is left to the end of the process.
void PmSampling::end(Devices& devices) noexcept {
  for (auto& [index, device] : devices) {
    if (away_) (void)device.release();
  }
  devices.clear();
}

void PmSampling::for_each(Devices& devices, void (DeviceSampling::*act)()) {
  for (auto device = devices.begin(); device != devices.end();) {
    try {
      (*device->second.*act)();
      ++device;
    } catch (const std::exception& error) {
      fail(error, device->first);
      if (away_) (void)device->second.release();  // as in end()
      device = devices.erase(device);
    }
  }
}

std::unique_ptr<DeviceSampling> PmSampling::open(const capture::DeviceRecord& device) noexcept {
  try {
    const DeviceSampling::Output output{
        .on_set =
            [this](capture::MetricSetRecord set) {
              set.id = ++metric_sets_;
              recorder_.append(set);
              return set.id;
            },
        .on_samples = [this](const capture::SamplesRecord& samples) { recorder_.append(samples); },
        .note = [this](capture::Severity severity, const std::string& what, const std::string& detail,
                       const std::string& remedy) { recorder_.note(severity, what, detail, remedy); },
        .on_computing = [this](bool computing) { computing_ = computing; }};
    return std::make_unique<DeviceSampling>(library_, device, options_.metrics, options_.sampling_interval_ns, output);
  } catch (const std::exception& error) {
    fail(error, device.index);
    return nullptr;
  }
}

void PmSampling::fail(const std::exception& error, std::uint32_t device) noexcept {
  recorder_.note("counters of GPU " + std::to_string(device) + " cannot be sampled, the program runs on", error);
}

}  // namespace dlkprof::inject
