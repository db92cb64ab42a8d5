#include "cupti/counter_turn.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <thread>

namespace dlkprof::cupti {
namespace {

using namespace std::chrono_literals;

// One that no other test, nor another run of this one, uses.
std::string some_gpu(const char* test) { return std::string(test) + "-" + std::to_string(getpid()); }

TEST(CounterTurnTest, OneHasItAtATime) {
  const std::string gpu = some_gpu("one");
  const auto first = CounterTurn::wait(gpu, 0ms);
  EXPECT_TRUE(first.held());
  EXPECT_FALSE(CounterTurn::wait(gpu, 10ms).held());
  EXPECT_TRUE(CounterTurn::wait(some_gpu("other"), 0ms).held());
}

TEST(CounterTurnTest, WhoWaitsGetsItWhenItIsGivenBack) {
  const std::string gpu = some_gpu("wait");
  auto first = std::make_unique<CounterTurn>(CounterTurn::wait(gpu, 0ms));
  EXPECT_FALSE(first->is_wanted());
  bool got_it = false;
  std::thread other([&] { got_it = CounterTurn::wait(gpu, 10s).held(); });
  while (!first->is_wanted()) std::this_thread::sleep_for(1ms);
  first.reset();
  other.join();
  EXPECT_TRUE(got_it);
}

TEST(CounterTurnTest, AProcessThatDiesGivesItBack) {
  const std::string gpu = some_gpu("death");
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto turn = CounterTurn::wait(gpu, 0ms);
    const char told = turn.held() ? 'y' : 'n';
    (void)!write(ready[1], &told, 1);
    for (;;) pause();
  }
  char told = 0;
  ASSERT_EQ(read(ready[0], &told, 1), 1);
  EXPECT_EQ(told, 'y');
  EXPECT_FALSE(CounterTurn::wait(gpu, 0ms).held());
  kill(child, SIGKILL);
  EXPECT_TRUE(CounterTurn::wait(gpu, 10s).held());
  waitpid(child, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
}

// As the workers of a data loader, which live on when their parent gives the turn back.
TEST(CounterTurnTest, AForkedChildKeepsNoTurn) {
  const std::string gpu = some_gpu("fork");
  auto turn = std::make_unique<CounterTurn>(CounterTurn::wait(gpu, 0ms));
  const pid_t child = fork();
  if (child == 0) {
    close_turns_in_child();
    for (;;) pause();
  }
  turn.reset();
  EXPECT_TRUE(CounterTurn::wait(gpu, 10s).held());
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST(CounterTurnTest, LongNamesAreCut) { EXPECT_TRUE(CounterTurn::wait(some_gpu("x") + std::string(500, 'y'), 0ms).held()); }

}  // namespace
}  // namespace dlkprof::cupti
