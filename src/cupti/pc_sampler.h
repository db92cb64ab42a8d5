// PC sampling of one context, continuous: kernels run as they always do, and the hardware looks at a warp of each multiprocessor
// once in a period.
//
//   start ─▶ drain* ─▶ finish
//
// CUPTI reads the hardware's buffer on threads of its own; drain() takes from there what has come so far, finish() ends
// sampling and takes what is left. Any thread may call, one at a time; no context needs to be current.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cupti/library.h"

namespace dlkprof::cupti {

struct PcStall {
  std::uint32_t reason = 0;  // PcSampler::Reason::index
  std::uint32_t samples = 0;
};
// An instruction that was sampled; refers to memory of CUPTI's and the sampler's, for the time of the call.
struct PcHit {
  const char* function = nullptr;  // mangled
  std::uint64_t cubin_crc = 0;
  std::uint64_t offset = 0;  // bytes from the function's start
  std::span<const PcStall> stalls;
};
using OnPcHit = std::function<void(const PcHit&)>;

// Since the last time that was asked; see capture::PcSamplesRecord.
struct PcTotals {
  std::uint64_t samples = 0, foreign = 0, dropped = 0, overflows = 0;
};

class PcSampler {
 public:
  struct Reason {
    std::uint32_t index = 0;
    std::string name;
  };

  // Throws Error.
  [[nodiscard]] static PcSampler start(const Library& library, CUcontext context, std::uint32_t period_log2);
  PcSampler(PcSampler&& other) noexcept;
  PcSampler& operator=(PcSampler&&) = delete;
  ~PcSampler();

  // Of samples; without those that count a part of them once more: that no warp of the scheduler issued meanwhile.
  [[nodiscard]] const std::vector<Reason>& reasons() const noexcept { return reasons_; }
  [[nodiscard]] std::uint32_t period_log2() const noexcept { return period_log2_; }

  // Throws Error. A buffer of the hardware's that was full is no error, but counted.
  PcTotals drain(const OnPcHit& on_hit);
  PcTotals finish(const OnPcHit& on_hit);

 private:
  struct Buffer;
  PcSampler(const Library& library, CUcontext context);
  [[nodiscard]] PcTotals totals_of(const Buffer& buffer);
  void hand_over(const Buffer& buffer, const OnPcHit& on_hit) const;
  void read_reasons();
  void configure(std::uint32_t period_log2);

  const Library* library_;
  CUcontext context_;  // null: sampling has ended
  std::uint32_t period_log2_ = 0;
  std::vector<Reason> reasons_;
  std::size_t reasons_in_all_ = 0;
  bool full_ = false;                      // the hardware's buffer, when last seen
  std::unique_ptr<Buffer> given_, asked_;  // CUPTI fills the first one at the end, the other when it is asked
};

}  // namespace dlkprof::cupti
