// The events that one thread has gathered and nobody has written yet, and the messages of ranges, which are looked into only
// when they are written. Its thread adds without a lock, and is the only one that changes where they are kept; anyone may take
// out what is there.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <string_view>
#include <utility>

#include "base/inline_text.h"
#include "dlkprof/capture_format.h"

namespace dlkprof::inject {

// RangeEvent::name until then: the message is among the texts of the batch.
inline constexpr std::uint32_t kUnreadName = ~std::uint32_t{0};
// RangeEvent::end_ns of a range that was open when it was added: its end comes apart.
inline constexpr std::int64_t kStillOpen = -1;
struct RangeEnd {
  std::uint64_t range = 0;
  std::int64_t end_ns = 0;
};
// Longer messages are read at once.
inline constexpr std::size_t kLongestUnread = 4096;

// Bytes of texts that there is room for, for each event: PyTorch's messages have 50 to 300.
template <typename Event>
inline constexpr std::size_t kTextBytes = 0;
template <>
inline constexpr std::size_t kTextBytes<capture::RangeEvent> = 256;

// Room for `capacity` events; those from `begin` to before `end` are still to be written, and their texts from `texts_begin`.
template <typename Event>
struct EventBatch {
  std::unique_ptr<Event[]> room;
  std::unique_ptr<char[]> texts;  // one behind the other, each with its NUL, in the order of the events
  std::size_t capacity = 0, begin = 0, end = 0, texts_begin = 0;

  // Without memory it has no room.
  static EventBatch of_capacity(std::size_t capacity) noexcept {
    EventBatch batch{.room = std::unique_ptr<Event[]>(new (std::nothrow) Event[capacity])};
    if (kTextBytes<Event> != 0) batch.texts.reset(new (std::nothrow) char[capacity * kTextBytes<Event>]);
    const bool whole = batch.room != nullptr && (kTextBytes<Event> == 0 || batch.texts != nullptr);
    batch.capacity = whole ? capacity : 0;
    return batch;
  }
  [[nodiscard]] std::span<Event> events() noexcept { return {room.get() + begin, end - begin}; }
  // The next one.
  [[nodiscard]] std::string_view take_text() noexcept {
    const std::string_view text(texts.get() + texts_begin);
    texts_begin += text.size() + 1;
    return text;
  }
};

template <typename Event>
class EventQueue {
 public:
  // The owner: where the next event is to be written, which then is there with commit(); null where it is full. `text` has no
  // NUL, and is empty but for ranges that are kUnreadName.
  [[nodiscard]] Event* place(std::string_view text = {}) noexcept {
    const std::size_t count = count_.load(std::memory_order_relaxed);
    return count != batch_.capacity && add_text(text) ? &batch_.room[count] : nullptr;
  }
  void commit() noexcept { count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }
  [[nodiscard]] std::size_t capacity() const noexcept { return batch_.capacity; }

  // The owner: makes it as large, keeping what it holds. Without memory it stays as it is.
  void grow(std::size_t capacity) noexcept {
    auto larger = EventBatch<Event>::of_capacity(capacity);
    if (larger.capacity == 0) return;
    const std::lock_guard lock(mutex_);
    std::copy_n(batch_.room.get(), count_.load(std::memory_order_relaxed), larger.room.get());
    std::copy_n(batch_.texts.get(), text_bytes_, larger.texts.get());
    larger.begin = batch_.begin;
    larger.texts_begin = batch_.texts_begin;
    batch_ = std::move(larger);
  }

  // The owner: has give(batch) take all that it holds, and goes on with `fresh`, in which there is nothing. False, and as
  // before, where give() does not take it.
  [[nodiscard]] bool exchange(EventBatch<Event>& fresh, const auto& give) noexcept {
    const std::lock_guard lock(mutex_);
    batch_.end = count_.load(std::memory_order_relaxed);
    if (!give(batch_)) return false;
    batch_ = std::move(fresh);
    rewind();
    return true;
  }

  // The owner: drops what it holds.
  void clear() noexcept {
    const std::lock_guard lock(mutex_);
    rewind();
  }

  // Anyone: write(batch) gets what was not taken out before.
  void take(const auto& write) noexcept {
    const std::lock_guard lock(mutex_);
    batch_.end = count_.load(std::memory_order_acquire);
    if (batch_.end > batch_.begin) write(batch_);
    batch_.begin = batch_.end;
  }

 private:
  [[nodiscard]] bool add_text(std::string_view text) noexcept {
    if (text.empty()) return true;
    if (text.size() >= batch_.capacity * kTextBytes<Event> - text_bytes_) return false;
    char* const at = batch_.texts.get() + text_bytes_;
    inline_memcpy(at, text.data(), text.size());
    at[text.size()] = '\0';
    text_bytes_ += text.size() + 1;
    return true;
  }

  void rewind() noexcept {
    batch_.begin = batch_.end = batch_.texts_begin = text_bytes_ = 0;
    count_.store(0, std::memory_order_relaxed);
  }

  // What place() and commit() need lies in one line of the caches.
  alignas(64) EventBatch<Event> batch_;  // its end is what it was when somebody last looked:
  std::atomic<std::size_t> count_{0};
  std::size_t text_bytes_ = 0;  // the owner's
  std::mutex mutex_;            // of take() and whatever changes batch_; the owner reads its room and capacity without
};

}  // namespace dlkprof::inject
