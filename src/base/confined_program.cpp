#include "base/confined_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/call_filter.h"
#include "base/error.h"
#include "base/file.h"
#include "base/sanitizers.h"
#include "base/text.h"

namespace dlkprof {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kInputFd = 3;
constexpr const char* kInputPath = "/proc/self/fd/3";
constexpr int kNotConfined = 125, kNotStarted = 127;  // exit codes of our child before it is the program

// --- What the program may not do ---------------------------------------------------------------------------------------

// These fail with EPERM. What a disassembler of tomorrow may call besides is not known, so that all others are let through.
constexpr std::array kDenied {
  SYS_socket, SYS_socketpair, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kill, SYS_tkill, SYS_tgkill,
      SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_pidfd_open, SYS_pidfd_send_signal, SYS_pidfd_getfd, SYS_truncate,
      SYS_unlinkat, SYS_renameat2, SYS_linkat, SYS_symlinkat, SYS_mkdirat, SYS_mknodat, SYS_fchmod, SYS_fchmodat, SYS_fchown,
      SYS_fchownat, SYS_utimensat, SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr,
      SYS_fremovexattr, SYS_mount, SYS_umount2, SYS_unshare, SYS_setns, SYS_bpf, SYS_perf_event_open, SYS_io_uring_setup,
      SYS_keyctl, SYS_add_key, SYS_shmget, SYS_msgget, SYS_execveat,
#if defined(__x86_64__)
      SYS_fork, SYS_vfork, SYS_creat, SYS_unlink, SYS_rmdir, SYS_rename, SYS_renameat, SYS_link, SYS_symlink, SYS_mkdir,
      SYS_mknod, SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes,
#endif
      SYS_ftruncate
};
// Whose flags lie in memory that a filter does not see: libc does without them.
constexpr std::array kUnknown{SYS_clone3, SYS_openat2};
// A number of bits in an argument that are not to be set (or, of clone, one that is to be).
constexpr std::uint32_t kToWrite = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC;

// One call, by what some bits of an argument are.
struct ByArgument {
  long number;
  std::size_t argument;
  std::uint32_t bits;
  bool denied_where_set;
};
constexpr std::array kByArgument {
  ByArgument{SYS_openat, 2, kToWrite, true},
#if defined(__x86_64__)
      ByArgument{SYS_open, 1, kToWrite, true},
#endif
      ByArgument {
    SYS_clone, 0, CLONE_THREAD, false
  }
};

constexpr auto make_program_filter() {
  call_filter::Filter<call_filter::kBegin + 2 * kDenied.size() + 2 * kUnknown.size() + 5 * kByArgument.size() + 1> filter;
  filter.give(kDenied, call_filter::kNotPermitted);
  filter.give(kUnknown, SECCOMP_RET_ERRNO | ENOSYS);
  for (const ByArgument& one : kByArgument) {
    filter.give_by_bits(one.number, one.argument, one.bits, one.denied_where_set ? call_filter::kNotPermitted : SECCOMP_RET_ALLOW,
                        one.denied_where_set ? SECCOMP_RET_ALLOW : call_filter::kNotPermitted);
  }
  filter.add(call_filter::answer(SECCOMP_RET_ALLOW));
  return filter;
}

// --- The child, between fork() and exec: system calls alone -------------------------------------------------------------

void limit_resource(decltype(RLIMIT_AS) resource, rlim_t value) noexcept {
  const rlimit both{value, value};
  (void)setrlimit(resource, &both);
}

bool confine_program(const ProgramLimits& limits) noexcept {
  static constexpr auto kFilter = make_program_filter();
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  limit_resource(RLIMIT_CORE, 0);
  limit_resource(RLIMIT_CPU, static_cast<rlim_t>(std::chrono::ceil<std::chrono::seconds>(limits.time).count()));
  limit_resource(RLIMIT_AS, limits.memory_bytes);
  return call_filter::install(kFilter.instructions());
}

[[noreturn]] void become_program(char* const* arguments, int input, int output, const ProgramLimits& limits) noexcept {
  sigset_t none;
  sigemptyset(&none);
  (void)sigprocmask(SIG_SETMASK, &none, nullptr);
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  const bool placed = nowhere >= 0 && dup2(nowhere, STDIN_FILENO) >= 0 && dup2(nowhere, STDERR_FILENO) >= 0 &&
                      dup2(output, STDOUT_FILENO) >= 0 && dup2(input, kInputFd) >= 0;
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) (void)fcntl(standard, F_SETFD, 0);
  (void)syscall(SYS_close_range, static_cast<unsigned>(kInputFd) + 1, ~0U, 0);
  if (!placed || !confine_program(limits)) _exit(kNotConfined);
  char* const environment[] = {nullptr};
  execve(arguments[0], arguments, environment);
  _exit(kNotStarted);
}

