// Instructions of a filter of system calls (seccomp(2)), for processes that confine themselves.
#pragma once

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace dlkprof::call_filter {

// What this program's own system calls are marked with; 0 where no filter is known for it.
#if defined(__x86_64__)
inline constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
inline constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
inline constexpr std::uint32_t kArchitecture = 0;
#endif

inline constexpr std::uint32_t kNotPermitted = SECCOMP_RET_ERRNO | EPERM;
inline constexpr std::uint32_t kArgumentBytes = sizeof(std::uint64_t);

constexpr sock_filter load(std::size_t offset) { return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)); }
// The lower half of an argument, which comes first.
constexpr sock_filter load_argument(std::size_t argument) {
  return load(offsetof(seccomp_data, args) + argument * kArgumentBytes);
}
constexpr sock_filter answer(std::uint32_t action) { return BPF_STMT(BPF_RET | BPF_K, action); }
constexpr sock_filter unless_equal(std::uint32_t value, std::uint8_t skip) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip);
}

// What every filter begins with; the number of the call is loaded then. Calls by the x32 ABI of x86-64 come with the same
// architecture and bit 30 in their number (linux/Documentation/userspace-api/seccomp_filter.rst): a list of numbers does not
// have them, so none is let through. No number of another architecture is so large.
inline constexpr std::uint32_t kX32Bit = 0x40000000;
inline constexpr std::size_t kBegin = 6;
constexpr std::array<sock_filter, kBegin> begin() {
  return {load(offsetof(seccomp_data, arch)),
          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0),
          answer(SECCOMP_RET_KILL_PROCESS),
          load(offsetof(seccomp_data, nr)),
          BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kX32Bit, 0, 1),
          answer(kNotPermitted)};
}

// For all calls of this process and its children from now on; false where the system refuses.
template <std::size_t count>
bool install(const std::array<sock_filter, count>& filter) noexcept {
  if (kArchitecture == 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  const sock_fprog program{static_cast<unsigned short>(count), const_cast<sock_filter*>(filter.data())};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

// A filter that is put together; `size` is what it comes to.
template <std::size_t size>
class Filter {
 public:
  constexpr Filter() {
    for (const sock_filter& one : begin()) add(one);
  }
  constexpr void add(sock_filter one) { instructions_[used_++] = one; }
  // Calls of these numbers end with `action`.
  template <typename Numbers>
  constexpr void give(const Numbers& numbers, std::uint32_t action) {
    for (const long number : numbers) {
      add(unless_equal(static_cast<std::uint32_t>(number), 1));
      add(answer(action));
    }
  }
  // A call, by whether some of these bits of an argument are set.
  constexpr void give_by_bits(long number, std::size_t argument, std::uint32_t bits, std::uint32_t where_set,
                              std::uint32_t else_) {
    add(unless_equal(static_cast<std::uint32_t>(number), 4));
    add(load_argument(argument));
    add(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1));
    add(answer(where_set));
    add(answer(else_));
  }
  [[nodiscard]] constexpr const auto& instructions() const noexcept { return instructions_; }

 private:
  std::array<sock_filter, size> instructions_{};
  std::size_t used_ = 0;
};

}  // namespace dlkprof::call_filter
