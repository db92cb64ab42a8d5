// The events that one thread has gathered and nobody has written yet. Its thread adds without a lock, and is the only one
// that changes where they are kept; anyone may take out what is there.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <utility>

namespace dlkprof::inject {

// Room for `capacity` events; those from `begin` to before `end` are still to be written.
template <typename Event>
struct EventBatch {
  std::unique_ptr<Event[]> room;
  std::size_t capacity = 0, begin = 0, end = 0;

  // Without memory it has no room.
  static EventBatch of_capacity(std::size_t capacity) noexcept {
    EventBatch batch{.room = std::unique_ptr<Event[]>(new (std::nothrow) Event[capacity])};
    batch.capacity = batch.room != nullptr ? capacity : 0;
    return batch;
  }
  [[nodiscard]] std::span<const Event> events() const noexcept { return {room.get() + begin, end - begin}; }
};

template <typename Event>
class EventQueue {
 public:
  // The owner: false where it is full.
  [[nodiscard]] bool add(const Event& event) noexcept {
    const std::size_t count = count_.load(std::memory_order_relaxed);
    if (count == batch_.capacity) return false;
    batch_.room[count] = event;
    count_.store(count + 1, std::memory_order_release);
    return true;
  }
  [[nodiscard]] std::size_t capacity() const noexcept { return batch_.capacity; }

  // The owner: makes it as large, keeping what it holds. Without memory it stays as it is.
  void grow(std::size_t capacity) noexcept {
    auto larger = EventBatch<Event>::of_capacity(capacity);
    if (larger.capacity == 0) return;
    const std::lock_guard lock(mutex_);
    std::copy_n(batch_.room.get(), count_.load(std::memory_order_relaxed), larger.room.get());
    larger.begin = batch_.begin;
    batch_ = std::move(larger);
  }

  // The owner: has give(batch) take all that it holds, and goes on with `fresh`, in which there is nothing. False, and as
  // before, where give() does not take it.
  [[nodiscard]] bool exchange(EventBatch<Event>& fresh, const auto& give) noexcept {
    const std::lock_guard lock(mutex_);
    batch_.end = count_.load(std::memory_order_relaxed);
    if (!give(batch_)) return false;
    batch_ = std::move(fresh);
    batch_.begin = batch_.end = 0;
    count_.store(0, std::memory_order_relaxed);
    return true;
  }

  // The owner: drops what it holds.
  void clear() noexcept {
    const std::lock_guard lock(mutex_);
    batch_.begin = batch_.end = 0;
    count_.store(0, std::memory_order_relaxed);
  }

  // Anyone: write(span) gets what was not taken out before.
  void take(const auto& write) noexcept {
    const std::lock_guard lock(mutex_);
    batch_.end = count_.load(std::memory_order_acquire);
    if (batch_.end > batch_.begin) write(batch_.events());
    batch_.begin = batch_.end;
  }

 private:
  std::mutex mutex_;         // of take() and whatever changes batch_; the owner reads its room and capacity without
  EventBatch<Event> batch_;  // its end is what it was when somebody last looked:
  std::atomic<std::size_t> count_{0};
};

}  // namespace dlkprof::inject
