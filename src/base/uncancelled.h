// While it lives, pthread_cancel does not end this thread. Ending it would unwind through frames of ours, which abort the
// process: they are noexcept, and have a C++ runtime of their own. The program's cancellation takes place right afterwards.
#pragma once

#include <pthread.h>

namespace dlkprof {

class Uncancelled {
 public:
  Uncancelled() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  Uncancelled(const Uncancelled&) = delete;
  Uncancelled& operator=(const Uncancelled&) = delete;
  ~Uncancelled() { pthread_setcancelstate(before_, nullptr); }

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace dlkprof
