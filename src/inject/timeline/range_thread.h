// The ranges of one thread. For ranges.cpp alone.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <mutex>

#include "base/event_clock.h"
#include "dlkprof/capture_format.h"
#include "inject/spin_lock.h"
#include "inject/timeline/event_log.h"
#include "inject/timeline/held_ranges.h"
#include "inject/timeline/open_ranges.h"
#include "inject/timeline/range_joiner.h"
#include "inject/timeline/ranges.h"

namespace dlkprof::inject {

// In as few lines of the caches as may be, as they are seldom there when the next range comes.
class alignas(64) Ranges::Thread {
 public:
  // `buffer`: of this thread, which is the one that the range begins on.
  Thread(std::uint64_t number, EventLog& log, EventLog::Buffer& buffer)
      : next_id_(number << kRangeThreadShift), buffer_(&buffer), log_(&log) {}

  [[nodiscard]] std::uint64_t innermost() const noexcept { return innermost_.load(std::memory_order_relaxed); }

  // Each of these is only called by the thread itself. Where a signal handler has interrupted another of them nothing is done.
  int push(const RangeAttributes& attributes, std::atomic<std::uint64_t>& beyond) {
    const OwnLock lock(mutex_);
    if (!lock || finished_) return kNotTracked;
    if (open_.size() >= kMostOpen || open_.is_beyond(attributes.domain)) [[unlikely]] {
      ++beyond;
      return open_.push_beyond(attributes.domain);
    }
    const std::uint64_t parent = open_.innermost();
    const auto pushed = open_.push(next_id_, attributes.domain);
    pushed.recorded = begin(attributes, capture::RangeKind::push_pop, parent);
    if (!pushed.recorded) [[unlikely]]
      hold_back(attributes, capture::RangeKind::push_pop, parent);
    innermost_.store(next_id_++, std::memory_order_relaxed);
    return pushed.level;
  }

  // The commonest push: of a text, in the default domain, with room for it everywhere. kNotQuick, and nothing done, where it is
  // another one.
  [[gnu::always_inline]] int push_quickly(std::string_view text, std::int64_t now) noexcept {
    const OwnLock lock(mutex_, std::try_to_lock);
    const bool unread = text.size() - 1 < kLongestUnread;
    if (!lock || finished_ || !unread || !open_.takes_quickly()) [[unlikely]]
      return kNotQuick;
    auto& ranges = buffer_->ranges;
    capture::RangeEvent* const range = ranges.place(text);
    if (range == nullptr) [[unlikely]]
      return kNotQuick;
    *range = {.id = next_id_,
              .parent = innermost_.load(std::memory_order_relaxed),
              .thread = system_id_,
              .name = kUnreadName,
              .start_ns = now,
              .end_ns = kStillOpen};
    ranges.commit();
    innermost_.store(next_id_, std::memory_order_relaxed);
    return open_.push_quickly(next_id_++);
  }
  // The same of a pop.
  [[gnu::always_inline]] int pop_quickly(std::int64_t now) noexcept {
    const OwnLock lock(mutex_, std::try_to_lock);
    if (!lock) [[unlikely]]
      return kNotQuick;
    const auto* const range = open_.quick_one();
    if (range == nullptr) [[unlikely]]
      return kNotQuick;
    RangeEnd* const end = buffer_->ends.place();
    if (end == nullptr) [[unlikely]]
      return kNotQuick;
    *end = {range->id, now};
    buffer_->ends.commit();
    const int level = open_.pop_quick_one();
    innermost_.store(open_.innermost(), std::memory_order_relaxed);
    return level;
  }
  static constexpr int kNotQuick = -3;  // no level, nor kNotTracked

  std::uint64_t start(const RangeAttributes& attributes, std::atomic<std::uint64_t>& beyond) {
    const OwnLock lock(mutex_);
    if (!lock || finished_) return 0;
    if (open_.size() >= kMostOpen) {
      ++beyond;
      return 0;
    }
    const std::uint64_t parent = open_.innermost();
    bool& recorded = open_.start(next_id_);
    recorded = begin(attributes, capture::RangeKind::start_end, parent);
    if (!recorded) hold_back(attributes, capture::RangeKind::start_end, parent);
    innermost_.store(next_id_, std::memory_order_relaxed);
    return next_id_++;
  }

  int pop(std::uint32_t domain, std::int64_t now) noexcept {
    const OwnLock lock(mutex_);
    if (!lock) return kNotTracked;
    const auto popped = open_.pop(domain);
    if (popped.level == OpenRanges::kNone) return kNotTracked;
    innermost_.store(open_.innermost(), std::memory_order_relaxed);
    if (popped.range.recorded) [[likely]] {
      const bool added = log_->add_to(buffer_->ends, {}, [&](RangeEnd& end) { end = {popped.range.id, now}; });
      if (!added) log_->count_dropped();
    } else {
      held_.end(popped.range.id, now, *log_);
    }
    return popped.level;
  }

