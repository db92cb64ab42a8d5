#include "cupti/confinement.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>

#include "base/sanitizers.h"

namespace dlkprof::cupti {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kArchitecture = 0;
#endif

// The sanitizers reserve terabytes of addresses for themselves.
constexpr bool kLimitsMemory = !kAddressSanitizer && !kThreadSanitizer;

// What computing and answering take. All else fails with EPERM, so that what merely asks (for a configuration, say) goes on.
// AddressSanitizer calls sigaltstack() before each throw and each _exit(), and ends the process where that fails.
constexpr std::array kAllowed{SYS_read,
                              SYS_write,
                              SYS_close,
                              SYS_munmap,
                              SYS_mremap,
                              SYS_brk,
                              SYS_madvise,
                              SYS_futex,
                              SYS_exit,
                              SYS_exit_group,
                              SYS_rt_sigreturn,
                              SYS_rt_sigprocmask,
                              SYS_clock_gettime,
                              SYS_gettimeofday,
                              SYS_getpid,
                              SYS_gettid,
                              SYS_sched_yield,
                              SYS_getrandom,
                              SYS_sched_getaffinity,
                              SYS_sigaltstack};
// Allowed but for memory that can be run.
constexpr std::array kWithoutCode{SYS_mmap, SYS_mprotect};

constexpr sock_filter load(std::size_t offset) { return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)); }
constexpr sock_filter answer(std::uint32_t action) { return BPF_STMT(BPF_RET | BPF_K, action); }
constexpr sock_filter unless_equal(std::uint32_t value, std::uint8_t skip) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip);
}

constexpr auto make_filter() {
  constexpr std::size_t kArgument = offsetof(seccomp_data, args) + 2 * sizeof(std::uint64_t);  // its lower half comes first
  std::array<sock_filter, 4 + 2 * kAllowed.size() + 5 * kWithoutCode.size() + 1> filter{};
  std::size_t at = 0;
  filter[at++] = load(offsetof(seccomp_data, arch));
  filter[at++] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0);
  filter[at++] = answer(SECCOMP_RET_KILL_PROCESS);
  filter[at++] = load(offsetof(seccomp_data, nr));
  for (const long number : kAllowed) {
    filter[at++] = unless_equal(static_cast<std::uint32_t>(number), 1);
    filter[at++] = answer(SECCOMP_RET_ALLOW);
  }
  for (const long number : kWithoutCode) {
    filter[at++] = unless_equal(static_cast<std::uint32_t>(number), 4);
    filter[at++] = load(kArgument);
    filter[at++] = BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0);
    filter[at++] = answer(SECCOMP_RET_ALLOW);
    filter[at++] = answer(SECCOMP_RET_ERRNO | EPERM);
  }
  filter[at++] = answer(SECCOMP_RET_ERRNO | EPERM);
  return filter;
}

bool allow_few_calls() noexcept {
  static constexpr auto kFilter = make_filter();
  if (kArchitecture == 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  const sock_fprog program{static_cast<unsigned short>(kFilter.size()), const_cast<sock_filter*>(kFilter.data())};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

void limit(decltype(RLIMIT_AS) resource, rlim_t value) noexcept {
  const rlimit both{value, value};
  (void)setrlimit(resource, &both);
}

// Of addresses, as the kernel counts them for RLIMIT_AS.
std::size_t used_bytes() noexcept {
  unsigned long pages = 0;
  if (std::FILE* const file = std::fopen("/proc/self/statm", "re"); file != nullptr) {
    if (std::fscanf(file, "%lu", &pages) != 1) pages = 0;
    (void)std::fclose(file);
  }
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// Everything but `fd`; what is printed goes nowhere.
void close_others(int fd) noexcept {
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (nowhere >= 0) dup2(nowhere, standard);
  }
  const auto from = static_cast<unsigned>(STDERR_FILENO + 1), kept = static_cast<unsigned>(fd);
  if (kept > from) (void)syscall(SYS_close_range, from, kept - 1, 0);
  (void)syscall(SYS_close_range, kept + 1, ~0U, 0);
}

}  // namespace

bool confine(int fd, std::size_t more_bytes) noexcept {
  for (const int signal_number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL}) (void)std::signal(signal_number, SIG_DFL);
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  close_others(fd);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 0);
  if (const std::size_t used = used_bytes(); kLimitsMemory && used > 0) limit(RLIMIT_AS, used + more_bytes);
  return allow_few_calls();
}

}  // namespace dlkprof::cupti
