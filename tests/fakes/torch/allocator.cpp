// Replaces operator new and delete, as preloaded allocators and sanitizers do, by a pair that works with no other: memory of
// malloc() given to this operator delete ends the process, and so does the other way round.
#include <cstdlib>
#include <new>

namespace {
constexpr std::size_t kOffset = 64;
}

[[gnu::visibility("default")]] void* operator new(std::size_t size) {
  void* const memory = std::malloc(size + kOffset);
  if (memory == nullptr) throw std::bad_alloc();
  return static_cast<char*>(memory) + kOffset;
}

[[gnu::visibility("default")]] void operator delete(void* memory) noexcept {
  if (memory != nullptr) std::free(static_cast<char*>(memory) - kOffset);
}

[[gnu::visibility("default")]] void operator delete(void* memory, std::size_t /*size*/) noexcept { operator delete(memory); }
