// PM sampling of one GPU: its counters, read out at fixed intervals while programs run at their own speed.
//
//   create ─▶ configure ─▶ start ─▶ decode* ─▶ stop ─▶ decode until nothing is left ─▶ configure again … ─▶ ~ (disable)
//
// What is counted is the whole GPU's, whichever process uses it. One user a GPU. The image belongs to this object and holds the
// samples of the last decode(). No context is needed. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cupti/host.h"
#include "cupti/library.h"

namespace dlkprof::cupti {

// Which counters can be sampled on this device with the permissions of this process. Throws Error.
[[nodiscard]] std::vector<std::uint8_t> sampling_availability(const Library& library, std::uint32_t device);

class PmSampler {
 public:
  struct Settings {
    std::uint64_t interval_ns = 0;
    std::size_t hardware_bytes = 0;  // of the buffer that the GPU writes to
    std::uint32_t most_samples = 0;  // that one decode() gives
  };
  // When a sample was taken, on CUPTI's clock. 0 where CUPTI does not say.
  struct Interval {
    std::uint64_t start_ns = 0, end_ns = 0;
  };
  struct Decoded {
    std::size_t samples = 0;
    bool image_full = false;  // there is more
    bool overflow = false;    // the hardware's buffer was full: samples are lost
  };

  [[nodiscard]] static PmSampler create(const Library& library, std::uint32_t device);
  PmSampler(PmSampler&& other) noexcept;
  PmSampler& operator=(PmSampler&&) = delete;
  ~PmSampler();

  // `plan`: of a single pass, made by a Host for samples; it must outlive what is collected with it.
  void configure(const CollectionPlan& plan, const Settings& settings);
  void start();
  void stop();
  // Empties the image and reads what the hardware has into it.
  [[nodiscard]] Decoded decode();
  [[nodiscard]] Interval interval(std::size_t sample) const;
  [[nodiscard]] std::span<const std::uint8_t> image() const noexcept { return *image_; }

 private:
  PmSampler(const Library& library, CUpti_PmSampling_Object* object) : library_(&library), object_(object) {}

  const Library* library_;
  CUpti_PmSampling_Object* object_;
  std::unique_ptr<std::vector<std::uint8_t>> image_;  // CUPTI writes to where it is
};

}  // namespace dlkprof::cupti
