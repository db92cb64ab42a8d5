#include "base/event_clock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace dlkprof {
namespace {

constexpr auto kNanosecondATick = static_cast<std::int64_t>(TickLine::kUnit);

std::int64_t kernel_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

TEST(TickLineTest, GoesThroughItsPoint) {
  const TickLine::Line line{.ticks = 1'000, .ns = 50, .slope = kNanosecondATick / 2, .until = 0};
  EXPECT_EQ(line.at(1'000), 50);
  EXPECT_EQ(line.at(1'200), 150);
  EXPECT_EQ(line.at(800), -50);
}

TEST(TickLineTest, HoldsForYears) {
  constexpr std::int64_t kYears = 1'000'000'000'000'000'000;
  const TickLine::Line line{.ticks = 7, .ns = 3, .slope = kNanosecondATick, .until = 0};
  EXPECT_EQ(line.at(kYears + 7), kYears + 3);
}

TEST(TickLineTest, SaysNothingBeforeItIsDrawnOrAfterItHasEnded) {
  TickLine line;
  std::int64_t ns = 5;
  EXPECT_FALSE(line.now(ns));
  line.set({.ticks = 0, .ns = 0, .slope = kNanosecondATick, .until = 1});
  EXPECT_FALSE(line.now(ns));
  EXPECT_EQ(ns, 5);
}

TEST(TickLineTest, IsReadAsItWasSet) {
  TickLine line;
  line.set({.ticks = 1, .ns = 2, .slope = 3, .until = 4});
  const auto read = line.read();
  EXPECT_EQ(read.ticks, 1);
  EXPECT_EQ(read.ns, 2);
  EXPECT_EQ(read.slope, 3);
  EXPECT_EQ(read.until, 4);
}

// Each look is off by some nanoseconds; however far apart lines are drawn, that does not add up.
TEST(TickLineTest, StaysWithTheKernelsClock) {
  constexpr double kNanosecondsATick = 0.5;
  for (const double seconds : {0.5, 1.0, 2.0, 2.3, 3.0, 3.9, 10.0}) {
    TickLine::Line line;
    TickLine::Look last{.ticks = 1'000'000, .ns = 7'000};
    for (int i = 1; i <= 300; ++i) {
      const auto apart = static_cast<std::int64_t>(i * seconds * 1e9);
      const std::int64_t off = i * 7919 % 41 - 20;
      const TickLine::Look now{.ticks = 1'000'000 + static_cast<std::int64_t>(static_cast<double>(apart) / kNanosecondsATick),
                               .ns = 7'000 + apart + off};
      if (i > 2 && now.ticks < line.until) {
        ASSERT_NEAR(static_cast<double>(line.at(now.ticks)), static_cast<double>(now.ns), 200) << seconds << " s, " << i;
      }
      line = TickLine::next(line, last, now);
      ASSERT_EQ(line.ticks, now.ticks);
      last = now;
    }
  }
}

TEST(TickLineTest, TheFirstIsOverAtOnce) {
  const TickLine::Look first{.ticks = 1'000, .ns = 0}, second{.ticks = 1'000'001'000, .ns = 1'000'000'000};
  const auto line = TickLine::next({}, first, second);
  EXPECT_EQ(line.until, second.ticks);
  EXPECT_EQ(line.slope, kNanosecondATick);
  EXPECT_GT(TickLine::next(line, second, {.ticks = 2'000'001'000, .ns = 2'000'000'000}).until, 2'000'001'000);
}

// The kernel's clock stands still while the system sleeps, ticks may go on; the line has ended meanwhile.
TEST(TickLineTest, AnotherPaceIsNotBelieved) {
  const TickLine::Line line{.ticks = 1'000'000'000, .ns = 0, .slope = kNanosecondATick, .until = 5'000'000'000};
  const TickLine::Look last{.ticks = 1'000'000'000, .ns = 0};
  EXPECT_EQ(TickLine::next(line, last, {.ticks = 3'600'000'000'000, .ns = 1'000'000'000}).until, 0);
  EXPECT_EQ(TickLine::next(line, last, {.ticks = 11'000'000'000, .ns = 9'980'000'000}).until, 0);
  EXPECT_GT(TickLine::next(line, last, {.ticks = 11'000'000'000, .ns = 10'005'000'000}).until, 0);
}

TEST(TickLineTest, EndsWhereTicksAreNotTheKernels) {
  const TickLine::Line line{.ticks = 1'000'000'000, .ns = 0, .slope = kNanosecondATick, .until = 5'000'000'000};
  const TickLine::Look last{.ticks = 1'000'000'000, .ns = 0};
  EXPECT_EQ(TickLine::next(line, last, {.ticks = 2'000'000'000, .ns = 1'002'000'000}).until, 0);
  EXPECT_EQ(TickLine::next(line, last, {.ticks = 900'000'000, .ns = 1'000'000'000}).until, 0);
  EXPECT_EQ(TickLine::next(line, last, {.ticks = 1'000'000'000, .ns = 1'000'000'000}).until, 0);
  EXPECT_GT(TickLine::next(line, last, {.ticks = 2'000'000'000, .ns = 1'000'000'500}).until, 0);
}

#if defined(__x86_64__)
// All of these lines are the same one, by another point.
TEST(TickLineTest, IsNeverReadInParts) {
  TickLine line;
  std::atomic<bool> over{false};
  std::thread draws([&] {
    constexpr std::int64_t kApart = 1'000'000'000'000, kFar = std::int64_t{1} << 62U;
    for (std::int64_t i = 0; !over; ++i) {
      line.set({.ticks = -(i % 1000) * kApart, .ns = -(i % 1000) * kApart, .slope = kNanosecondATick, .until = kFar});
    }
  });
  int read = 0;
  for (int i = 0; i < 1'000'000 || read == 0; ++i) {
    std::int64_t ns = 0;
    const auto before = static_cast<std::int64_t>(__builtin_ia32_rdtsc());
    if (!line.now(ns)) continue;
    const auto after = static_cast<std::int64_t>(__builtin_ia32_rdtsc());
    ++read;
    ASSERT_GE(ns, before);
    ASSERT_LE(ns, after);
  }
  over = true;
  draws.join();
}
#endif

#if defined(__x86_64__)
// As after a suspend, which begins ticks anew.
TEST(TickLineTest, SaysNothingOfTicksBeforeIt) {
  TickLine line;
  const auto now = static_cast<std::int64_t>(__builtin_ia32_rdtsc());
  constexpr std::int64_t kMinutes = 1'000'000'000'000;
  std::int64_t ns = 5;
  line.set({.ticks = now + kMinutes, .ns = 0, .slope = kNanosecondATick, .until = now + 2 * kMinutes});
  EXPECT_FALSE(line.now(ns));
  EXPECT_EQ(ns, 5);
  line.set({.ticks = now, .ns = 0, .slope = kNanosecondATick, .until = now + kMinutes});
  EXPECT_TRUE(line.now(ns));
}
#endif

TEST(EventClockTest, TunedItIsTheKernels) {
  for (int looks = 0; looks < 3; ++looks) {
    if (looks > 0) std::this_thread::sleep_for(std::chrono::milliseconds(550));
    tune_event_clock();
  }
  std::int64_t last = 0;
  for (int i = 0; i < 100'000; ++i) {
    const std::int64_t before = kernel_ns();
    const std::int64_t ours = event_clock_ns();
    const std::int64_t after = kernel_ns();
    ASSERT_GE(ours, before - 4'000);
    ASSERT_LE(ours, after + 4'000);
    ASSERT_GE(ours, last);
    last = ours;
  }
}

}  // namespace
}  // namespace dlkprof