// --- The parent --------------------------------------------------------------------------------------------------------

// Ends and reaps the child in any case.
class ConfinedChild {
 public:
  explicit ConfinedChild(pid_t pid) : pid_(pid) {}
  ConfinedChild(const ConfinedChild&) = delete;
  ConfinedChild& operator=(const ConfinedChild&) = delete;
  ~ConfinedChild() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    (void)wait();
  }
  int wait() noexcept {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status;
  }

 private:
  pid_t pid_;
};

[[noreturn]] void fail_program(const std::filesystem::path& program, const std::string& why) {
  throw Error(printable(program.native()) + " gave nothing", why, "");
}

[[noreturn]] void fail_call(const std::filesystem::path& program, const char* call) {
  fail_program(program, fmt::format("{}: {}", call, std::strerror(errno)));  // NOLINT(concurrency-mt-unsafe)
}

// A file in memory, which nobody else can reach.
UniqueFd file_of_bytes(const std::filesystem::path& program, std::span<const char> bytes) {
  UniqueFd file(memfd_create("dlkprof", MFD_CLOEXEC));
  if (!file) fail_call(program, "memfd_create");
  if (!within_size_limit(bytes.size())) fail_program(program, "files may not be so large here (ulimit -f)");
  write_all(file.get(), {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, program);
  return UniqueFd(fcntl(file.get(), F_DUPFD_CLOEXEC, kInputFd + 1));  // not where dup2() would do nothing
}

// Until it closes its end.
std::string read_output(const std::filesystem::path& program, int fd, const ProgramLimits& limits) {
  const auto until = Clock::now() + limits.time;
  std::string output;
  std::array<char, 65'536> piece{};
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    pollfd one{fd, POLLIN, 0};
    const int ready = poll(&one, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) fail_program(program, "it did not come to an end in time");
    const ssize_t count = read(fd, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_call(program, "read");
    if (count == 0) return output;
    output.append(piece.data(), static_cast<std::size_t>(count));
    if (output.size() > limits.output_bytes) fail_program(program, "it printed too much");
  }
}

void check_end(const std::filesystem::path& program, int status) {
  if (WIFSIGNALED(status)) fail_program(program, fmt::format("it ended with '{}'", strsignal(WTERMSIG(status))));  // NOLINT
  const int code = WEXITSTATUS(status);
  if (code == kNotConfined) fail_program(program, "this system does not let a process confine itself (seccomp)");
  if (code == kNotStarted) fail_program(program, "it cannot be started");
  if (code != 0) fail_program(program, fmt::format("it ended with exit code {}", code));
}

}  // namespace

std::string output_of_confined(const std::filesystem::path& program, std::vector<std::string> arguments,
                               std::span<const char> bytes, const ProgramLimits& limits) {
  const UniqueFd input = file_of_bytes(program, bytes);
  std::array<int, 2> ends{-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fail_call(program, "pipe");
  const UniqueFd output(ends[0]);
  UniqueFd theirs(ends[1]);
  arguments.insert(arguments.begin(), program.native());
  arguments.emplace_back(kInputPath);
  std::vector<char*> words;
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  const pid_t pid = fork();
  if (pid == 0) become_program(words.data(), input.get(), theirs.get(), limits);
  if (pid < 0) fail_call(program, "fork");
  ConfinedChild child(pid);
  theirs.reset();
  std::string printed = read_output(program, output.get(), limits);
  check_end(program, child.wait());
  return printed;
}

}  // namespace dlkprof
