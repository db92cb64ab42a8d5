// The clock of all events: CLOCK_MONOTONIC, also of what CUPTI records.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

namespace dlkprof {

// clock_gettime, as the kernel gives it to the process and libc calls it: a look at the clock is in no cache when it comes to be
// taken, and libc's way there is as long as the rest of it.
using ClockFunction = int (*)(clockid_t, timespec*);
extern constinit ClockFunction g_clock;

// The kernel's clock as a line over the processor's time stamp counter, good for a while: half the price of asking the kernel,
// and in one line of the caches.
class alignas(64) TickLine {
 public:
  struct Line {
    std::int64_t ticks = 0, ns = 0;  // a point of it
    std::int64_t slope = 0;          // kUnit is a nanosecond a tick
    std::int64_t until = 0;          // ticks; from then on it is not to be used
    [[nodiscard]] std::int64_t at(std::int64_t now) const noexcept {
      __extension__ using Wide = __int128;
      return ns + static_cast<std::int64_t>((Wide{now - ticks} * slope) >> kUnitShift);
    }
  };
  static constexpr unsigned kUnitShift = 32;
  static constexpr double kUnit = 4294967296.0;  // 2^kUnitShift

  // Both clocks at one time.
  struct Look {
    std::int64_t ticks = 0, ns = 0;
  };
  // A line that goes on from where `old` is now, or from the kernel's clock where `old` has ended, and meets the kernel's clock
  // when it ends itself: then what is wrong shrinks from one line to the next, whenever that is drawn. The first one is over at
  // once: it tells at which pace the second is to go. With `until` 0, and so never to be used, where the two clocks do not go
  // together, as where the system slept and ticks went on.
  [[nodiscard]] static Line next(const Line& old, const Look& last, const Look& now) noexcept;

  // False where there is none, it is just being set, or ticks are not where they were: before the line, as after a suspend.
  [[nodiscard]] bool now(std::int64_t& ns) const noexcept {
#if defined(__x86_64__)
    const std::uint32_t version = version_.load(std::memory_order_acquire);
    const auto ticks = static_cast<std::int64_t>(__builtin_ia32_rdtsc());
    const Line line = read();
    const auto after = [&](std::int64_t of) { return static_cast<std::uint64_t>(of - line.ticks + kSlackTicks); };
    if ((version & 1U) != 0 || after(ticks) >= after(line.until)) [[unlikely]]
      return false;
    ns = line.at(ticks);
    std::atomic_thread_fence(std::memory_order_acquire);
    return version_.load(std::memory_order_relaxed) == version;
#else
    (void)ns;
    return false;
#endif
  }

  // From one thread at a time, which may read as well.
  void set(const Line& line) noexcept;
  [[nodiscard]] Line read() const noexcept {
    return {.ticks = ticks_.load(std::memory_order_relaxed),
            .ns = ns_.load(std::memory_order_relaxed),
            .slope = slope_.load(std::memory_order_relaxed),
            .until = until_.load(std::memory_order_relaxed)};
  }

 private:
  // A processor may have been amid a look at its ticks while another one drew the line. Less than a millisecond.
  static constexpr std::int64_t kSlackTicks = 1'000'000;

  std::atomic<std::uint32_t> version_{0};  // odd while it is being set: a sequence lock (Boehm, MSPC 2012)
  std::atomic<std::int64_t> ticks_{0}, ns_{0}, slope_{0}, until_{0};
};
extern constinit TickLine g_tick_line;

// CLOCK_MONOTONIC as the system gives it, for when there is no line.
[[gnu::cold, gnu::noinline]] std::int64_t system_clock_ns() noexcept;

// Now, CLOCK_MONOTONIC, ns; within a few microseconds of what the kernel says.
[[nodiscard]] inline std::int64_t event_clock_ns() noexcept {
  if (std::int64_t ns = 0; g_tick_line.now(ns)) [[likely]]
    return ns;
  return system_clock_ns();
}

// Has ticks be used for the next seconds, where the kernel keeps its own clock by them; compares them with it each time. To be
// called about once a second, from any thread.
void tune_event_clock() noexcept;

}  // namespace dlkprof
