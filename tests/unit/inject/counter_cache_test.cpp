#include "inject/counter_cache.h"

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

}  // namespace
}  // namespace dlkprof::inject::counter_cache_test
