// A thread of the library's in the program's process.
#pragma once

#include <memory>
#include <thread>
#include <utility>

#include "base/signals_blocked.h"

namespace dlkprof::inject {

// Not thread-safe, but that it may be asked for from the thread itself.
class WorkerThread {
 public:
  // Runs none of the program's signal handlers. Throws std::system_error where no thread can be had.
  template <typename Run>
  void start(Run run) {
    const SignalsBlocked blocked;
    thread_ = std::make_unique<std::thread>(std::move(run));
  }
  // Also where it has ended.
  [[nodiscard]] bool started() const noexcept { return thread_ != nullptr; }
  // Until it ends, where it was started.
  void join() {
    if (thread_ && thread_->joinable()) thread_->join();
  }
  // It may go on after this is gone.
  void let_go() {
    if (thread_) thread_->detach();
    thread_.reset();
  }
  // In a forked child, which has no such thread: its handle can be neither joined nor detached there.
  void forget() noexcept { (void)thread_.release(); }

 private:
  std::unique_ptr<std::thread> thread_;
};

}  // namespace dlkprof::inject
