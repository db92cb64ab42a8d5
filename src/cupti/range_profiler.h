// The range profiler on one context: one launch (CUPTI_AutoRange), all passes of a plan.
//
//   create ─▶ configure ─▶ ( ( start ─▶ launch ─▶ stop )* ─▶ decode ─▶ image ─▶ reset )* ─▶ ~ (disable)
//
// With kernel replay one start … stop around a launch collects every pass: CUPTI saves and restores the memory that the
// kernel writes. With user replay each start … stop is one pass: the caller makes the same launch in each of them, until stop()
// says that all passes are there. Not thread-safe; the context must be current in every call.
#pragma once

#include <cstdint>
#include <span>
#include <string>
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

struct RangeCount {
  std::size_t least = 0, most = 0;
};
// Throws Error where an image has fewer or more ranges, or some were `dropped`.
void require_ranges(const Library& library, std::span<const std::uint8_t> image, RangeCount expected, std::size_t dropped);

class RangeProfiler {
 public:
  [[nodiscard]] static RangeProfiler create(const Library& library, CUcontext context);
  RangeProfiler(RangeProfiler&& other) noexcept;
  RangeProfiler& operator=(RangeProfiler&&) = delete;
  ~RangeProfiler();

  // Bytes of an image for so many launches with counters of these metrics.
  [[nodiscard]] std::size_t image_bytes(std::span<const std::string> metrics, std::size_t launches);
  // One that holds none yet.
  [[nodiscard]] std::vector<std::uint8_t> empty_image(std::span<const std::string> metrics, std::size_t launches);
  // Once. `plan` must outlive this object.
  void configure(const CollectionPlan& plan, CUpti_ProfilerReplayMode mode);
  // Empties the image for the next launch.
  void reset();
  void start();
  // Whether all passes have been collected.
  [[nodiscard]] bool stop();
  // Reads the hardware's data into the image; throws Error where it is not that of one launch.
  void decode();
  // Written by reset() and decode().
  [[nodiscard]] const std::vector<std::uint8_t>& image() const noexcept { return image_; }

 private:
  RangeProfiler(const Library& library, CUpti_RangeProfiler_Object* object) : library_(&library), object_(object) {}
  void initialize(std::vector<std::uint8_t>& image);

  const Library* library_;
  CUpti_RangeProfiler_Object* object_;
  std::vector<std::uint8_t> image_;  // CUPTI writes to where it is
};

}  // namespace dlkprof::cupti
