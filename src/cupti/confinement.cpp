#include "cupti/confinement.h"

#include <fcntl.h>
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

#include "base/call_filter.h"
#include "base/sanitizers.h"

namespace dlkprof::cupti {
namespace {

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

constexpr auto make_filter() {
  constexpr std::size_t kProtection = 2;  // argument
  call_filter::Filter<call_filter::kBegin + 2 * kAllowed.size() + 5 * kWithoutCode.size() + 1> filter;
  filter.give(kAllowed, SECCOMP_RET_ALLOW);
  for (const long number : kWithoutCode) {
    filter.give_by_bits(number, kProtection, PROT_EXEC, call_filter::kNotPermitted, SECCOMP_RET_ALLOW);
  }
  filter.add(call_filter::answer(call_filter::kNotPermitted));
  return filter;
}

bool allow_few_calls() noexcept {
  static constexpr auto kFilter = make_filter();
  return call_filter::install(kFilter.instructions());
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
