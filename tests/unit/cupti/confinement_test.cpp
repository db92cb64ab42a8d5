#include "cupti/confinement.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <functional>
#include <new>
#include <vector>

#include "base/sanitizers.h"

namespace dlkprof::cupti::confinement_test {
namespace {

constexpr std::size_t kMore = std::size_t{64} << 20U;

// Whether act() fails with EPERM in a confined child; it may use the descriptor, and nothing else that was open.
bool is_refused(const std::function<long(int)>& act) {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (!confine(ends[1], kMore)) _exit(9);
    errno = 0;
    _exit(act(ends[1]) < 0 && errno == EPERM ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  close(ends[0]);
  close(ends[1]);
  EXPECT_TRUE(WIFEXITED(status)) << status;
  EXPECT_NE(WEXITSTATUS(status), 9) << "cannot be confined";
  return WEXITSTATUS(status) == 0;
}

TEST(Confinement, NothingIsOpenedRunOrReached) {
  static constexpr std::array<const char*, 2> kArguments{"/bin/true", nullptr};
  EXPECT_TRUE(is_refused([](int) { return open("/etc/passwd", O_RDONLY | O_CLOEXEC); }));
  EXPECT_TRUE(is_refused([](int) { return open("/tmp/of_the_confined", O_WRONLY | O_CREAT | O_CLOEXEC, 0600); }));
  EXPECT_TRUE(is_refused([](int) { return execv(kArguments[0], const_cast<char* const*>(kArguments.data())); }));
  EXPECT_TRUE(is_refused([](int) { return socket(AF_INET, SOCK_STREAM, 0); }));
  EXPECT_TRUE(is_refused([](int) { return syscall(SYS_clone, 0, nullptr, nullptr, nullptr, nullptr); }));
  EXPECT_TRUE(is_refused([](int) { return kill(getppid(), 0); }));
  EXPECT_TRUE(is_refused([](int) { return unlink("/tmp/of_the_confined"); }));
  EXPECT_TRUE(is_refused(
      [](int) { return mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0; }));
}

TEST(Confinement, WhatIsNeededGoesOn) {
  EXPECT_FALSE(is_refused([](int fd) { return write(fd, "x", 1); }));
  EXPECT_FALSE(is_refused([](int) {
    const std::vector<char> some(1 << 20, 'x');
    return some.back() == 'x' ? 0 : -1;
  }));
}

TEST(Confinement, OtherDescriptorsAreClosed) {
  const int other = open("/dev/null", O_RDONLY | O_CLOEXEC);
  EXPECT_FALSE(is_refused([other](int) {
    char byte = 0;
    return read(other, &byte, 1) < 0 && errno == EBADF ? 0 : -1;
  }));
  close(other);
}

TEST(Confinement, MemoryIsBounded) {
  if (kAddressSanitizer || kThreadSanitizer) GTEST_SKIP() << "sanitizers reserve memory as they like";
  EXPECT_FALSE(is_refused([](int) {
    return mmap(nullptr, 2 * kMore, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? 0 : -1;
  }));
}

}  // namespace
}  // namespace dlkprof::cupti::confinement_test
