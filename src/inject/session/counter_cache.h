// Where a thread counts launches that are only counted, by context and handle, as a handle of a library's kernel is good in all
// contexts: what most launches of a program come down to, without a lock. One a thread.
#pragma once

#include <cuda.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace dlkprof::inject {

class CounterCache {
 public:
  using Counter = std::atomic<std::uint64_t>;

  struct Entry {
    Counter* counter = nullptr;  // null: none is known
    std::uint32_t function = 0;  // capture::FunctionRecord::id
  };

  // Without a counter where there is none for `handle`, or only one of another epoch (FunctionTable::epoch).
  [[nodiscard]] Entry find(CUcontext context, CUfunction handle, std::uint64_t epoch) const noexcept {
    const std::size_t first = index(context, handle);
    for (std::size_t way = 0; way < kWays; ++way) {
      const Slot& slot = slots_[first ^ way];
      if (slot.is_of(context, handle) && slot.epoch == epoch) return slot.entry;
      if (slot.entry.counter == nullptr) break;  // nor were those behind it ever taken
    }
    return {};
  }
  void put(CUcontext context, CUfunction handle, std::uint64_t epoch, const Entry& entry) noexcept {
    const std::size_t first = index(context, handle);
    std::size_t way = 0;
    while (way < kWays - 1 && slots_[first ^ way].is_taken(epoch) && !slots_[first ^ way].is_of(context, handle)) ++way;
    slots_[first ^ way] = {context, handle, epoch, entry};
  }

 private:
  struct alignas(64) Slot {
    CUcontext context = nullptr;
    CUfunction handle = nullptr;
    std::uint64_t epoch = 0;
    Entry entry;

    [[nodiscard]] bool is_of(CUcontext of, CUfunction function) const noexcept { return handle == function && context == of; }
    [[nodiscard]] bool is_taken(std::uint64_t now) const noexcept { return entry.counter != nullptr && epoch == now; }
  };
  // A training step launches some hundred functions. Those that come to the same place stand side by side: two that took it from
  // each other in every step would both be counted the long way.
  static constexpr std::size_t kSlots = 256, kWays = 4;
  static_assert(std::has_single_bit(kWays) && kSlots % kWays == 0);  // first ^ way

  static std::size_t index(CUcontext context, CUfunction handle) noexcept {
    // Handles are heap addresses: the lowest bits say nothing.
    const auto address = reinterpret_cast<std::uintptr_t>(handle);
    return ((address >> 4U) ^ (address >> 12U) ^ (reinterpret_cast<std::uintptr_t>(context) >> 6U)) % kSlots;
  }

  std::array<Slot, kSlots> slots_{};
};

}  // namespace dlkprof::inject
