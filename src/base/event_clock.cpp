#include "base/event_clock.h"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <initializer_list>
#include <limits>
#include <mutex>
#include <optional>
#include <type_traits>

#include "base/file.h"

namespace dlkprof {

constinit ClockFunction g_clock = &clock_gettime;
constinit TickLine g_tick_line;

std::int64_t system_clock_ns() noexcept {
  timespec now{};
  g_clock(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

namespace {

// The kernel's is part of every process, unless it was left out, as under an emulator.
ClockFunction kernels_clock() noexcept {
  void* const kernels = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (kernels == nullptr) return &clock_gettime;
  for (const char* name : {"__vdso_clock_gettime", "__kernel_clock_gettime"}) {
    if (void* const found = dlsym(kernels, name)) return reinterpret_cast<ClockFunction>(found);
  }
  return &clock_gettime;
}

[[maybe_unused]] const bool kClockFound = [] {
  g_clock = kernels_clock();
  return true;
}();

// Two looks are each off by a quarter of a microsecond at most; closer to each other they do not give the slope well enough.
constexpr std::int64_t kLeastApartNs = 500'000'000;
// How long a line is good for, unless the next one is drawn: what is wrong about its slope adds up, to 4 microseconds at most.
constexpr double kGoodForNs = 4e9;
// By which share slopes differ that are not of one pace. A system's clock is corrected by less (500 ppm: adjtimex(2)).
constexpr double kOtherPace = 1e-3;
// Farther apart from the kernel's clock, ticks are not what it goes by any more.
constexpr std::int64_t kTooFarNs = 1'000'000;

#if defined(__x86_64__)

// Whether ticks are the same on all processors, and go on at one pace: as the kernel found, or it would keep another clock.
bool kernel_keeps_time_by_ticks() noexcept {
  try {
    return read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource") == "tsc\n";
  } catch (const std::exception&) {
    return false;
  }
}

// At both clocks at once: the narrowest of a few, as we may be interrupted in between. None where it always was.
std::optional<TickLine::Look> look_at_both() noexcept {
  constexpr int kTries = 5;
  constexpr std::int64_t kWidest = 1000;  // some half a microsecond
  TickLine::Look best;
  std::int64_t narrowest = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < kTries; ++i) {
    const auto before = static_cast<std::int64_t>(__builtin_ia32_rdtsc());
    const std::int64_t ns = system_clock_ns();
    const auto after = static_cast<std::int64_t>(__builtin_ia32_rdtsc());
    if (after - before >= narrowest) continue;
    narrowest = after - before;
    best = {before + narrowest / 2, ns};
  }
  return narrowest <= kWidest ? std::optional(best) : std::nullopt;
}

class Tuner {
 public:
  void tune() noexcept {
    const std::unique_lock lock(mutex_, std::try_to_lock);  // in a forked child it may stay locked: then the kernel is asked
    if (!lock || use_ == Use::never) return;
    if (use_ == Use::unknown) use_ = kernel_keeps_time_by_ticks() ? Use::yes : Use::never;
    const auto now = look_at_both();
    if (use_ == Use::never || !now || (last_ && now->ns - last_->ns < kLeastApartNs)) return;
    if (last_) {
      const TickLine::Line next = TickLine::next(g_tick_line.read(), *last_, *now);
      g_tick_line.set(next);
      if (next.until == 0) use_ = Use::never;
    }
    last_ = now;
  }

 private:
  enum class Use : std::uint8_t { unknown, yes, never };
  std::mutex mutex_;
  Use use_ = Use::unknown;
  std::optional<TickLine::Look> last_;
};
static_assert(std::is_trivially_destructible_v<Tuner>);  // the writer's thread may come late
constinit Tuner g_tuner;                                 // not made at its first use, amid which somebody may fork

#endif

}  // namespace

TickLine::Line TickLine::next(const Line& old, const Look& last, const Look& now) noexcept {
  if (now.ticks <= last.ticks) return {};
  const std::int64_t ours = now.ticks < old.until ? old.at(now.ticks) : now.ns;
  const std::int64_t behind = now.ns - ours;
  if (behind >= kTooFarNs || behind <= -kTooFarNs) return {};
  const double ns_a_tick = static_cast<double>(now.ns - last.ns) / static_cast<double>(now.ticks - last.ticks);
  const double pace = static_cast<double>(old.slope) / kUnit;
  if (old.slope != 0 && std::abs(ns_a_tick - pace) > kOtherPace * pace) return {};
  const double slope = ns_a_tick * (1.0 + static_cast<double>(behind) / kGoodForNs);
  const bool is_first = old.slope == 0;
  return {.ticks = now.ticks,
          .ns = ours,
          .slope = std::llround(slope * kUnit),
          .until = is_first ? now.ticks : now.ticks + static_cast<std::int64_t>(kGoodForNs / ns_a_tick)};
}

void TickLine::set(const Line& line) noexcept {
  const std::uint32_t version = version_.load(std::memory_order_relaxed);
  version_.store(version + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  ticks_.store(line.ticks, std::memory_order_relaxed);
  ns_.store(line.ns, std::memory_order_relaxed);
  slope_.store(line.slope, std::memory_order_relaxed);
  until_.store(line.until, std::memory_order_relaxed);
  version_.store(version + 2, std::memory_order_release);
}

void tune_event_clock() noexcept {
#if defined(__x86_64__)
  g_tuner.tune();
#endif
}

}  // namespace dlkprof
