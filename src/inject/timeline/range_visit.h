// What every NVTX call does first, inline: finds the ranges of its thread, and marks that it is in a call. For ranges.cpp,
// nvtx.cpp and their tests alone.
#pragma once

#include "inject/timeline/range_thread.h"

namespace dlkprof::inject {

// What a thread finds its ranges by. Of plain values, so that it can be read while the thread's other variables are
// destroyed already.
struct Ranges::Local {
  std::uint64_t owner = 0;  // the number of the Ranges that `thread` is of; 0: there is none
  Thread* thread = nullptr;
  bool ending = false;
  volatile bool busy = false;    // as Thread::busy(), before there is one
  std::uint64_t autotuning = 0;  // the range that is open; 0: none
};

// Null where it has to be looked for.
[[gnu::always_inline]] inline Ranges::Thread* Ranges::known_thread() const noexcept {
  const auto mine = own_threads.get(this);
  if (mine.pointer == nullptr) return nullptr;
  // On their way before the clock is read, which waits for all that came before.
  __builtin_prefetch(mine.pointer);
  const auto* buffer = static_cast<const EventLog::Buffer*>(mine.used_too);
  __builtin_prefetch(&buffer->ranges);
  __builtin_prefetch(&buffer->ends);
  return mine.pointer;
}

[[gnu::always_inline]] inline Ranges::Visit::Visit(Ranges& ranges) noexcept
    : ranges_(ranges), thread_(ranges.known_thread()), entered_(thread_ == nullptr ? enter_unknown() : !thread_->busy()) {
  if (entered_ && thread_ != nullptr) thread_->set_busy(true);
}

[[gnu::always_inline]] inline Ranges::Visit::~Visit() {
  if (!entered_) return;
  if (thread_ == nullptr) [[unlikely]] {
    leave_unknown();
  } else {
    thread_->set_busy(false);
  }
}

}  // namespace dlkprof::inject
