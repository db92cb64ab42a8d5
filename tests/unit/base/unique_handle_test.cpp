#include "base/unique_handle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace dlkprof::unique_handle_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<int> closed;  // NOLINT: what close_number was given
void close_number(int number) { closed.push_back(number); }
using Number = UniqueHandle<int, close_number, -1>;

class UniqueHandleTest : public testing::Test {
 protected:
  void SetUp() override { closed.clear(); }
};

TEST_F(UniqueHandleTest, ClosesOnceAtTheEnd) {
  {
    const Number a(7);
    EXPECT_TRUE(a);
    EXPECT_EQ(a.get(), 7);
    EXPECT_THAT(closed, IsEmpty());
  }
  EXPECT_THAT(closed, ElementsAre(7));
}

TEST_F(UniqueHandleTest, NullIsNeverClosed) {
  {
    Number none;
    EXPECT_FALSE(none);
    none.reset();
  }
  EXPECT_THAT(closed, IsEmpty());
}

TEST_F(UniqueHandleTest, MovesHandOver) {
  Number a(1);
  Number b(std::move(a));
  EXPECT_FALSE(a);  // NOLINT(bugprone-use-after-move): that is what is tested
  Number c(2);
  c = std::move(b);
  EXPECT_THAT(closed, ElementsAre(2));
  EXPECT_EQ(c.get(), 1);
}

TEST_F(UniqueHandleTest, ReleaseGivesUpAndResetReplaces) {
  Number a(1);
  EXPECT_EQ(a.release(), 1);
  EXPECT_FALSE(a);
  a.reset(3);
  a.reset(4);
  EXPECT_THAT(closed, ElementsAre(3));
}

}  // namespace
}  // namespace dlkprof::unique_handle_test
