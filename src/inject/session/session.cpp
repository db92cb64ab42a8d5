#include "inject/session/session.h"

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/event_clock.h"
#include "base/unnoticed.h"
#include "capture/ranks.h"
#include "cupti/activity.h"
#include "cupti/counter_turn.h"
#include "cupti/cubin.h"
#include "inject/sampling/sass_collector.h"
#include "inject/session/auto_collector.h"
#include "inject/session/heap_holes.h"
#include "inject/session/sample_collector.h"
#include "inject/session/system_facts.h"
#include "inject/timeline/nvtx.h"

namespace dlkprof::inject {
namespace {

using capture::Collect;

Session* g_session = nullptr;

std::uint32_t driver_version(const cupti::Driver& driver) {
  int version = 0;
  return driver.cuDriverGetVersion(&version) == CUDA_SUCCESS ? static_cast<std::uint32_t>(version) : 0U;
}

bool keeps_code(const capture::ProfileOptions& options) {
  return options.pc_sampling.has_value() || options.collect == Collect::source;
}

}  // namespace

// --- Beginning --------------------------------------------------------------------------------------------------------

void Session::start_once() noexcept {
  static std::once_flag once;
  std::call_once(once, [] {
    try {
      const char* text = secure_getenv(capture::kOptionsVariable);  // not in a setuid program
      if (text == nullptr) return;
      auto options = capture::options_from_json(text);
      if (!options.all_processes && options.application_pid != static_cast<std::uint32_t>(getpid())) return;
      if (capture::is_of_another_rank(options.ranks)) return;
      auto* session = new Session(std::move(options));
      g_session = session;
      session->subscribe();
    } catch (const Error& error) {
      say_startup_failure(error);
    } catch (const std::exception& error) {
      say_startup_failure(Error("profiling could not be started", error.what(), ""));
    }
  });
}

bool Session::wants_resource_names() noexcept {
  return g_session != nullptr && g_session->counter_.selector().needs_resource_names();
}

Session::Session(capture::ProfileOptions options)
    : options_(std::move(options)),
      library_(cupti::Library::open(options_.cupti_path)),
      recorder_(options_, library_.version(), driver_version(cupti::Driver::open())),
      event_log_(recorder_),
      ranges_(event_log_, recorder_, NvtxScopes::of(options_.selection)),
      timeline_(event_log_, options_.in_bursts),
      graphs_(cupti::Driver::open()),
      counter_(options_, library_, cupti::Driver::open(), recorder_, ranges_.scopes(), [this] { on_first_context(); }),
      timing_(library_, options_, recorder_, counter_.ledger(), timeline_),
      calls_(library_, {.timeline = options_.timeline, .collect = options_.collect, .loaded_modules = keeps_code(options_)}),
      attachment_({library_, options_, calls_, graphs_, recorder_, timing_, timeline_}),
      pm_sampling_(library_, recorder_, options_, sampling_hooks()),
      pc_sampling_(keeps_code(options_) ? std::make_unique<PcSampling>(library_, recorder_, options_.pc_sampling,
                                                                       [] { this_thread().ours = true; })
                                        : nullptr),
      services_({.options = options_,
                 .library = library_,
                 .driver = cupti::Driver::open(),
                 .recorder = recorder_,
                 .ledger = counter_.ledger(),
                 .timeline = timeline_,
                 .graphs = graphs_,
                 .host_used = [] { std::atexit([] { g_session->finish_collecting(); }); },
                 .on_measured = [this] { save_counts(); }}),
      collector_(make_collector()),
      ending_{.loop = LoopWatch(counter_.ledger(), counter_.selector().goes_by_name_and_device() ? options_.iterations : 0)} {}

std::unique_ptr<Collector> Session::make_collector() {
  switch (options_.collect) {
    case Collect::kernel:
      return std::make_unique<KernelCollector>(services_, counter_.selector());
    case Collect::iteration:
      return std::make_unique<WindowCollector>(services_, false);
    case Collect::automatic:
      return std::make_unique<AutoCollector>(services_, counter_.selector(), framework_is_loaded);
    case Collect::sample:
      return std::make_unique<SampleCollector>(services_, pm_sampling_);
    case Collect::source:
      return std::make_unique<SassCollector>(services_, *pc_sampling_);
    case Collect::none:
      break;
  }
  return std::make_unique<NoCollector>();
}

void Session::subscribe() {
  attachment_.attach(&Session::on_callback, this);
  if (options_.collect == Collect::none) timing_.begin_at(0);
  quick_ = counter_.only_counts() && options_.timeline && !options_.in_bursts && !pc_sampling_;
  pthread_atfork([] { g_session->before_fork(); }, [] { g_session->after_fork(false); }, [] { g_session->after_fork(true); });
  if (!options_.timeline) return;
  tune_event_clock();  // opens a file the first time: never where the program, on another thread, may close and open files
  record_ranges(&ranges_);
}

// The exit handler is registered late, when the program has a context, so that it runs before those that take CUDA down.
void Session::on_first_context() {
  std::atexit([] { g_session->finish(); });
  if (!options_.timeline) return;
  recorder_.append(timing_.clock());
  for (capture::Fact& fact : system_facts()) event_log_.add(std::move(fact));
}

// A forked child inherits no lock that nobody will release, and nothing that the parent will write.
void Session::before_fork() noexcept {
  ranges_.lock();
  event_log_.lock();
  pm_sampling_.lock();
  recorder_.lock();
}

void Session::after_fork(bool in_child) noexcept {
  if (in_child) {
    cupti::close_turns_in_child();
    ThreadState::own.clear();
    if (!ThreadState::gone) ThreadState::own.put(nullptr, &this_thread());
    this_thread().system_id = static_cast<std::uint32_t>(gettid());
    recorder_.forget();
    pm_sampling_.forget();
    services_.measuring().forget();
    event_log_.forget();
    ranges_.forget();
    if (pc_sampling_) pc_sampling_->forget();
  }
  recorder_.unlock();
  pm_sampling_.unlock();
  event_log_.unlock();
  ranges_.unlock();
}

PmSampling::Hooks Session::sampling_hooks() {
  return {.on_thread = [] { this_thread().ours = true; },
          .wanted = [this] { return active_ && counter_.selecting(); },
          .come =
              [this](const PmSampling::Pause& pause) {
                if (attachment_.attached()) return;
                counter_.forget_handles();  // nobody told us meanwhile which modules and contexts ended
                attachment_.reattach(&Session::on_callback, this, pause, active_);
              },
          .go =
              [this](const PmSampling::Pause& pause) {
                if (!counter_.past_warm_up()) return false;
                try {
                  const bool detached = attachment_.detach(pause, active_);
                  if (detached) event_log_.flush();
                  return detached;
                } catch (const std::exception& error) {
                  fail(error);
                  return true;
                }
              }};
}

// What took so long to measure is not to be lost when the program crashes.
void Session::save_counts() {
  counter_.append_counts(timing_.complete());
  if (options_.timeline) event_log_.flush();
}

// Of a launch of this thread, before the first of which there is nothing to sample. CUPTI is called without a lock of the
// session's, as callbacks may come on other threads meanwhile; and not from the callback that tells of a new context.
void Session::sample_pcs(CUcontext context) {
  auto& thread = this_thread();
  const std::uint64_t epoch = counter_.epoch();
  if (thread.sampled.contains(context, epoch)) return;
  const capture::DeviceRecord& device = counter_.device_of(context);
  thread.sampled.add(context, epoch);
  if (!counter_.selector().takes_device(device.index)) return;
  const OwnCalls own;
  pc_sampling_->start(context, device.index);
  // Once PC sampling has begun: what CUPTI registers at that time must find it ended.
  static std::once_flag once;
  std::call_once(once, [this] {
    cupti::prepare_source_lines(library_);
    std::atexit([] { g_session->finish_pc_sampling(); });
  });
}

// --- Ending -----------------------------------------------------------------------------------------------------------

// Nothing can be selected any more: give the program its full speed back. The caller holds the gate alone, and no other
// launch waits to be measured: its exit callback would not come any more.
void Session::end_early() {
  quick_ = false;
  active_ = false;
  collecting([](Collector& collector) { collector.stop(true); });
  services_.measuring().stop();
  attachment_.quiet();
  attachment_.leave();
  const OwnCalls own;
  graphs_.launches().clear();  // nobody tells any more which of them the program destroys
}

// All is measured that was wanted, and the timeline has the iterations that were asked for. The caller holds the gate alone.
void Session::detach() {
  constexpr int kMostTries = 16;
  constexpr int kTriesOfMainThread = 8;  // the others are for what matters more: that CUPTI can leave
  ending_.detach_due = false;
  // The main thread fills the holes in its heap. It is known to launch once it has polled.
  const bool on_wrong_thread = ending_.detaches_tried < kTriesOfMainThread && ending_.main_thread_polls && !on_main_thread();
  if ((attachment_.others_inside() || on_wrong_thread) && ++ending_.detaches_tried < kMostTries) return;  // asked again soon
  end_early();
  ending_.detached_ns = event_clock_ns();
  ranges_.finish_but_for(ending_.steps);
  save_counts();
  record_detachment(false);
}

void Session::record_detachment(bool ended) {
  recorder_.append(capture::DetachRecord{.since_ns = ending_.detached_ns,
                                         .until_ns = ended ? event_clock_ns() : 0,
                                         .cupti_left = attachment_.has_left(),
                                         .steps = ending_.steps.steps()});
}

void Session::finish_pc_sampling() noexcept {
  if (!pc_sampling_) return;
  const Unnoticed whole;  // an exit handler calls this too
  const OwnCalls own;
  pc_sampling_->finish();
}

// At the end of the process, when other threads may still launch, and one of them be in a launch that does not return.
// Also where the capture has failed: threads of ours must not be in NVPerf when that ends itself, which it does at exit.
void Session::finish_collecting() noexcept {
  constexpr auto kLongestWait = std::chrono::seconds(1);
  if (recorder_.is_in_child()) return;  // which has no threads of ours
  pm_sampling_.finish();
  const auto gate = gate_.alone_within(kLongestWait);
  if (!gate) return;
  collecting([](Collector& collector) { collector.finish(); });
  services_.measuring().stop();
}

void Session::finish() noexcept {
  const Unnoticed whole;
  finish_pc_sampling();
  quick_ = false;
  const bool was_active = active_.exchange(false);
  finish_collecting();
  if (!recorder_.usable()) return;
  const OwnCalls own;
  try {
    if (attachment_.usable()) cupti::Activity::flush(true);
    attachment_.finish();
    if (options_.timeline) {
      ranges_.finish();
      event_log_.finish();
    }
    if (ending_.detached_ns != 0) record_detachment(true);
    if (!was_active && ending_.detached_ns == 0) timing_.set_incomplete();  // the end of the program was not timed
    graphs_.launches().note_unusable(recorder_);
    counter_.append_counts(timing_.complete());
    recorder_.append(capture::EndRecord{unix_now_ns(), counter_.launches()});
  } catch (const std::exception& error) {
    fail(error);
  }
}

// Callbacks stay on: launches that are under way in other threads leave the gate at their exit.
void Session::fail(const std::exception& error) noexcept {
  quick_ = false;
  active_ = false;
  recorder_.note("profiling has ended, the program runs on", error);
  try {
    // Who is not in a launch cannot know that no other thread is measuring.
    const bool alone = this_thread().hold != ThreadState::Hold::none;
    collecting([alone](Collector& collector) { collector.stop(alone); });
    timing_.abandon();
    const OwnCalls own;
    graphs_.launches().clear();
    if (attachment_.usable()) cupti::Activity::disable();
  } catch (const std::exception&) {  // the first failure is what counts
  }
}

}  // namespace dlkprof::inject
