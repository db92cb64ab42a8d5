// Whether the heap's holes are filled, by what malloc gives afterwards.
#include "inject/session/heap_holes.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdlib>
#include <thread>
#include <vector>

#include "base/sanitizers.h"

namespace dlkprof::inject::heap_holes_test {
namespace {

constexpr bool kHasOwnMalloc = kAddressSanitizer || kThreadSanitizer;

// What glibc keeps for a thread at most, which counts as used: seven blocks of each size up to 1 KB, in steps of 16 bytes.
constexpr std::size_t kThreadCacheBytes = std::size_t{7} * 64 * 1'040;

// Free memory that is not at the heap's end.
std::size_t bytes_in_holes() {
  const auto facts = mallinfo2();
  return facts.fordblks - facts.keepcost;
}

// Every second of them stays, so that no two holes become one.
void make_holes(std::size_t size, int count) {
  static std::vector<void*> kept;
  std::vector<void*> freed;
  for (int i = 0; i < count; ++i) {
    freed.push_back(std::malloc(size));
    kept.push_back(std::malloc(size));
  }
  for (void* block : freed) std::free(block);
}

class HeapHolesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (kHasOwnMalloc) GTEST_SKIP() << "a sanitizer has its own malloc";
    while (fill_heap_holes() > kMostFilledBytes / 2) {  // that tests before it in this process left
    }
  }
};

TEST_F(HeapHolesTest, AreFilled) {
  const std::size_t others = bytes_in_holes();  // of tests before it in this process, where malloc finds none
  for (const std::size_t size : {40U, 200U, 1000U, 5'000U, 100'000U}) make_holes(size, 200);
  const std::size_t made = bytes_in_holes() - others;
  ASSERT_GE(made, std::size_t{200} * 100'000);
  const std::size_t filled = fill_heap_holes();
  EXPECT_GE(filled, made * 9 / 10) << "of " << made;
  EXPECT_LE(filled, made + kThreadCacheBytes) << "nothing of the heap's end, which would make it grow without an end";
  EXPECT_LE(bytes_in_holes(), others + made / 20);
}

TEST_F(HeapHolesTest, NoMoreThanTheMost) {
  make_holes(60'000, 2'000);
  ASSERT_GT(bytes_in_holes(), kMostFilledBytes);
  const std::size_t filled = fill_heap_holes();
  EXPECT_GT(filled, kMostFilledBytes * 9 / 10);
  EXPECT_LE(filled, kMostFilledBytes);
}

TEST_F(HeapHolesTest, OnTheMainThreadAlone) {
  EXPECT_TRUE(on_main_thread());
  std::thread([] {
    EXPECT_FALSE(on_main_thread());
    make_holes(1'000, 100);
    EXPECT_EQ(fill_heap_holes(), 0U);
  }).join();
}

TEST(HeapHoles, NotOfAnotherMalloc) {
  if (!kHasOwnMalloc) GTEST_SKIP() << "of a sanitizer's";
  EXPECT_EQ(fill_heap_holes(), 0U);
}

}  // namespace
}  // namespace dlkprof::inject::heap_holes_test
