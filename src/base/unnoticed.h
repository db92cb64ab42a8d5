// While it lives, this thread does work of ours and not the program's, which shall not notice: pthread_cancel does not end it, as
// that would unwind through frames of ours, which abort the process (they are noexcept, and have a C++ runtime of their own). The
// program's cancellation takes place right afterwards. And errno is then what the program left in it.
#pragma once

#include <pthread.h>

#include <cerrno>

namespace dlkprof {

class Unnoticed {
 public:
  Unnoticed() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_); }
  Unnoticed(const Unnoticed&) = delete;
  Unnoticed& operator=(const Unnoticed&) = delete;
  ~Unnoticed() {
    pthread_setcancelstate(cancel_state_, nullptr);
    errno = errno_;
  }

 private:
  int errno_ = errno;
  int cancel_state_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace dlkprof
