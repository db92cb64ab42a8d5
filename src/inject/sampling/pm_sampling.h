// Replay mode sample: a thread of the library's that samples the counters of each GPU the program uses (device_sampling.h), from
// its first launch on, while the program runs at its own speed. When something fails it is said once, sampling of that GPU ends,
// and the program runs on.
//
// Thread-safe. A forked child has no such thread and samples nothing.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "inject/sampling/device_sampling.h"
#include "inject/session/recorder.h"
#include "inject/worker_thread.h"

namespace dlkprof::inject {

class PmSampling {
 public:
  // Waits for so long, or until the program ends.
  using Pause = std::function<void(std::chrono::microseconds)>;
  struct Hooks {
    std::function<void()> on_thread;         // first thing on the sampling thread
    std::function<bool()> wanted;            // whether now is a time to measure
    std::function<void(const Pause&)> come;  // before a burst: has the program's work told of. May throw Error
    std::function<bool(const Pause&)> go;    // after it: leaves the program alone, where that is possible
  };
  // How long finish() waits for the driver, which may never answer.
  static constexpr std::chrono::milliseconds kPatience{3'000};
  PmSampling(const cupti::Library& library, Recorder& recorder, const capture::ProfileOptions& options, Hooks hooks,
             std::chrono::milliseconds patience = kPatience);

  // A GPU is to be sampled; its record stands in the capture. NVPerf must be in use, and finish() be called before what it
  // registered at that time takes it down.
  void add(const capture::DeviceRecord& device);
  // Writes what is left and ends the thread. Also where nothing was ever sampled.
  void finish() noexcept;

  // Around fork, before the recorder's.
  void lock() { mutex_->lock(); }
  void unlock() { mutex_->unlock(); }
  // In a forked child, between the two.
  void forget() noexcept;

 private:
  using Devices = std::map<std::uint32_t, std::unique_ptr<DeviceSampling>>;
  void run() noexcept;
  void pause(std::chrono::microseconds time);
  [[nodiscard]] bool told_to_stop();
  void open_added(Devices& devices);
  void take_burst(Devices& devices);
  void stay() noexcept;
  void for_each(Devices& devices, void (DeviceSampling::*act)());
  void end(Devices& devices) noexcept;
  [[nodiscard]] std::unique_ptr<DeviceSampling> open(const capture::DeviceRecord& device) noexcept;
  void fail(const std::exception& error, std::uint32_t device) noexcept;

  const cupti::Library& library_;
  Recorder& recorder_;
  const capture::ProfileOptions& options_;
  const Hooks hooks_;
  const std::chrono::milliseconds patience_;
  std::uint32_t metric_sets_ = 0;  // of the thread's own, as is:
  bool away_ = false;              // CUPTI was left until the next burst

  // Never destroyed in a forked child, where they are as the thread left them.
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
  std::unique_ptr<std::condition_variable> changed_ = std::make_unique<std::condition_variable>();
  WorkerThread thread_;
  std::set<std::uint32_t> known_;
  std::vector<capture::DeviceRecord> added_;
  bool stopping_ = false, ended_ = false;
  std::atomic<bool> computing_{false};
};

}  // namespace dlkprof::inject
