#include "inject/ranges.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "inject/open_ranges.h"
#include "inject/range_joiner.h"
#include "inject/spin_lock.h"

namespace dlkprof::inject {
namespace {

std::uint64_t new_ranges_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

// --- One thread -------------------------------------------------------------------------------------------------------

// In as few lines of the caches as may be, as they are seldom there when the next range comes.
class alignas(64) Ranges::Thread {
 public:
  // `buffer`: of this thread, which is the one that the range begins on.
  Thread(std::uint64_t number, EventLog& log, EventLog::Buffer& buffer)
      : next_id_(number << kRangeThreadShift), buffer_(&buffer), log_(&log) {}

  [[nodiscard]] std::uint64_t innermost() const noexcept { return innermost_.load(std::memory_order_relaxed); }

  int push(const RangeAttributes& attributes, std::atomic<std::uint64_t>& beyond) {
    const std::lock_guard lock(mutex_);
    if (finished_) return kNotTracked;
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

  std::uint64_t start(const RangeAttributes& attributes, std::atomic<std::uint64_t>& beyond) {
    const std::lock_guard lock(mutex_);
    if (finished_) return 0;
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
    const std::lock_guard lock(mutex_);
    const auto popped = open_.pop(domain);
    if (popped.level == OpenRanges::kNone) return kNotTracked;
    innermost_.store(open_.innermost(), std::memory_order_relaxed);
    if (popped.range.recorded) [[likely]] {
      const bool added = log_->add_to(buffer_->ends, {}, [&](RangeEnd& end) { end = {popped.range.id, now}; });
      if (!added) log_->count_dropped();
    } else {
      add_held_back(popped.range.id, now);
    }
    return popped.level;
  }

  // From any thread: the end goes to the log through the one that calls.
  void end(std::uint64_t id, std::int64_t now) noexcept {
    const std::lock_guard lock(mutex_);
    const auto range = open_.end(id);
    innermost_.store(open_.innermost(), std::memory_order_relaxed);
    add_end(range, now);
  }

  void mark(const RangeAttributes& attributes) noexcept {
    const std::lock_guard lock(mutex_);
    if (finished_) return;
    if (!begin(attributes, capture::RangeKind::mark, open_.innermost())) log_->count_dropped();
    ++next_id_;
  }

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
    add_held_back(range.id, now);
  }

  // There is no room for it, as there may not be before the first launch: it is added whole when it ends.
  [[gnu::cold, gnu::noinline]] void hold_back(const RangeAttributes& attributes, capture::RangeKind kind,
                                              std::uint64_t parent) noexcept {
    try {
      HeldBack& range = held_back_[next_id_];
      fill(range.event, attributes, kind, parent);
      if (held_back_bytes_ + attributes.message.size() > kMostHeldBackBytes) {
        log_->read_message(range.event, attributes.message);
      } else {
        range.message = attributes.message;
        held_back_bytes_ += range.message.size();
      }
    } catch (...) {
      held_back_.erase(next_id_);
      log_->count_dropped();
    }
  }

  [[gnu::cold, gnu::noinline]] void add_held_back(std::uint64_t id, std::int64_t now) noexcept {
    const auto found = held_back_.find(id);
    if (found == held_back_.end()) return;
    auto& [event, message] = found->second;
    event.end_ns = now == 0 ? 0 : std::max(now, event.start_ns);
    held_back_bytes_ -= message.size();
    if (message.size() > kLongestUnread) {
      log_->read_message(event, message);
      message.clear();
    }
    log_->add(event, message);
    held_back_.erase(found);
  }

  void end_open(bool start_end_too) noexcept {
    open_.take_all(start_end_too, [&](const OpenRanges::Range& range) {
      if (log_ != nullptr) add_end(range, 0);  // it never ended
    });
    innermost_.store(open_.innermost(), std::memory_order_relaxed);
  }

  SpinLock mutex_;
  bool ended_ = false, finished_ = false;
  const std::uint32_t system_id_ = static_cast<std::uint32_t>(gettid());
  std::uint64_t next_id_;
  std::atomic<std::uint64_t> innermost_{0};
  EventLog::Buffer* buffer_;
  OpenRanges open_;
  EventLog* log_;
  struct HeldBack {
    capture::RangeEvent event;
    std::string message;  // empty where it is read already
  };
  static constexpr std::size_t kMostHeldBackBytes = std::size_t{16} << 20U;
  std::map<std::uint64_t, HeldBack> held_back_;  // of open_, by number, those that are not recorded
  std::size_t held_back_bytes_ = 0;              // of their messages
};

// --- The thread's own -------------------------------------------------------------------------------------------------

// What a thread finds its ranges by. Of plain values, so that it can be read while the thread's other variables are
// destroyed already.
struct Ranges::Local {
  std::uint64_t owner = 0;  // the number of the Ranges that `thread` is of; 0: there is none
  Thread* thread = nullptr;
  bool ending = false;
};

Ranges::Local& Ranges::local() noexcept {
  static constinit thread_local Local local;
  return local;
}

constinit OwnPointer<Ranges::Thread> Ranges::own_threads;

struct Ranges::Owner {
  std::shared_ptr<Thread> thread;

  Owner() = default;
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  ~Owner() {
    local() = {.ending = true};
    own_threads.remove();
    if (thread != nullptr) thread->leave();
  }

