#include "inject/ranges.h"

#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "inject/open_ranges.h"
#include "inject/spin_lock.h"

namespace dlkprof::inject {
namespace {

constexpr unsigned kThreadShift = 40;  // RangeEvent::id

std::uint64_t new_ranges_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

// --- One thread -------------------------------------------------------------------------------------------------------

// In as few lines of the caches as may be, as they are seldom there when the next range comes.
class alignas(64) Ranges::Thread {
 public:
  Thread(std::uint64_t number, EventLog& log) : next_id_(number << kThreadShift), log_(&log) {}

  [[nodiscard]] std::uint64_t innermost() const noexcept { return innermost_.load(std::memory_order_relaxed); }

  int push(const RangeAttributes& attributes, std::atomic<std::uint64_t>& beyond) {
    const std::lock_guard lock(mutex_);
    if (open_.size() >= kMostOpen || open_.is_beyond(attributes.domain)) {
      ++beyond;
      return open_.push_beyond(attributes.domain);
    }
    const Begun range = begin(attributes, capture::RangeKind::push_pop);
    const int level = open_.push(range.event, range.message);
    innermost_.store(next_id_++, std::memory_order_relaxed);
    return level;
  }

  std::uint64_t start(const RangeAttributes& attributes, std::atomic<std::uint64_t>& beyond) {
    const std::lock_guard lock(mutex_);
    if (open_.size() >= kMostOpen) {
      ++beyond;
      return 0;
    }
    const Begun range = begin(attributes, capture::RangeKind::start_end);
    open_.start(range.event, range.message);
    innermost_.store(next_id_, std::memory_order_relaxed);
    return next_id_++;
  }

  int pop(std::uint32_t domain, std::int64_t now) noexcept {
    const std::lock_guard lock(mutex_);
    const auto popped = open_.pop(domain);
    if (popped.range != nullptr) close(*popped.range, now);
    return popped.level == OpenRanges::kNone ? kNotTracked : popped.level;
  }

  // From any thread: the event goes to the log through the one that calls.
  void end(std::uint64_t id, std::int64_t now) noexcept {
    const std::lock_guard lock(mutex_);
    if (auto* range = open_.end(id)) close(*range, now);
  }

  void mark(const RangeAttributes& attributes) noexcept {
    const std::lock_guard lock(mutex_);
    Begun range = begin(attributes, capture::RangeKind::mark);
    range.event.end_ns = range.event.start_ns;
    ++next_id_;
    if (log_ != nullptr) log_->add(range.event, range.message);
  }

