// Where a thread counts the launches of functions that no filter takes, by handle: what most launches of a program come
// down to, without a lock. One a thread.
#pragma once

#include <cuda.h>

#include <array>
#include <atomic>
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
  [[nodiscard]] Entry find(CUfunction handle, std::uint64_t epoch) const noexcept {
    const Slot& slot = slots_[index(handle)];
    return slot.handle == handle && slot.epoch == epoch ? slot.entry : Entry{};
  }
  void put(CUfunction handle, std::uint64_t epoch, const Entry& entry) noexcept {
    slots_[index(handle)] = {handle, epoch, entry};
  }

 private:
  struct Slot {
    CUfunction handle = nullptr;
    std::uint64_t epoch = 0;
    Entry entry;
  };
  static constexpr std::size_t kSlots = 256;  // a training step launches some hundred functions

  static std::size_t index(CUfunction handle) noexcept {
    // Handles are heap addresses: the lowest bits say nothing.
    const auto address = reinterpret_cast<std::uintptr_t>(handle);
    return ((address >> 4U) ^ (address >> 12U)) % kSlots;
  }

  std::array<Slot, kSlots> slots_{};
};

}  // namespace dlkprof::inject
