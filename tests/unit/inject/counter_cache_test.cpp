#include "inject/session/counter_cache.h"

#include <gtest/gtest.h>

namespace dlkprof::inject::counter_cache_test {
namespace {

CUfunction function(std::uintptr_t address) { return reinterpret_cast<CUfunction>(address); }
CUcontext context(std::uintptr_t address) { return reinterpret_cast<CUcontext>(address); }

TEST(CounterCache, KnowsAHandleInItsContextAndEpoch) {
  CounterCache cache;
  CounterCache::Counter here{0}, there{0};
  cache.put(context(0x1000), function(0x2000), 1, {&here, 7});
  EXPECT_EQ(cache.find(context(0x1000), function(0x2000), 1).counter, &here);
  EXPECT_EQ(cache.find(context(0x1000), function(0x2000), 1).function, 7U);
  EXPECT_EQ(cache.find(context(0x1000), function(0x2000), 2).counter, nullptr) << "a module was unloaded meanwhile";
  EXPECT_EQ(cache.find(context(0x1000), function(0x3000), 1).counter, nullptr);
  EXPECT_EQ(cache.find(context(0x5000), function(0x2000), 1).counter, nullptr) << "a library's kernel on another GPU";
  cache.put(context(0x5000), function(0x2000), 1, {&there, 7});
  EXPECT_EQ(cache.find(context(0x5000), function(0x2000), 1).counter, &there);
}

// Functions whose address has them all at one place, of any context.
CUfunction at_one_place(std::uintptr_t number) { return function((number << 12U) + ((number ^ 1U) << 4U)); }

int known_at_one_place(const CounterCache& cache, std::uint64_t epoch) {
  int known = 0;
  for (std::uint32_t number = 1; number <= 20; ++number) {
    const auto entry = cache.find(context(0x1000), at_one_place(number), epoch);
    if (entry.counter == nullptr) continue;
    EXPECT_EQ(entry.function, number);
    ++known;
  }
  return known;
}

TEST(CounterCache, FunctionsAtOnePlaceAreKnownBesideEachOther) {
  CounterCache cache;
  CounterCache::Counter counter{0};
  for (const std::uint32_t epoch : {1U, 2U}) {  // with other functions in each
    const auto put = [&](std::uint32_t number) {
      cache.put(context(0x1000), at_one_place(8 * epoch + number), epoch, {&counter, 8 * epoch + number});
    };
    for (std::uint32_t number = 0; number < 4; ++number) put(number);
    EXPECT_EQ(known_at_one_place(cache, epoch), 4);
    for (int again = 0; again < 5; ++again) put(0);
    EXPECT_EQ(known_at_one_place(cache, epoch), 4) << "one that is there needs no other place";
    put(4);
    EXPECT_EQ(known_at_one_place(cache, epoch), 4) << "one had to go";
  }
  EXPECT_EQ(known_at_one_place(cache, 1), 0);
}

TEST(CounterCache, KnowsMostOfAHundredFunctionsWhereverTheyLie) {
  CounterCache::Counter counter{0};
  for (std::uintptr_t apart : {0x10U, 0x30U, 0x70U, 0x150U, 0x1000U, 0x2230U}) {
    CounterCache cache;
    const auto nth = [apart](std::uint32_t number) { return function(0x7f00'1230'4560 + number * apart); };
    for (std::uint32_t number = 0; number < 100; ++number) cache.put(context(0x1000), nth(number), 1, {&counter, number});
    int known = 0;
    for (std::uint32_t number = 0; number < 100; ++number) {
      const auto entry = cache.find(context(0x1000), nth(number), 1);
      if (entry.counter == nullptr) continue;
      EXPECT_EQ(entry.function, number);
      ++known;
    }
    EXPECT_GE(known, 95) << apart;
  }
}

}  // namespace
}  // namespace dlkprof::inject::counter_cache_test
