// The ranges that are open now, by thread, and what becomes of those that end. A thread's open ranges of all domains stand
// in the order in which they began; push/pop ranges nest within their domain, start/end ranges end in any order and on any
// thread. Thread-safe; never throws into the program.
//
// Locks, in this order: threads_mutex_, a thread's, then the log's.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "dlkprof/capture_format.h"
#include "inject/own_pointer.h"
#include "inject/session/recorder.h"
#include "inject/timeline/event_log.h"
#include "inject/timeline/nvtx_scopes.h"
#include "inject/timeline/step_clock.h"

namespace dlkprof::inject {

// What the program says of a range (RangeEvent).
struct RangeAttributes {
  std::uint32_t domain = 0;  // string; 0: the default domain
  std::uint32_t name = 0;    // string; or else:
  std::string_view message;  // that is still to be read; of no use after the call
  std::uint32_t category = 0;
  std::uint8_t payload_type = 0;
  std::uint64_t payload_bits = 0;
};

// The innermost range open on this thread (RangeEvent::id); 0 where none is.
[[nodiscard]] std::uint64_t current_range() noexcept;
// Whether one that this thread began is open around autotuning (capture::kAutotuning).
[[nodiscard]] bool in_autotuning() noexcept;

class Ranges {
  class Thread;

 public:
  // `scopes`: where launches are selected by ranges.
  Ranges(EventLog& log, Recorder& recorder, std::unique_ptr<NvtxScopes> scopes = nullptr);
  ~Ranges();
  Ranges(const Ranges&) = delete;
  Ranges& operator=(const Ranges&) = delete;

  // The level, from 0, of the range among those of its domain on this thread; kNotTracked where it is not recorded, or
  // there is none to pop.
  int push(const RangeAttributes& attributes) noexcept { return push(nullptr, attributes); }
  int pop(std::uint32_t domain) noexcept { return pop(nullptr, domain); }
  // The same of a text, in the default domain, which most ranges are.
  int push_text(std::string_view message) noexcept;
  int pop() noexcept;
  // What end() takes, on any thread; 0 where the range is not recorded. Numbers that are no open range are ignored.
  [[nodiscard]] std::uint64_t start(const RangeAttributes& attributes) noexcept { return start(nullptr, attributes); }
  void end(std::uint64_t range) noexcept { end(nullptr, range); }
  void mark(const RangeAttributes& attributes) noexcept;

  [[nodiscard]] EventLog& log() noexcept { return log_; }
  // Null where launches are not selected by ranges. Else push_text() and pop() without a domain must not be called.
  [[nodiscard]] NvtxScopes* scopes() noexcept { return scopes_.get(); }

  // Around all of a call that does not go the short way: false where this thread is in one already, that is where a signal
  // handler has interrupted it. Locks of ours may be held then, so nothing can be recorded.
  class Visit {
   public:
    explicit Visit(Ranges& ranges) noexcept;
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;
    ~Visit();
    [[nodiscard]] explicit operator bool() const noexcept { return entered_; }

    // As those of Ranges, which would look for the thread once more.
    int push(const RangeAttributes& attributes) noexcept { return ranges_.push(thread_, attributes); }
    int pop(std::uint32_t domain) noexcept { return ranges_.pop(thread_, domain); }
    [[nodiscard]] std::uint64_t start(const RangeAttributes& attributes) noexcept { return ranges_.start(thread_, attributes); }
    void end(std::uint64_t range) noexcept { ranges_.end(thread_, range); }

   private:
    [[nodiscard]] static bool enter_unknown() noexcept;
    void leave_unknown() noexcept;

    Ranges& ranges_;
    Thread* const thread_;  // null: it was not known at entry
    const bool entered_;
  };

  // Gives the log all ranges that are still open, and records none from now on.
  void finish() noexcept;
  // The same, and has `clock`, which must stay, note those that mark steps.
  void finish_but_for(StepClock& clock) noexcept {
    clock_ = &clock;
    finish();
  }
  // Around fork; before the log's.
  void lock();
  void unlock();
  // In a forked child, between the two: open ranges are the parent's, and are no longer there to be popped.
  void forget() noexcept;

  static constexpr int kNotTracked = -2;
  // More open ranges than that on a thread are not nesting: somebody forgets to pop. They are only counted.
  static constexpr std::size_t kMostOpen = std::size_t{1} << 16U;

 private:
  struct Local;
  struct Owner;
  static Local& local() noexcept;
  friend std::uint64_t current_range() noexcept;
  friend bool in_autotuning() noexcept;
  static OwnPointer<Thread> own_threads;  // what Local has, of most threads

  // `known`: this thread's, or null.
  int push(Thread* known, const RangeAttributes& attributes) noexcept;
  int pop(Thread* known, std::uint32_t domain) noexcept;
  [[nodiscard]] std::uint64_t start(Thread* known, const RangeAttributes& attributes) noexcept;
  void end(Thread* known, std::uint64_t range) noexcept;
  [[nodiscard]] int tick(std::string_view message) noexcept;
  [[nodiscard]] Thread* known_thread() const noexcept;
  [[nodiscard]] Thread* own_thread(Thread* known) noexcept;  // known_thread(), or what it is null for
  [[nodiscard]] Thread* find_thread() noexcept;
  [[nodiscard]] Thread* make_thread() noexcept;
  [[nodiscard]] int push_visiting(const RangeAttributes& attributes) noexcept;
  [[nodiscard]] int pop_visiting() noexcept;
  [[nodiscard]] std::string name_of(const RangeAttributes& attributes);
  void pop_scope(std::uint32_t domain) noexcept;
  void say_near_misses();

  EventLog& log_;
  std::atomic<std::uint64_t> number_;  // of this object, and another one in a forked child: what thread-locals are known by
  const std::unique_ptr<NvtxScopes> scopes_;
  std::atomic<bool> recording_{true};
  std::atomic<StepClock*> clock_{nullptr};  // that takes what is not recorded
  std::atomic<std::uint64_t> beyond_{0};    // ranges that kMostOpen left out
  Recorder& recorder_;
  std::mutex threads_mutex_;
  std::unordered_map<std::uint64_t, std::shared_ptr<Thread>> threads_;  // by number; ended ones while a start/end range is open
  std::uint64_t last_thread_ = 0;
};

}  // namespace dlkprof::inject
