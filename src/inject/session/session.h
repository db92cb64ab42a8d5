// Profiling of this process: hears every kernel launch through CUPTI's callbacks, asks the selector, has the selected
// ones replayed, and appends what comes to the capture. One a process, made on the first call of an entry point and
// never destroyed. Its callbacks run on the program's own threads: they are noexcept, do as little as they can, and
// when something fails they say so once and leave the program alone from then on.
//
// Locks, in this order: gate_ (shared by every launch while it is in the driver, held alone by a launch that is being
// measured), then mutex_ (bookkeeping), then the ledger's and the recorder's own. CUPTI tells of modules from within whatever
// call has the driver load them, a lock of the driver's held: nobody may wait for a lock of ours then.
#pragma once

#include <cupti.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <vector>

#include "capture/options.h"
#include "cupti/driver.h"
#include "cupti/library.h"
#include "inject/replay/iteration_replay.h"
#include "inject/replay/kernel_replay.h"
#include "inject/sampling/pc_sampling.h"
#include "inject/sampling/pm_sampling.h"
#include "inject/session/function_table.h"
#include "inject/session/launch_call.h"
#include "inject/session/ledger.h"
#include "inject/session/recorder.h"
#include "inject/timeline/event_log.h"
#include "inject/timeline/ranges.h"
#include "inject/timeline/timeline.h"
#include "select/selector.h"

namespace dlkprof::inject {

class Session {
 public:
  // Starts profiling as the environment asks (capture/options.h), once a process; does nothing where it does not ask.
  static void start_once() noexcept;
  // Whether names given through NVTX are of use to the selector.
  [[nodiscard]] static bool wants_resource_names() noexcept;

 private:
  explicit Session(capture::ProfileOptions options);
  void subscribe();
  // What a driver call other than a launch is to the session.
  struct CallRole {
    // Waits while a launch is being replayed, as it changes GPU memory; or no window may be open beside it.
    bool gated = false;
    bool timed = false;       // on the timeline
    bool only_timed = false;  // and nothing else
  };
  [[nodiscard]] std::vector<CallRole> find_call_roles() const;
  [[nodiscard]] bool is_only_timed(CUpti_CallbackId id) const noexcept {
    return id < call_roles_.size() && call_roles_[id].only_timed;
  }
  void watch(bool on);
  void before_fork() noexcept;
  void after_fork(bool in_child) noexcept;

  // What a launch is to the session: counted, and how it may be measured.
  struct Counted {
    Ledger::Entry entry = 0;
    capture::LaunchRecord record;          // but for its values and how it was measured
    bool replayed = false;                 // while samples of its configuration are wanted of replays
    std::uint64_t samples_in_windows = 0;  // wanted of its configuration; iteration replay
    bool captured = false;                 // it does not run now: a stream is being recorded into a graph
  };
  // A launch that is being replayed, from its entry to its exit.
  struct Measuring {
    KernelReplay* replay = nullptr;
    Ledger::Entry entry = 0;
    capture::LaunchRecord record;
    std::chrono::steady_clock::time_point since;
  };
  struct Thread;
  static Thread& this_thread() noexcept;

  static void on_callback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) noexcept;
  [[nodiscard]] bool on_quick_call(CUpti_CallbackId id, const CUpti_CallbackData& data) noexcept;
  void on_driver_call(Thread& thread, CUpti_CallbackId id, const CUpti_CallbackData& data);
  void on_other_call(CUpti_CallbackId id, const CUpti_CallbackData& data);
  void on_resource(CUpti_CallbackId id, const CUpti_ResourceData& data);
  void on_context_end(CUcontext context);
  void on_launch_entry(Thread& thread, const LaunchCall& call, const CUpti_CallbackData& data);
  void on_launch_exit(Thread& thread, CUpti_CallbackId id, const CUpti_CallbackData& data);
  [[nodiscard]] bool counters_are_idle() const;
  void hold_alone(std::optional<Measuring> measuring, const LaunchCall& call, const CUpti_CallbackData& data);
  void hold_call();
  void pass_gate(bool entry);

