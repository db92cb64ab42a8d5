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
  }
};

TEST_F(HeapHolesTest, AreFilled) {
  for (const std::size_t size : {40U, 200U, 1000U, 5'000U, 100'000U}) make_holes(size, 200);
  const std::size_t before = bytes_in_holes();
  ASSERT_GE(before, std::size_t{200} * 100'000);
  const std::size_t filled = fill_heap_holes();
  EXPECT_GE(filled, before * 9 / 10) << "of " << before;
  EXPECT_LE(filled, before) << "nothing of the heap's end, which would make it grow";
  EXPECT_LE(bytes_in_holes(), before / 20);
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
