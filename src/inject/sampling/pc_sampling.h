// PC sampling of this process: started in every context with its first launch. A thread of the library's
// takes what was found twice a second, adds it up by instruction, and appends that to the capture. Where the hardware's
// buffer overflows the period is doubled. Where instructions are counted there are no samples, but those counts are recorded
// here, as kernel functions, their lines and their machine code are known here.
//
// The first failure is said and ends sampling; the program runs on. Thread-safe. Our thread calls CUPTI under the mutex, and
// callbacks may come inside of the driver's locks, which CUPTI may want meanwhile: they wait for the mutex with patience, not for
// ever.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "cupti/library.h"
#include "cupti/pc_sampler.h"
#include "cupti/sass_counter.h"
#include "inject/sampling/pc_sources.h"
#include "inject/sampling/pc_table.h"
#include "inject/session/recorder.h"
#include "inject/worker_thread.h"

namespace dlkprof::inject {

class PcSampling {
 public:
  // No period: nothing is sampled, and counts alone are recorded. `on_thread` is called first thing on our thread.
  PcSampling(const cupti::Library& library, Recorder& recorder, std::optional<std::uint32_t> period_log2,
             std::function<void()> on_thread);
  PcSampling(const PcSampling&) = delete;
  PcSampling& operator=(const PcSampling&) = delete;
  ~PcSampling() { finish(); }

  // Samples a context until it ends. Not to be called while it records a graph: CUPTI takes memory.
  void start(CUcontext context, std::uint32_t device) noexcept;
  // What callbacks of CUPTI's resource domain tell. A module may be loaded within a call of ours: that takes no lock which is
  // held while CUPTI or the driver is called, and calls nothing of theirs.
  void module_loaded(const CUpti_ResourceData& data) noexcept;
  void context_ends(CUcontext context) noexcept;
  // What the instructions of a launch did. `metrics`: what SassHit::metric names. Throws Error.
  void record(std::uint64_t launch_index, const capture::LaunchKey& key, const std::vector<std::string>& metrics,
              std::span<const cupti::SassHit> hits);
  // Ends sampling everywhere and appends what is left; before CUDA is torn down.
  void finish() noexcept;
  // In a forked child, which has neither the thread nor the GPU.
  void forget() noexcept { forgotten_ = true; }

 private:
  struct Context {
    std::optional<cupti::PcSampler> sampler;  // none: sampling has ended
    std::uint32_t device = 0;
    PcTable table;
    bool loses_samples = false;
  };

  void run() noexcept;
  void drain_all();
  void drain(Context& context);
  void lengthen_period(CUcontext handle, Context& context);
  void end_for_good(Context& context);
  void end(Context& context);
  void append(Context& context);
  void append_lines(std::chrono::milliseconds time);
  void append_code(std::chrono::milliseconds time);
  void take(Context& context, const cupti::PcHit& hit);
  void fail(const char* what, const std::exception& error) noexcept;  // ends all of it
  void say(const char* what, const std::exception& error) noexcept;

  const cupti::Library& library_;
  Recorder& recorder_;
  const std::optional<std::uint32_t> period_log2_;
  const std::function<void()> on_thread_;
  PcSources sources_;
  std::atomic<bool> active_{true}, forgotten_{false};

  std::mutex mutex_;  // of all below
  std::condition_variable stopping_changed_;
  bool stopping_ = false;
  bool reasons_appended_ = false;
  PcFunctions functions_;
  std::map<CUcontext, Context> contexts_;
  std::set<CUcontext> asked_;  // sampling was begun in them, or could not be
  std::chrono::steady_clock::time_point started_{}, appended_{};
  WorkerThread thread_;
};

}  // namespace dlkprof::inject
