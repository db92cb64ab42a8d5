#include "inject/session/heap_holes.h"

#include <malloc.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <utility>

namespace dlkprof::inject {
namespace {

struct Block {
  Block* before;
};

constinit Block* g_blocks = nullptr;  // reachable, so that leak checkers do not report them

constexpr std::size_t kLargest = std::size_t{64} << 10U;  // half of what glibc asks the system for (M_MMAP_THRESHOLD)

// mallinfo2 knows no other heap than glibc's. Where malloc's code lies does not tell: an executable may have a stub of its own
// for it. Half the size is enough, as other threads may free something meanwhile.
bool malloc_is_glibcs() noexcept {
  const std::size_t before = mallinfo2().uordblks;
  void* volatile const probe = std::malloc(kLargest);  // volatile: or compilers leave it out
  const std::size_t after = mallinfo2().uordblks;
  std::free(probe);
  return after >= before + kLargest / 2;
}

// glibc keeps free memory up to 1 KB by its size in steps of 16 bytes (malloc/malloc.c, "small bins").
constexpr std::size_t next_smaller(std::size_t size) noexcept {
  constexpr std::size_t kSmall = 1024, kStep = 16;
  return size > kSmall ? size / 2 : size - kStep;
}

}  // namespace

bool on_main_thread() noexcept { return gettid() == getpid(); }

std::size_t fill_heap_holes() noexcept {
  constexpr std::size_t kSmallest = sizeof(Block);
  if (!on_main_thread() || !malloc_is_glibcs()) return 0;
  // `keepcost` bytes at the heap's end are free.
  const std::uintptr_t end_of_used = reinterpret_cast<std::uintptr_t>(sbrk(0)) - mallinfo2().keepcost;
  std::size_t filled = 0;
  for (std::size_t size = kLargest; size >= kSmallest; size = next_smaller(size)) {
    while (filled + size <= kMostFilledBytes) {
      auto* const block = static_cast<Block*>(std::malloc(size));
      if (block == nullptr) return filled;
      if (reinterpret_cast<std::uintptr_t>(block) >= end_of_used) {  // no hole is as large
        std::free(block);
        break;
      }
      block->before = std::exchange(g_blocks, block);
      filled += size;
    }
  }
  return filled;
}

}  // namespace dlkprof::inject