  // The thread ends: nobody can pop its ranges any more.
  void leave() noexcept {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    write_open(false);
  }
  void finish() noexcept {
    const std::lock_guard lock(mutex_);
    write_open(true);
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
  struct Begun {
    capture::RangeEvent event;
    std::string_view message;  // empty where it is read already
  };
  [[nodiscard]] Begun begin(const RangeAttributes& attributes, capture::RangeKind kind) const noexcept {
    Begun range{.event = {.id = next_id_,
                          .parent = open_.innermost(),
                          .thread = system_id_,
                          .domain = attributes.domain,
                          .name = attributes.message.empty() ? attributes.name : kUnreadName,
                          .category = attributes.category,
                          .kind = kind,
                          .start_ns = event_clock_ns(),
                          .payload_type = attributes.payload_type,
                          .payload_bits = attributes.payload_bits},
                .message = attributes.message};
    if (range.message.size() > kLongestUnread || !open_.has_room_for(range.message)) read_now(range);
    return range;
  }

  void read_now(Begun& range) const noexcept {
    range.event.name = 0;
    if (log_ != nullptr) log_->read_message(range.event, range.message);
    range.message = {};
  }

  void close(OpenRanges::Open& range, std::int64_t now) noexcept {
    range.event.end_ns = now;
    innermost_.store(open_.innermost(), std::memory_order_relaxed);
    if (log_ != nullptr) log_->add(range.event, open_.message_of(range));
  }

  void write_open(bool start_end_too) noexcept {
    open_.take_all(start_end_too, [&](const OpenRanges::Open& range) {
      if (log_ != nullptr) log_->add(range.event, open_.message_of(range));  // end_ns is 0: it never ended
    });
    innermost_.store(open_.innermost(), std::memory_order_relaxed);
  }

  SpinLock mutex_;
  bool ended_ = false;
  const std::uint32_t system_id_ = static_cast<std::uint32_t>(gettid());
  std::atomic<std::uint64_t> innermost_{0};
  std::uint64_t next_id_;
  EventLog* log_;
  OpenRanges open_;
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

struct Ranges::Owner {
  std::shared_ptr<Thread> thread;

  Owner() = default;
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  ~Owner() {
    local() = {.ending = true};
    if (thread != nullptr) thread->leave();
  }

  static Owner& of_this_thread() {
    static thread_local Owner owner;
    return owner;
  }
};

std::uint64_t current_range() noexcept {
  const auto* thread = Ranges::local().thread;
  return thread != nullptr ? thread->innermost() : 0;
}

Ranges::Thread* Ranges::own_thread() noexcept {
  const Local& mine = local();
  return mine.owner == number_.load(std::memory_order_relaxed) ? mine.thread : make_thread();
}

Ranges::Thread* Ranges::make_thread() noexcept {
  if (local().ending) return nullptr;
  try {
    auto& owner = Owner::of_this_thread();
    const std::lock_guard lock(threads_mutex_);
    std::erase_if(threads_, [](const auto& entry) { return entry.second->is_done(); });
    auto thread = std::make_shared<Thread>(last_thread_ + 1, log_);
    threads_.emplace(last_thread_ + 1, thread);
    ++last_thread_;
    owner.thread = std::move(thread);
    local() = {.owner = number_, .thread = owner.thread.get()};
    return local().thread;
  } catch (...) {
    return nullptr;
  }
}

// --- What the program does --------------------------------------------------------------------------------------------

Ranges::Ranges(EventLog& log, Recorder& recorder) : log_(log), recorder_(recorder), number_(new_ranges_number()) {}

Ranges::~Ranges() {
  for (auto& [number, thread] : threads_) thread->disown();
}

int Ranges::push(const RangeAttributes& attributes) noexcept {
  if (!recording_.load(std::memory_order_relaxed)) return kNotTracked;
  try {
    Thread* thread = own_thread();
    return thread != nullptr ? thread->push(attributes, beyond_) : kNotTracked;
  } catch (...) {  // out of memory
    return kNotTracked;
  }
}

int Ranges::pop(std::uint32_t domain) noexcept {
  const std::int64_t now = event_clock_ns();
  Thread* thread = recording_.load(std::memory_order_relaxed) ? own_thread() : nullptr;
  return thread != nullptr ? thread->pop(domain, now) : kNotTracked;
}

std::uint64_t Ranges::start(const RangeAttributes& attributes) noexcept {
  if (!recording_.load(std::memory_order_relaxed)) return 0;
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
    if (const auto found = threads_.find(range >> kThreadShift); found != threads_.end()) found->second->end(range, now);
  } catch (...) {  // nothing here throws but the lock, where the system is out of order
  }
}

void Ranges::mark(const RangeAttributes& attributes) noexcept {
  if (!recording_.load(std::memory_order_relaxed)) return;
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
  try {
    // Not destroyed: their threads, which this process does not have, may have been amid a change.
    static auto& left_behind = *new std::vector<decltype(threads_)>;
    left_behind.push_back(std::move(threads_));
    threads_.clear();
    number_ = new_ranges_number();
    if (!local().ending) {
      local() = {};
      Owner::of_this_thread().thread.reset();
    }
  } catch (...) {
    recording_ = false;
  }
}

}  // namespace dlkprof::inject