  [[nodiscard]] const KernelFunction& function_of(const LaunchCall& call, const char* symbol, std::unique_lock<std::mutex>& lock);
  [[nodiscard]] bool count_known(CUcontext context, CUfunction function, Thread& thread) noexcept;
  [[nodiscard]] bool count_quickly(const LaunchCall& call, CUcontext context, Thread& thread);
  [[nodiscard]] Counted count(const LaunchCall& call, const CUpti_CallbackData& data);
  [[nodiscard]] std::optional<Measuring> take_sample(const Counted& counted);
  [[nodiscard]] select::LaunchIdentity identify(const LaunchCall& call, const CUpti_CallbackData& data,
                                                const KernelFunction& function);
  void choose_way(Counted& counted, const LaunchCall& call, const KernelFunction& function);
  [[nodiscard]] bool is_captured(const LaunchCall& call) const;
  [[nodiscard]] capture::SkipReason reason_against_replay(const LaunchCall& call, const KernelFunction& function) const;
  [[nodiscard]] std::optional<std::uint64_t> samples_of_replays() const;
  [[nodiscard]] bool forbids_windows(const KernelFunction& function) const;
  [[nodiscard]] bool window_open() const;
  void begin(Measuring measuring, const LaunchCall& call, const CUpti_CallbackData& data);
  void end(Measuring& measuring, const CUpti_CallbackData& data);
  void keep_counters(const capture::LaunchRecord& launch, std::span<const std::uint8_t> image);
  void give_up(const Measuring& measuring, const std::exception& error) noexcept;

  void enter_window(Counted counted, const CUpti_CallbackData& data);
  void enter_window(IterationReplay& replay, MeasuredLaunch launch, const CUpti_CallbackData& data);
  void leave_window(const CUpti_CallbackData& data);
  void interrupt_windows();
  void have_iterations(void (IterationReplay::*act)()) noexcept;
  [[nodiscard]] IterationReplay& iteration_for(CUcontext context, std::uint32_t device);
  [[nodiscard]] LaunchEvaluator::Listener evaluated();
  void look_at_iterations();
  void fail_iteration(const std::exception& error) noexcept;
  void stop_iterating() noexcept;
  void end_iterations(const std::string& why) noexcept;
  void finish_iterations() noexcept;
  static void register_iterations_end();
  static void register_sampling_end();
  static void register_pc_sampling_end();

  void sample(std::uint32_t device);
  void begin_sampling(const std::string& chip);
  void come_back(const PmSampling::Pause& pause);
  [[nodiscard]] bool go_away(const PmSampling::Pause& pause);
  void leave_for_now() noexcept;
  void end_absence();
  void finish_presence();
  [[nodiscard]] PmSampling::Hooks sampling_hooks();

  void on_new_function(const capture::FunctionRecord& record);
  [[nodiscard]] std::uint32_t device_of(CUcontext context);
  [[nodiscard]] std::pair<KernelReplay*, std::uint32_t> replay_for(CUcontext context, std::uint32_t device);
  void release_counters() noexcept;
  void release_replays() noexcept;
  void look_around(std::uint64_t launch);
  void append_stats();
  void time_from(std::uint64_t launch);
  void start_timing(std::uint64_t launch);
  void take_activity();
  void stop_timing();
  void detach();
  void leave_cupti() noexcept;
  void finish() noexcept;
  void fail(const std::exception& error) noexcept;
  void register_exit_handlers();
  void sample_pcs(CUcontext context);
  void finish_pc_sampling() noexcept;

  static constexpr std::uint64_t kNever = ~std::uint64_t{0};  // a launch that will not be made

