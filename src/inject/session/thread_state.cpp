#include "inject/session/thread_state.h"

namespace dlkprof::inject {

constinit OwnPointer<ThreadState> ThreadState::own;
constinit thread_local bool ThreadState::gone = false;

ThreadState& this_thread() noexcept {
  static thread_local ThreadState thread;
  return thread;
}

}  // namespace dlkprof::inject