  static Owner& of_this_thread() {
    static thread_local Owner owner;
    return owner;
  }
};

[[gnu::hot]] std::uint64_t current_range() noexcept {
  const auto* thread = Ranges::own_threads.last();
  if (thread == nullptr) thread = Ranges::local().thread;
  return thread != nullptr ? thread->innermost() : 0;
}

inline Ranges::Thread* Ranges::own_thread() noexcept {
  const auto mine = own_threads.get(this);
  if (mine.pointer == nullptr) return find_thread();
  // On their way before the clock is read, which waits for all that came before.
  __builtin_prefetch(mine.pointer);
  const auto* buffer = static_cast<const EventLog::Buffer*>(mine.used_too);
  __builtin_prefetch(&buffer->ranges);
  __builtin_prefetch(&buffer->ends);
  return mine.pointer;
}

[[gnu::cold, gnu::noinline]] Ranges::Thread* Ranges::find_thread() noexcept {
  if (!recording_.load(std::memory_order_relaxed)) return nullptr;
  const Local& mine = local();
  return mine.owner == number_.load(std::memory_order_relaxed) ? mine.thread : make_thread();
}

Ranges::Thread* Ranges::make_thread() noexcept {
  if (local().ending) return nullptr;
  try {
    EventLog::Buffer* const buffer = log_.own_buffer();  // before the owner, so that it goes after it
    if (buffer == nullptr) return nullptr;
    auto& owner = Owner::of_this_thread();
    const std::lock_guard lock(threads_mutex_);
    if (!recording_) return nullptr;
    std::erase_if(threads_, [](const auto& entry) { return entry.second->is_done(); });
    auto thread = std::make_shared<Thread>(last_thread_ + 1, log_, *buffer);
    threads_.emplace(last_thread_ + 1, thread);
    ++last_thread_;
    owner.thread = std::move(thread);
    local() = {.owner = number_, .thread = owner.thread.get()};
    own_threads.put(this, owner.thread.get(), buffer);
    return local().thread;
  } catch (...) {
    return nullptr;
  }
}

// --- What the program does --------------------------------------------------------------------------------------------

Ranges::Ranges(EventLog& log, Recorder& recorder) : log_(log), number_(new_ranges_number()), recorder_(recorder) {}

Ranges::~Ranges() {
  for (auto& [number, thread] : threads_) thread->disown();
  own_threads.clear();
}

// Each in one piece, and both beside the rest of what is hot (gnu::hot): code that is in no cache is what a push costs.
[[gnu::hot, gnu::flatten]] int Ranges::push(const RangeAttributes& attributes) noexcept {
  try {
    Thread* thread = own_thread();
    return thread != nullptr ? thread->push(attributes, beyond_) : kNotTracked;
  } catch (...) {  // out of memory
    return kNotTracked;
  }
}

[[gnu::hot, gnu::flatten]] int Ranges::pop(std::uint32_t domain) noexcept {
  Thread* thread = own_thread();
  const std::int64_t now = event_clock_ns();
  return thread != nullptr ? thread->pop(domain, now) : kNotTracked;
}

std::uint64_t Ranges::start(const RangeAttributes& attributes) noexcept {
  try {
    Thread* thread = own_thread();
    return thread != nullptr ? thread->start(attributes, beyond_) : 0;
  } catch (...) {  // out of memory
    return 0;
  }
}

void Ranges::end(std::uint64_t range) noexcept {
  const std::int64_t now = event_clock_ns();
  try {
    // Held to the end, so that no other thread is amid a change of the one that forks.
    const std::lock_guard lock(threads_mutex_);
    if (const auto found = threads_.find(range >> kRangeThreadShift); found != threads_.end()) found->second->end(range, now);
  } catch (...) {  // nothing here throws but the lock, where the system is out of order
  }
}

void Ranges::mark(const RangeAttributes& attributes) noexcept {
  if (Thread* thread = own_thread()) thread->mark(attributes);
}

// --- Ending -----------------------------------------------------------------------------------------------------------

void Ranges::finish() noexcept {
  recording_ = false;
  try {
    const std::lock_guard lock(threads_mutex_);
    for (auto& [number, thread] : threads_) thread->finish();
    const std::uint64_t beyond = beyond_.exchange(0);
    if (beyond == 0) return;
    recorder_.note(capture::Severity::warning,
                   "NVTX ranges were left out: " + std::to_string(kMostOpen) + " others were open on their thread",
                   std::to_string(beyond) + " ranges", "Find the code that pushes ranges and does not pop them.");
  } catch (...) {  // out of memory: the rest is lost
  }
}

void Ranges::forget() noexcept {
  own_threads.clear();
  try {
    // Not destroyed: their threads, which this process does not have, may have been amid a change.
    static auto& left_behind = *new std::vector<decltype(threads_)>;
    left_behind.push_back(std::move(threads_));
    threads_.clear();
    number_ = new_ranges_number();
    if (!local().ending) {
      const bool had_one = local().thread != nullptr;  // else its owner would be made before the log's, and go after it
      local() = {};
      if (had_one) Owner::of_this_thread().thread.reset();
    }
  } catch (...) {
    recording_ = false;
  }
}

}  // namespace dlkprof::inject
