#include "cupti/counter_turn.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <vector>

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

// Closes whatever is a socket, and puts a file of its own under each of these numbers, as a program that closes twice may.
std::vector<int> take_numbers_of_sockets() {
  constexpr int kMostNumbers = 8192;
  std::vector<int> taken;
  for (int number = 3; number < kMostNumbers; ++number) {
    struct stat status {};
    if (fstat(number, &status) != 0 || !S_ISSOCK(status.st_mode)) continue;
    const int file = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(file, number);
    close(file);
    taken.push_back(number);
  }
  return taken;
}

bool all_open(const std::vector<int>& numbers) {
  return std::ranges::all_of(numbers, [](int number) { return fcntl(number, F_GETFD) != -1; });
}

TEST(CounterTurnTest, NumbersThatAreTheProgramsByNowAreLeft) {
  auto turn = std::make_unique<CounterTurn>(CounterTurn::wait(some_gpu("taken"), 0ms));
  const std::vector<int> numbers = take_numbers_of_sockets();
  EXPECT_FALSE(numbers.empty());
  const pid_t child = fork();
  if (child == 0) {
    close_turns_in_child();
    _exit(all_open(numbers) ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  turn.reset();
  EXPECT_TRUE(all_open(numbers));
  std::ranges::for_each(numbers, [](int number) { close(number); });
}

TEST(CounterTurnTest, LongNamesAreCut) { EXPECT_TRUE(CounterTurn::wait(some_gpu("x") + std::string(500, 'y'), 0ms).held()); }

}  // namespace
}  // namespace dlkprof::cupti
