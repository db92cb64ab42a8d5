// Profiling of this process: hears every kernel launch through CUPTI's callbacks, has it counted (launch_counter.h), and has the
// collector of the replay mode measure what the selector picked (collector.h). One a process, made on the first call of an entry
// point and never destroyed. Its callbacks run on the program's own threads: they are noexcept, do as little as they can, and
// when something fails they say so once and leave the program alone from then on.
//
// Locks, in this order: gate_ (shared by every launch while it is in the driver, held alone by a launch that is being
// measured), then collecting_, then those of the counter, the ledger, known graphs and the recorder. CUPTI tells of modules from
// within whatever call has the driver load them, a lock of the driver's held: nobody may wait for a lock of ours then.
#pragma once

#include <cupti.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>

#include "capture/options.h"
#include "cupti/activity.h"
#include "inject/graphs/graph_watch.h"
#include "inject/sampling/pc_sampling.h"
#include "inject/sampling/pm_sampling.h"
#include "inject/session/collector.h"
#include "inject/session/collector_services.h"
#include "inject/session/cupti_attachment.h"
#include "inject/session/driver_calls.h"
#include "inject/session/launch_counter.h"
#include "inject/session/loop_watch.h"
#include "inject/session/recorder.h"
#include "inject/session/thread_state.h"
#include "inject/session/timing_windows.h"
#include "inject/timeline/event_log.h"
#include "inject/timeline/graph_log.h"
#include "inject/timeline/ranges.h"
#include "inject/timeline/timeline.h"

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
  void on_first_context();
  [[nodiscard]] std::unique_ptr<Collector> make_collector();
  void before_fork() noexcept;
  void after_fork(bool in_child) noexcept;

  static void on_callback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) noexcept;
  [[nodiscard]] bool on_quick_call(CUpti_CallbackId id, const CUpti_CallbackData& data) noexcept;
  void on_driver_call(ThreadState& thread, CUpti_CallbackId id, const CUpti_CallbackData& data);
  void on_other_call(ThreadState& thread, CUpti_CallbackId id, const CUpti_CallbackData& data);
  static void turn_graph(CUgraphExec to, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) noexcept;
  void on_graph_call(ThreadState& thread, CUpti_CallbackId id, const CUpti_CallbackData& data);
  void on_graph_launch(CUcontext context);
  void on_event_call(ThreadState& thread, CUpti_CallbackId id, const CUpti_CallbackData& data);
  void on_executable_graph(CUpti_CallbackId id, const CUpti_CallbackData& data);
  [[nodiscard]] bool wants_graphs(CUcontext context);
  [[nodiscard]] bool wants_nodes(const GraphLaunchCall& call, const GraphLaunches::Graph& graph, CUcontext context);
  void launch_by_nodes(ThreadState& thread, CUpti_CallbackId id, const CUpti_CallbackData& data);
  [[nodiscard]] bool prepare_nodes(ThreadState& thread, const cupti::GraphNodes& nodes, CUstream stream, CUcontext context,
                                   std::optional<cupti::ActivityPause>& pause);
  [[nodiscard]] CUgraphExec launch_nodes(ThreadState& thread, const cupti::GraphNodes& nodes, const GraphLaunchCall& call,
                                         CUcontext context, NodeLaunches& launches);
  void on_resource(const ThreadState& thread, CUpti_CallbackId id, const CUpti_ResourceData& data);
  void on_context_end(CUcontext context);
  void on_launch_entry(ThreadState& thread, const LaunchCall& call, const CUpti_CallbackData& data);
  [[nodiscard]] bool wants(Launch& launch);
  void on_launch_exit(ThreadState& thread, CUpti_CallbackId id, const CUpti_CallbackData& data);
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> come_alone(ThreadState& thread, CUcontext context,
                                                                                CUstream stream, bool all_gpus);
  void end(ThreadState& thread, CUcontext context, CUstream stream);
  void leave_out(ThreadState& thread, const Launch& launch, bool wanted);
  [[nodiscard]] bool count_quickly(const LaunchCall& call, CUcontext context, ThreadState& thread);
  [[nodiscard]] Launch count(const LaunchCall& call, const CUpti_CallbackData& data, ThreadState& thread);
  void poll(const Launch& launch);
  void sample_pcs(CUcontext context);
  // Calls the collector under its lock, its calls of the driver being our own.
  template <typename Act>
  auto collecting(Act act) {
    const std::lock_guard lock(collecting_);
    const OwnCalls own;
    return act(*collector_);
  }

  [[nodiscard]] PmSampling::Hooks sampling_hooks();
  void save_counts();
  void end_early();
  void detach();
  void record_detachment(bool ended);
  void finish() noexcept;
  void finish_collecting() noexcept;
  void finish_pc_sampling() noexcept;
  void fail(const std::exception& error) noexcept;

  // Before the program does.
  struct Ending {
    LoopWatch loop;
    StepClock steps;
    std::atomic<bool> due{false};         // at the exit of the launch that is going on: nothing can be selected any more
    std::atomic<bool> detach_due{false};  // likewise: all is measured, and on the timeline
    std::int64_t detached_ns = 0;         // 0: not
    int detaches_tried = 0;
    std::atomic<bool> main_thread_polls{false};  // so far
  };

  const capture::ProfileOptions options_;
  const cupti::Library& library_;
  Recorder recorder_;
  EventLog event_log_;
  Ranges ranges_;
  Timeline timeline_;
  GraphWatch graphs_;
  LaunchCounter counter_;
  TimingWindows timing_;
  const DriverCalls calls_;
  CuptiAttachment attachment_;
  PmSampling pm_sampling_;
  std::unique_ptr<PcSampling> pc_sampling_;  // where it is asked for
  CollectorServices services_;
  const std::unique_ptr<Collector> collector_;
  std::mutex collecting_;
  Gate gate_;
  std::atomic<bool> active_{true};  // callbacks are listened to
  std::atomic<bool> quick_{false};  // launches are counted and timed, and nothing else
  Ending ending_;
};

}  // namespace dlkprof::inject