  const capture::ProfileOptions options_;
  const cupti::Library& library_;
  const cupti::Driver& driver_;
  Recorder recorder_;
  EventLog event_log_;
  Ranges ranges_;
  Timeline timeline_;
  PmSampling pm_sampling_;
  std::unique_ptr<PcSampling> pc_sampling_;  // where it is asked for
  select::Selector selector_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();

  std::atomic<bool> active_{true};                  // callbacks are listened to
  std::atomic<bool> measuring_;                     // launches may be replayed
  std::atomic<bool> iterating_;                     // launches may be measured in windows, and are made one at a time
  bool iterations_over_ = false;                    // and will not be any more
  std::atomic<bool> detach_due_{false};             // at the exit of the launch that is going on
  std::atomic<bool> timing_{false};                 // the ledger is told the GPU time of every launch
  std::atomic<bool> timing_complete_;               // and was, until now
  std::atomic<std::uint64_t> timing_ends_{0};       // at this launch
  bool timing_begun_ = false;                       // by a launch whose time is of interest
  std::uint64_t next_window_ = kNever;              // the launch from which on it is told again
  std::atomic<bool> range_open_;                    // between cuProfilerStart and Stop, or from the start
  std::atomic<std::uint64_t> counters_used_at_{0};  // the launch measured last, while counters are held; else 0
  std::atomic<int> captures_active_{0};             // streams being recorded into graphs
  std::atomic<bool> graphs_seen_{false};            // some were recorded, or launched
  std::atomic<int> in_callbacks_{0};                // threads, where the session may detach
  std::atomic<bool> detached_{false};               // no callback will come any more
  std::atomic<bool> cupti_left_{false};             // nor may CUPTI be called, which would come to life again
  // Whether CUPTI is in the process, where it leaves between bursts of samples (session_sampling.cpp).
  enum class Presence : std::uint8_t { here, due_to_leave, leaving, away };
  std::atomic<Presence> presence_{Presence::here};
  std::int64_t left_ns_ = 0;
  std::int64_t away_ns_ = 0;  // all of it

  std::shared_mutex gate_;
  std::mutex mutex_;
  Ledger ledger_;
  const std::vector<CallRole> call_roles_;  // by callback id
  const bool takes_turns_;                  // launches may be measured, and others wait meanwhile
  const bool only_counts_;                  // nothing is measured, and functions and devices alone say what is matched
  // What on_quick_call() looks at of a launch, and what functions_ begins with: in one line of the caches.
  alignas(64) std::atomic<std::uint64_t> launches_{0};
  std::atomic<bool> quick_{false};  // launches are counted and timed, and nothing else
  FunctionTable functions_;
  std::chrono::steady_clock::time_point stats_appended_{};
  std::map<CUcontext, std::uint32_t> context_devices_;
  std::map<std::uint32_t, capture::DeviceRecord> devices_;
  struct Replay {
    std::unique_ptr<KernelReplay> replay;
    std::uint32_t metric_set = 0;
  };
  std::map<CUcontext, Replay> replays_;
  struct Iteration {
    std::unique_ptr<IterationReplay> replay;
    std::uint32_t device = 0;
    std::uint32_t metric_set = 0;
  };
  std::map<CUcontext, Iteration> iterations_;
  std::uint32_t metric_sets_ = 0;
  capture::ClockRecord clock_;  // read when profiling began
  struct Base {
    std::uint64_t launch_index = 0;
    std::vector<std::uint8_t> image;
  };
  std::map<std::uint32_t, Base> bases_;  // by metric set: the first image kept, which the others build on
  bool windows_forbidden_ = false;       // for good: see forbids_windows()
  bool iterations_end_registered_ = false;
  bool sampling_tried_ = false, sampling_possible_ = false;
  int waiting_ = 0;  // launches selected but not begun, as the gate is not theirs yet
  int failures_in_a_row_ = 0, window_failures_in_a_row_ = 0;
};

}  // namespace dlkprof::inject