  // Asked by the thread itself.
  [[nodiscard]] bool began(std::uint64_t range) const noexcept { return (range ^ next_id_) >> kRangeThreadShift == 0; }
  // From any thread, `own` or another: the end goes to the log through the one that calls.
  void end(std::uint64_t id, std::int64_t now, bool own) noexcept {
    if (own) {
      if (const OwnLock lock(mutex_); lock) end_locked(id, now);
    } else {
      const std::lock_guard lock(mutex_);
      end_locked(id, now);
    }
  }
  void end_locked(std::uint64_t id, std::int64_t now) noexcept {
    const auto range = open_.end(id);
    innermost_.store(open_.innermost(), std::memory_order_relaxed);
    add_end(range, now);
  }

  void mark(const RangeAttributes& attributes) noexcept {
    const OwnLock lock(mutex_);
    if (!lock || finished_) return;
    if (!begin(attributes, capture::RangeKind::mark, open_.innermost())) log_->count_dropped();
    ++next_id_;
  }

  // In a call of ours, or of a signal handler's that interrupted one.
  [[nodiscard]] bool busy() const noexcept { return busy_; }
  void set_busy(bool busy) noexcept { busy_ = busy; }

  // The thread ends: nobody can pop its ranges any more.
  void leave() noexcept {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    end_open(false);
  }
  void finish() noexcept {
    const std::lock_guard lock(mutex_);
    finished_ = true;
    end_open(true);
  }
  // Nothing more goes to the log, which may be gone.
  void disown() noexcept {
    const std::lock_guard lock(mutex_);
    log_ = nullptr;
  }

  [[nodiscard]] bool is_done() noexcept {
    const std::lock_guard lock(mutex_);
    return ended_ && open_.size() == 0;
  }

 private:
  // Gives the log the range next_id_. False where it has no room for it.
  [[gnu::always_inline]] bool begin(const RangeAttributes& attributes, capture::RangeKind kind, std::uint64_t parent) noexcept {
    if (attributes.message.size() > kLongestUnread) return begin_read(attributes, kind, parent);
    return log_->add_to(buffer_->ranges, attributes.message,
                        [&](capture::RangeEvent& range) { fill(range, attributes, kind, parent); });
  }

  [[gnu::cold, gnu::noinline]] bool begin_read(const RangeAttributes& attributes, capture::RangeKind kind,
                                               std::uint64_t parent) noexcept {
    return log_->add_to(buffer_->ranges, {}, [&](capture::RangeEvent& range) {
      fill(range, attributes, kind, parent);
      log_->read_message(range, attributes.message);
    });
  }

  void fill(capture::RangeEvent& range, const RangeAttributes& attributes, capture::RangeKind kind,
            std::uint64_t parent) const noexcept {
    const std::int64_t now = event_clock_ns();
    range = {.id = next_id_,
             .parent = parent,
             .thread = system_id_,
             .domain = attributes.domain,
             .name = attributes.message.empty() ? attributes.name : kUnreadName,
             .category = attributes.category,
             .kind = kind,
             .start_ns = now,
             .end_ns = kind == capture::RangeKind::mark ? now : kStillOpen,
             .payload_type = attributes.payload_type,
             .payload_bits = attributes.payload_bits};
  }

  void add_end(const OpenRanges::Range& range, std::int64_t now) noexcept {
    if (range.recorded) return log_->add(RangeEnd{range.id, now});
    held_.end(range.id, now, *log_);
  }

  // There is no room for it, as there may not be before the first launch.
  [[gnu::cold, gnu::noinline]] void hold_back(const RangeAttributes& attributes, capture::RangeKind kind,
                                              std::uint64_t parent) noexcept {
    capture::RangeEvent range;
    fill(range, attributes, kind, parent);
    held_.add(range, attributes.message, *log_);
  }

  void end_open(bool start_end_too) noexcept {
    open_.take_all(start_end_too, [&](const OpenRanges::Range& range) {
      if (log_ != nullptr) add_end(range, 0);  // it never ended
    });
    innermost_.store(open_.innermost(), std::memory_order_relaxed);
  }

  SpinLock mutex_;
  bool ended_ = false, finished_ = false;
  volatile bool busy_ = false;  // of its own thread
  const std::uint32_t system_id_ = static_cast<std::uint32_t>(gettid());
  std::uint64_t next_id_;
  std::atomic<std::uint64_t> innermost_{0};
  EventLog::Buffer* buffer_;
  OpenRanges open_;
  EventLog* log_;
  HeldRanges held_;  // of open_, those that are not recorded
};

}  // namespace dlkprof::inject
