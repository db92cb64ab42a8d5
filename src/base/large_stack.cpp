#include "base/large_stack.h"

#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <atomic>
#include <cstdint>

#include "base/sanitizers.h"
#include "base/signals_blocked.h"
#include "base/unnoticed.h"

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
};

// makecontext() passes numbers of 32 bits alone.
void begin_call(std::uint32_t high, std::uint32_t low) noexcept {
  constexpr unsigned kHalf = 32;
  const auto address = (static_cast<std::uintptr_t>(high) << kHalf) | low;
  auto& call = *reinterpret_cast<StackCall*>(address);  // NOLINT(performance-no-int-to-ptr)
  call.body(call.argument);
}

bool run_on_mapped_stack(void (*body)(void*) noexcept, void* argument) noexcept {
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
  swapcontext(&call.caller, &call.own);
  give_back(stack);
  return true;
}

struct ThreadCall {
  void (*body)(void*) noexcept;
  void* argument;
};

void* begin_thread(void* opaque) noexcept {
  const ThreadCall& call = *static_cast<ThreadCall*>(opaque);
  call.body(call.argument);
  return nullptr;
}

bool run_on_thread(void (*body)(void*) noexcept, void* argument) noexcept {
  const Unnoticed whole;  // joining is a point of cancellation
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setstacksize(&attributes, kLargeStackBytes);
  ThreadCall call{body, argument};
  pthread_t thread{};
  const bool began = [&] {
    const SignalsBlocked blocked;
    return pthread_create(&thread, &attributes, begin_thread, &call) == 0;
  }();
  pthread_attr_destroy(&attributes);
  return began && pthread_join(thread, nullptr) == 0;
}

}  // namespace

// A thread would do for all, but the program could see it, and RLIMIT_NPROC forbid it. AddressSanitizer warns on stderr of each
// process that changes its stack otherwise, and may then take what is right for wrong.
bool run_on_large_stack(void (*body)(void*) noexcept, void* argument) noexcept {
  return kAddressSanitizer ? run_on_thread(body, argument) : run_on_mapped_stack(body, argument);
}

}  // namespace dlkprof
