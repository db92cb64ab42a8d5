// All that was launched in a context, up to a moment: whether it is done can be asked again and again, where cuCtxSynchronize
// waits without an end. Recording and asking invalidate a capture of the process, as waiting does.
#pragma once

#include <cuda.h>

#include <chrono>

#include "cupti/driver.h"

namespace dlkprof::cupti {

class ContextEvent {
 public:
  // Of what was launched until now. Throws Error, as all that follows.
  ContextEvent(const Driver& driver, CUcontext context);
  ContextEvent(const ContextEvent&) = delete;
  ContextEvent& operator=(const ContextEvent&) = delete;
  ~ContextEvent();

  // Whether it is done, or will be within that time.
  [[nodiscard]] bool is_done_within(std::chrono::steady_clock::duration longest) const;

 private:
  const Driver& driver_;
  CUcontext context_;
  CUevent event_ = nullptr;
};

}  // namespace dlkprof::cupti
