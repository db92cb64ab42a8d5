#include "base/large_stack.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <atomic>
#include <cstdint>

// AddressSanitizer knows a thread by the bounds of its stack, and has to be told of another.
#if defined(__SANITIZE_ADDRESS__)
#define DLKPROF_TELLS_OF_STACKS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DLKPROF_TELLS_OF_STACKS 1
#endif
#endif

#ifdef DLKPROF_TELLS_OF_STACKS
#include <sanitizer/common_interface_defs.h>
#endif

namespace dlkprof {
namespace {

constexpr std::size_t kGuardBytes = std::size_t{1} << 16U;
constexpr std::size_t kMappedBytes = kGuardBytes + kLargeStackBytes;

// Not inline: what is beside getcontext() must not be kept in registers.
[[gnu::noinline]] char* map_stack() noexcept {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK;
  void* const mapped = mmap(nullptr, kMappedBytes, PROT_NONE, kFlags, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* const bytes = static_cast<char*>(mapped);
  if (mprotect(bytes + kGuardBytes, kLargeStackBytes, PROT_READ | PROT_WRITE) != 0) {
    munmap(mapped, kMappedBytes);
    return nullptr;
  }
  (void)madvise(mapped, kMappedBytes, MADV_NOHUGEPAGE);  // a page or two are used of it
  return bytes;
}

// One is kept: mapping and unmapping take longer than most calls. Who finds it taken maps another; a child that is forked
// meanwhile loses it, and no more.
std::atomic<char*> g_spare{nullptr};

char* take_stack() noexcept {
  char* const spare = g_spare.exchange(nullptr, std::memory_order_acquire);
  return spare != nullptr ? spare : map_stack();
}

void give_back(char* stack) noexcept {
  char* nobody = nullptr;
  if (!g_spare.compare_exchange_strong(nobody, stack, std::memory_order_release)) munmap(stack, kMappedBytes);
}

struct StackCall {
  void (*body)(void*) noexcept;
  void* argument;
  ucontext_t caller, own;
#ifdef DLKPROF_TELLS_OF_STACKS
  void* kept = nullptr;
  const void* caller_stack = nullptr;
  std::size_t caller_bytes = 0;
  void leaving(const void* stack, std::size_t bytes, bool for_good) {
    __sanitizer_start_switch_fiber(for_good ? nullptr : &kept, stack, bytes);
  }
  void entered() { __sanitizer_finish_switch_fiber(nullptr, &caller_stack, &caller_bytes); }
  void returned() { __sanitizer_finish_switch_fiber(kept, nullptr, nullptr); }
#else
  const void* caller_stack = nullptr;
  std::size_t caller_bytes = 0;
  void leaving(const void* /*stack*/, std::size_t /*bytes*/, bool /*for_good*/) const {}
  void entered() const {}
  void returned() const {}
#endif
};

// makecontext() passes numbers of 32 bits alone.
[[gnu::no_sanitize_address]] void begin_call(std::uint32_t high, std::uint32_t low) noexcept {
  constexpr unsigned kHalf = 32;
  const auto address = (static_cast<std::uintptr_t>(high) << kHalf) | low;
  auto& call = *reinterpret_cast<StackCall*>(address);  // NOLINT(performance-no-int-to-ptr)
  call.entered();
  call.body(call.argument);
  call.leaving(call.caller_stack, call.caller_bytes, true);
}

}  // namespace

bool run_on_large_stack(void (*body)(void*) noexcept, void* argument) noexcept {
  char* const stack = take_stack();
  if (stack == nullptr) return false;
  StackCall call{.body = body, .argument = argument, .caller = {}, .own = {}};
  getcontext(&call.own);
  call.own.uc_stack.ss_sp = stack + kGuardBytes;
  call.own.uc_stack.ss_size = kLargeStackBytes;
  call.own.uc_link = &call.caller;
  constexpr unsigned kHalf = 32;
  const auto address = reinterpret_cast<std::uintptr_t>(&call);
  makecontext(&call.own, reinterpret_cast<void (*)()>(begin_call), 2, static_cast<std::uint32_t>(address >> kHalf),
              static_cast<std::uint32_t>(address));
  call.leaving(stack + kGuardBytes, kLargeStackBytes, false);
  swapcontext(&call.caller, &call.own);
  call.returned();
  give_back(stack);
  return true;
}

}  // namespace dlkprof
