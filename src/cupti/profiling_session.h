// Counters of single launches as the program makes them, in any pass of any plan: a session of CUPTI's Profiling API on one
// context (cupti_profiler_target.h; CUPTI_AutoRange, CUPTI_ApplicationReplay).
//
//   ( begin(plan, pass) ─▶ ( enable ─▶ launch ─▶ disable )* ─▶ end ─▶ image ─▶ empty the image )* ─▶ ~
//
// Between enable() and disable() each launch is a range: it begins when the GPU has done all that was launched before, and its
// caller waits for it. All other launches run as ever, beside one another, and graphs and captures too (0.6 us more each; H200,
// CUDA 13.0). The range profiling API, by which CUDA 13.0 means to replace this one, cannot leave launches out: there each one in
// a pass is a range, of 0.9 ms with counters of each multiprocessor.
//
// Not thread-safe; the context must be current in every call. One of a GPU at a time. Of those of several GPUs all are to end
// before one is used again: once one has ended, launches of the others have no range any more, until those have been begun anew
// (two H200s, CUDA 13.0, driver 580). What was measured before is whole, and beginning one harms none.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cupti/host.h"
#include "cupti/library.h"

namespace dlkprof::cupti {

class ProfilingSession {
 public:
  // `image` must outlive it: empty, with room for `launches` ranges (RangeProfiler::empty_image); those beyond are left out.
  // Throws Error.
  ProfilingSession(const Library& library, CUcontext context, std::span<std::uint8_t> image, std::size_t launches);
  ProfilingSession(const ProfilingSession&) = delete;
  ProfilingSession& operator=(const ProfilingSession&) = delete;
  ~ProfilingSession();

  // Takes 1 to 45 ms by what the pass counts. The image must be of all metrics of the plan, and may be of others besides.
  void begin(const CollectionPlan& plan, std::size_t pass);
  void enable();
  void disable();
  // Writes the pass' ranges into the image, in the order of the launches, and nothing else does: it must be empty by now. Throws
  // Error where they are not so many. `maybe_one_more`: the driver refused a launch after them.
  void end(std::size_t launches, bool maybe_one_more = false);

 private:
  void take_session(std::size_t launches);

  const Library& library_;
  CUcontext context_;
  const std::span<std::uint8_t> image_;
  std::vector<std::uint8_t> scratch_;  // CUPTI's
  bool in_pass_ = false, enabled_ = false;
};

}  // namespace dlkprof::cupti
