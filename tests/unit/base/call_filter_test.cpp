#include "base/call_filter.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>

namespace dlkprof::call_filter_test {
namespace {

constexpr long kUnused = 0x3fffffff;  // a number that no call has

constexpr auto make_filter_of_test() {
  constexpr std::array kRefused{SYS_getppid};
  call_filter::Filter<call_filter::kBegin + 2 + 5 + 1> filter;
  filter.give(kRefused, SECCOMP_RET_ERRNO | EDOM);
  filter.give_by_bits(kUnused, 1, 6, SECCOMP_RET_ERRNO | ERANGE, SECCOMP_RET_ERRNO | EXDEV);
  filter.add(call_filter::answer(SECCOMP_RET_ALLOW));
  return filter;
}

// errno of act() in a process that has the filter; 0: it did not fail.
int errno_within(const std::function<long()>& act) {
  const pid_t child = fork();
  if (child == 0) {
    static constexpr auto kFilter = make_filter_of_test();
    if (!call_filter::install(kFilter.instructions())) _exit(255);
    errno = 0;
    _exit(act() < 0 ? errno : 0);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << status;
  EXPECT_NE(WEXITSTATUS(status), 255) << "cannot be filtered";
  return WEXITSTATUS(status);
}

TEST(CallFilter, AnswersByNumber) {
  EXPECT_EQ(errno_within([] { return syscall(SYS_getppid); }), EDOM);
  EXPECT_EQ(errno_within([] { return syscall(SYS_getpid); }), 0);
}

TEST(CallFilter, AnswersByBitsOfAnArgument) {
  EXPECT_EQ(errno_within([] { return syscall(kUnused, 6, 4); }), ERANGE);
  EXPECT_EQ(errno_within([] { return syscall(kUnused, 6, 1); }), EXDEV);
  EXPECT_EQ(errno_within([] { return syscall(kUnused, 0, 8); }), EXDEV);
}

TEST(CallFilter, LetsNoCallOfAnotherInterfaceThrough) {
  EXPECT_EQ(errno_within([] { return syscall(call_filter::kX32Bit | SYS_getpid); }), EPERM);
  EXPECT_EQ(errno_within([] { return syscall(call_filter::kX32Bit | SYS_getppid); }), EPERM);
}

}  // namespace
}  // namespace dlkprof::call_filter_test
