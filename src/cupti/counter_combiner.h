// NVPerf's combiner of counter data: puts counters together that were collected apart, such as the passes of a plan over
// different launches of one kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cupti/nvperf.h"

namespace dlkprof::cupti {

// Adds ranges up into an image of one range. Made and used by one thread.
class CounterCombiner {
 public:
  // `empty`: an image for one range that holds none (RangeProfiler::empty_image), of the plan of all that will be added.
  // Throws Error, as do the others.
  CounterCombiner(const NvPerf& nvperf, std::vector<std::uint8_t> empty);

  void add(std::span<const std::uint8_t> image, std::size_t range);
  // The sum: range 0.
  [[nodiscard]] std::span<const std::uint8_t> image() const noexcept { return image_; }

 private:
  struct Destroy {
    const NvPerf* nvperf;
    void operator()(NVPA_CounterDataCombiner* combiner) const noexcept;
  };

  const NvPerf& nvperf_;
  std::vector<std::uint8_t> image_;
  std::unique_ptr<NVPA_CounterDataCombiner, Destroy> combiner_;
  std::size_t range_ = 0;
};

}  // namespace dlkprof::cupti
