// The real libcupti, for the calls that need no GPU, and what all files of the fake share.
#pragma once

#include <cstdint>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
#include <cupti.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#pragma GCC visibility pop

#include "cuda/fake_driver.h"

namespace fakes {

// A function of the real library; ends the process where there is none.
[[nodiscard]] void* real_symbol(const char* name);
#define FAKE_REAL(function) reinterpret_cast<decltype(&::function)>(::fakes::real_symbol(#function))

// The driver's table; null where the process has no fake driver.
[[nodiscard]] const DriverTable* driver();

// What a test wants this call to return instead of doing anything.
[[nodiscard]] std::optional<CUptiResult> told_to_fail(const char* function);
#define FAKE_CALL(function) \
  if (const auto told = ::fakes::told_to_fail(#function)) return *told

// Calls of the target side; misuse where they come after the driver has been taken down, or CUPTI has been left.
#define FAKE_GPU_CALL(function)                                         \
  FAKE_CALL(function);                                                  \
  if (::fakes::driver() == nullptr) return CUPTI_ERROR_NOT_INITIALIZED; \
  ::fakes::check_alive(#function)
void check_alive(const char* function);
// From now on all of them are misuse, but for those below, until somebody subscribes again.
void set_finalized(bool finalized);
// Those that go on working where CUPTI was left: of a sampler that was made before.
#define FAKE_LASTING_CALL(function)                                     \
  FAKE_CALL(function);                                                  \
  if (::fakes::driver() == nullptr) return CUPTI_ERROR_NOT_INITIALIZED; \
  ::fakes::check_driver(#function)
void check_driver(const char* function);
// As CUPTI does when it is left.
void forget_activity();

// Guards subscriber and range profilers. Never taken where a context's lock is held; activity has a lock of its own.
[[nodiscard]] std::recursive_mutex& state_mutex();

// A counter-data image of the fake: which recorded range stands for each that was measured, and which passes of it were
// collected, of as many as the plan has. `room` ranges follow it, each about as large as a real one with counters of every
// multiprocessor, or with their sums.
struct FakeImage {
  static constexpr std::size_t kRangeBytes = 300'000, kSumBytes = 4'200;
  struct Range {
    std::uint64_t recorded, passes;  // a bit for each that was collected
  };
  std::uint64_t magic;
  std::uint64_t ranges;  // measured
  std::uint64_t room;
  std::uint64_t plan_passes;
  std::uint64_t has_device;  // what measured it wrote of its GPU
  std::uint64_t range_bytes;

  [[nodiscard]] static std::size_t bytes(std::size_t room, std::size_t range_bytes = kRangeBytes) {
    return sizeof(FakeImage) + room * range_bytes;
  }
  [[nodiscard]] static FakeImage empty(std::size_t room, std::size_t range_bytes = kRangeBytes);
  [[nodiscard]] std::uint64_t all_passes() const { return plan_passes >= 64 ? ~0ULL : (1ULL << plan_passes) - 1; }
  void put(std::size_t range, const Range& value) { std::memcpy(place(range), &value, sizeof value); }
  [[nodiscard]] Range at(std::size_t range) const {
    Range value{};
    std::memcpy(&value, const_cast<FakeImage*>(this)->place(range), sizeof value);
    return value;
  }

 private:
  std::uint8_t* place(std::size_t range) { return reinterpret_cast<std::uint8_t*>(this + 1) + range * range_bytes; }
};
inline constexpr std::uint64_t kFakeImageMagic = 0x656b61467470'75ULL;
inline FakeImage FakeImage::empty(std::size_t room, std::size_t range_bytes) {
  return {kFakeImageMagic, 0, room, 0, 0, range_bytes};
}
// What images begin with that the fake's builder lays out: what their ranges have room for.
struct FakePrefix {
  std::uint64_t magic, counters;
};
inline constexpr std::uint64_t kFakePrefixMagic = 0x656b61467866'72ULL;
inline constexpr std::uint64_t kFakeAvailabilityMagic = 0x656b61466c69'61ULL;
[[nodiscard]] const FakeImage* as_fake_image(const std::uint8_t* image, std::size_t size);
// That of samples: when each was taken, and which recorded range it stands for.
struct SampleImage {
  struct Sample {
    std::uint64_t start_ns, end_ns, recorded;
  };
  std::uint64_t magic;
  std::uint64_t count, room;
  [[nodiscard]] Sample* samples() { return reinterpret_cast<Sample*>(this + 1); }
};
inline constexpr std::uint64_t kSampleImageMagic = 0x656b61466d70'75ULL;
[[nodiscard]] const SampleImage* as_sample_image(const std::uint8_t* image, std::size_t size);
// The recorded range of the last kernel that ran on a device in an interval; none where there was none.
[[nodiscard]] std::optional<unsigned> recorded_at(int device, std::uint64_t start_ns, std::uint64_t end_ns);
// Whether several did.
[[nodiscard]] bool shared_at(int device, std::uint64_t start_ns, std::uint64_t end_ns);
// The recorded image behind all fake ones.
[[nodiscard]] const std::vector<std::uint8_t>& recording();

// Of a configuration that the real library made.
[[nodiscard]] std::size_t passes_of(const std::uint8_t* config, std::size_t bytes);
// Whether it counts by instructions that are added to kernels.
[[nodiscard]] bool patches_code(const std::uint8_t* config, std::size_t bytes);
// Whether some context has the counters of the GPU; whether it has them in a session.
[[nodiscard]] bool counters_held(int device);
[[nodiscard]] bool has_session(int device);

// callbacks.cpp hands on what the driver tells: activity.cpp, range_profiler.cpp and profiling_session.cpp.
bool run_in_range(const KernelRun& run);
bool run_in_session(const KernelRun& run);
void record_activity(const KernelRun& run);
// Whether kernels are recorded now.
[[nodiscard]] bool records_kernels();
// Whether a range is open, in whatever context. Takes no lock: the driver holds its own when it tells of a copy.
[[nodiscard]] bool collects();
void record_move(const MemoryMove& move);
void attach_to_driver();

}  // namespace fakes
