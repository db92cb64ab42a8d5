// A pointer that each thread has one of, found in a line of the caches and without a call: a thread-local of a library that is
// loaded late lies behind a call into the loader and a handful of lines, which is most of what a push costs where they are cold.
// Each thread has one place, which it shares with others: who comes first has it, and others ask their thread-local. What is
// put in is to be removed before the thread is gone, as the next one may come to lie where it did.
//
// The compiler's ways (results/2026-11-26-cpu-threads.md): in its own model a thread-local takes up to 1.9 times as long, by
// descriptors (TLSDESC) up to 1.7 times. tls_model("initial-exec") is as fast, but the loader has some 1,700 bytes for all such
// libraries that come late (glibc 2.36), and loads none that needs more.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace dlkprof::inject {

// Its constructor must be constant, its destructor do nothing: threads may ask at any time.
template <typename Type, unsigned kPlaceBits = 9>
class OwnPointer {
 public:
  struct Found {
    Type* pointer = nullptr;
    const void* used_too = nullptr;
  };
  // What this thread has put in last, where it is of that owner.
  [[nodiscard]] Found get(const void* owner) const noexcept {
    const Place& place = places_[place_of(self())];
    const bool mine = place.thread.load(std::memory_order_relaxed) == self() && place.owner == owner;
    return mine ? place.found : Found{};
  }
  // The same of whatever owner; null: nothing, or there is no place for this thread.
  [[nodiscard]] Type* last() const noexcept {
    const Place& place = places_[place_of(self())];
    return place.thread.load(std::memory_order_relaxed) == self() ? place.found.pointer : nullptr;
  }
  // `used_too`: what will be needed with it, so that both can be on their way.
  void put(const void* owner, Type* pointer, const void* used_too = nullptr) noexcept {
    Place& place = places_[place_of(self())];
    std::uintptr_t nobody = 0;
    if (!place.thread.compare_exchange_strong(nobody, self(), std::memory_order_acquire) && nobody != self()) return;
    place.owner = owner;
    place.found = {pointer, used_too};
  }
  void remove() noexcept {
    Place& place = places_[place_of(self())];
    if (place.thread.load(std::memory_order_relaxed) == self()) place.thread.store(0, std::memory_order_release);
  }
  // When an owner ends, and nobody uses it any more, or in a forked child, which has one thread only.
  void clear() noexcept {
    for (Place& place : places_) place.thread.store(0, std::memory_order_release);
  }

 private:
  struct alignas(32) Place {
    std::atomic<std::uintptr_t> thread{0};  // whose it is; the rest is that thread's alone
    const void* owner = nullptr;
    Found found;
  };

  [[nodiscard]] static std::uintptr_t self() noexcept { return reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer()); }
  // Fibonacci hashing: stacks, at whose ends threads are described, lie at regular distances.
  [[nodiscard]] static std::size_t place_of(std::uintptr_t thread) noexcept {
    return (std::uint64_t{thread} * 0x9e3779b97f4a7c15U) >> (64 - kPlaceBits);
  }

  std::array<Place, std::size_t{1} << kPlaceBits> places_{};
};

}  // namespace dlkprof::inject
