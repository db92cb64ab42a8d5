// The range profiler on one context: one range a launch (CUPTI_AutoRange), all passes of a plan.
//
//   create ─▶ configure ─▶ ( start ─▶ launches ─▶ stop )* ─▶ decode ─▶ image ─▶ configure or start again … ─▶ ~ (disable)
//
// With kernel replay one start … stop around a launch collects every pass: CUPTI saves and restores the memory that the
// kernel writes. With user replay each start … stop is one pass, in which the caller makes the same launches in the same
// order, until stop() says that all passes are there. The image belongs to this object and holds a range a launch.
// Not thread-safe; the context must be current in every call.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cupti/host.h"
#include "cupti/library.h"

namespace dlkprof::cupti {

// cuptiProfilerInitialize, once a process; throws Error.
void initialize_profiler(const Library& library);

// Which counters this context's device and the process' permissions allow; throws Error.
[[nodiscard]] std::vector<std::uint8_t> counter_availability(const Library& library, CUcontext context);

// NVPerf's name for the chip of a device: GH100.
[[nodiscard]] std::string chip_name(const Library& library, std::uint32_t device);

class RangeProfiler {
 public:
  [[nodiscard]] static RangeProfiler create(const Library& library, CUcontext context);
  RangeProfiler(RangeProfiler&& other) noexcept;
  RangeProfiler& operator=(RangeProfiler&&) = delete;
  ~RangeProfiler();

  // Bytes of an image for so many launches.
  [[nodiscard]] std::size_t image_bytes(const CollectionPlan& plan, std::size_t launches) const;
  // `plan` must outlive what is collected with it. `launches`: the most that there are in a pass.
  void configure(const CollectionPlan& plan, CUpti_ProfilerReplayMode mode, std::size_t launches = 1);
  // Empties the image for the next launches.
  void reset();
  void start();
  // Whether all passes have been collected.
  [[nodiscard]] bool stop();
  // Reads the hardware's data into the image; throws Error where it is not that of so many launches.
  void decode(std::size_t launches = 1);

  using Image = std::shared_ptr<const std::vector<std::uint8_t>>;
  // Written by reset() and decode(), which must not be called while another thread reads.
  [[nodiscard]] Image image() const noexcept { return image_; }

 private:
  RangeProfiler(const Library& library, CUpti_RangeProfiler_Object* object) : library_(&library), object_(object) {}

  const Library* library_;
  CUpti_RangeProfiler_Object* object_;
  std::shared_ptr<std::vector<std::uint8_t>> image_;  // CUPTI writes to where it is
};

}  // namespace dlkprof::cupti
