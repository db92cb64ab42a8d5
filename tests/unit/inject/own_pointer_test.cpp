#include "inject/own_pointer.h"

#include <gtest/gtest.h>

#include <barrier>
#include <thread>
#include <vector>

namespace dlkprof::inject::own_pointer_test {
namespace {

TEST(OwnPointer, IsTheThreadsUntilItIsRemoved) {
  static constinit OwnPointer<int> own;
  int mine = 0, others = 0;
  EXPECT_EQ(own.last(), nullptr);
  own.put(&own, &mine, &others);
  EXPECT_EQ(own.get(&own).pointer, &mine);
  EXPECT_EQ(own.get(&own).used_too, &others);
  EXPECT_EQ(own.get(&mine).pointer, nullptr) << "of another owner";
  std::thread([&] {
    EXPECT_EQ(own.get(&own).pointer, nullptr);
    own.put(&own, &others);
    EXPECT_EQ(own.get(&own).pointer, &others);
    own.remove();
    EXPECT_EQ(own.last(), nullptr);
  }).join();
  EXPECT_EQ(own.last(), &mine);
  own.put(&mine, &others);
  EXPECT_EQ(own.get(&own).pointer, nullptr);
  EXPECT_EQ(own.get(&mine).pointer, &others);
  own.clear();
  EXPECT_EQ(own.last(), nullptr);
}

TEST(OwnPointer, ThreadsShareNoPlace) {
  constexpr std::size_t kThreads = 8, kRounds = 500;
  static constinit OwnPointer<std::size_t, 1> own;
  std::atomic<int> found{0};
  std::barrier all(kThreads);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::size_t mine = t;
      for (std::size_t i = 0; i < kRounds; ++i) {
        own.put(&own, &mine);
        const auto* pointer = own.get(&own).pointer;
        EXPECT_TRUE(pointer == nullptr || *pointer == t);
        if (i % 3 == t % 3) own.remove();
      }
      own.remove();
      all.arrive_and_wait();
      own.put(&own, &mine);
      if (own.last() != nullptr) ++found;
      all.arrive_and_wait();
      own.remove();
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_GE(found, 1);
  EXPECT_LE(found, 2);
}

}  // namespace
}  // namespace dlkprof::inject::own_pointer_test
