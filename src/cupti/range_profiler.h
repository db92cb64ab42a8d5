// The range profiler on one context: one range a launch (CUPTI_AutoRange), all passes of a plan.
//
//   create ─▶ configure ─▶ ( start ─▶ launches ─▶ stop )* ─▶ decode ─▶ image ─▶ configure or start again … ─▶ ~ (disable)
//
// With kernel replay one start … stop around a launch collects every pass: CUPTI saves and restores the memory that the
// kernel writes. With user replay each start … stop is one pass. Either the caller makes the same launches in each of them, in
// the same order, until stop() says that all passes are there; or it makes whatever launches come, and decodes each pass into
// an image of its own. The image holds a range a launch. Not thread-safe; the context must be current in every call.
//
// Only the first configuration of an object has an effect (H200, CUDA 13.0). Later ones name another image and nothing else, and
// passes follow one another, round by round, whatever pass is named.
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
  [[nodiscard]] std::size_t image_bytes(const CollectionPlan& plan, std::size_t launches);
  // An image with room for one range that holds none.
  [[nodiscard]] std::vector<std::uint8_t> empty_image(const CollectionPlan& plan);
  // `plan` must outlive this object. `launches`: the most that there are in a pass; the GPU leaves out what is beyond. `pass`:
  // with user replay, the one that the next start … stop collects. All three are those of the first call on this object, but
  // that the pass goes on. The image that image() gave before is left alone while somebody else holds it.
  void configure(const CollectionPlan& plan, CUpti_ProfilerReplayMode mode, std::size_t launches = 1, std::size_t pass = 0);
  // Empties the image for the next launches.
  void reset();
  void start();
  // Whether all passes have been collected.
  [[nodiscard]] bool stop();
  // The pass that the next start … stop collects, after a stop().
  [[nodiscard]] std::size_t next_pass() const noexcept { return next_pass_; }
  // Reads the hardware's data into the image; throws Error where it is not that of so many launches.
  void decode(std::size_t launches = 1);

  using Image = std::shared_ptr<const std::vector<std::uint8_t>>;
  // Written by reset() and decode(), which must not be called while another thread reads it.
  [[nodiscard]] Image image() const noexcept { return image_; }

 private:
  RangeProfiler(const Library& library, CUpti_RangeProfiler_Object* object) : library_(&library), object_(object) {}

  // What an image is for.
  struct Use {
    const CollectionPlan* plan = nullptr;
    std::size_t launches = 0;
    friend bool operator==(const Use&, const Use&) = default;
  };
  struct UsedImage {
    Use use;
    std::shared_ptr<std::vector<std::uint8_t>> bytes;
  };
  void take_free_image(const Use& use);
  void initialize(const Use& use, std::vector<std::uint8_t>& image);

  const Library* library_;
  CUpti_RangeProfiler_Object* object_;
  std::vector<UsedImage> images_;  // all of them: making one takes as long as a window with some launches
  Use use_;
  std::size_t next_pass_ = 0;
  Use sized_for_;                                     // what CUPTI was asked the size for last, which it initializes images for
  std::shared_ptr<std::vector<std::uint8_t>> image_;  // CUPTI writes to where it is
};

}  // namespace dlkprof::cupti
