// How often each instruction of a launch ran, and what its memory accesses asked for. CUPTI counts it in machine code that it
// patches (cupti_sass_metrics.h): nothing is replayed, and what the kernel computes stays what it was; it takes longer.
//
//   create ─▶ (begin ─▶ the launch, until it is done ─▶ end)* ─▶ ~
//
// One user a GPU. CUPTI patches nothing while PC sampling is on, and attributes no samples to code that it has patched. All
// counts are 0 while activity of kernels is recorded (measured, CUDA 13.0). So both are off; begin() has PC sampling begin and
// end for a moment. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cupti/library.h"
#include "cupti/sass_metrics.h"

namespace dlkprof::cupti {

// A count that is not 0, of one instruction.
struct SassHit {
  std::string function;  // mangled
  std::uint32_t cubin_crc = 0;
  std::uint64_t offset = 0;  // bytes from the function's start
  std::uint32_t metric = 0;  // index into SassCounter::metrics()
  std::uint64_t value = 0;
};

class SassCounter {
 public:
  // Of those in kSassMetrics that the chip has. Throws Error, also where it has none.
  [[nodiscard]] static SassCounter create(const Library& library, std::uint32_t device, const std::string& chip);
  SassCounter(SassCounter&& other) noexcept;
  SassCounter& operator=(SassCounter&&) = delete;
  ~SassCounter();

  [[nodiscard]] const std::vector<std::string>& metrics() const noexcept { return metrics_; }

  // Functions are patched that are launched in the context from here on, each at its first launch. Throws Error.
  void begin(CUcontext context);
  // Gives what was counted; all launches since begin() are done. Throws Error, also where nothing was counted.
  [[nodiscard]] std::vector<SassHit> end();
  // Ends it without counts; where it has ended, does nothing.
  void cancel() noexcept { (void)disable(); }

 private:
  SassCounter(const Library& library, std::uint32_t device) : library_(&library), device_(device) {}
  void make_ready(CUcontext context);
  [[nodiscard]] std::vector<SassHit> read() const;
  [[nodiscard]] CUptiResult disable() noexcept;

  const Library* library_;  // null: moved from
  std::uint32_t device_;
  std::optional<CUcontext> context_;  // between begin() and end()
  std::optional<Error> not_ready_;    // why PC sampling could not begin and end before
  std::vector<std::string> metrics_;
  std::map<std::uint64_t, std::uint32_t> indices_;  // of metrics_, by CUPTI's number
};

}  // namespace dlkprof::cupti
