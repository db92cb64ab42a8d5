#include "inject/timeline/ranges.h"

#include <string>
#include <utility>
#include <vector>

#include "capture/message.h"
#include "inject/timeline/range_visit.h"

namespace dlkprof::inject {
namespace {

std::uint64_t new_ranges_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

// --- The thread's own -------------------------------------------------------------------------------------------------

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

bool in_autotuning() noexcept { return Ranges::local().autotuning != 0; }

Ranges::Thread* Ranges::own_thread(Thread* known) noexcept { return known != nullptr ? known : find_thread(); }

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
    local() = {.owner = number_, .thread = owner.thread.get(), .busy = local().busy};
    owner.thread->set_busy(local().busy);
    own_threads.put(this, owner.thread.get(), buffer);
    return local().thread;
  } catch (...) {
    return nullptr;
  }
}

[[gnu::cold]] bool Ranges::Visit::enter_unknown() noexcept { return !std::exchange(local().busy, true); }

[[gnu::cold]] void Ranges::Visit::leave_unknown() noexcept {
  if (Thread* const thread = ranges_.known_thread()) thread->set_busy(false);  // it has become known meanwhile
  local().busy = false;
}

// --- What the program does --------------------------------------------------------------------------------------------

Ranges::Ranges(EventLog& log, Recorder& recorder, std::unique_ptr<NvtxScopes> scopes)
    : log_(log), number_(new_ranges_number()), scopes_(std::move(scopes)), recorder_(recorder) {}

Ranges::~Ranges() {
  for (auto& [number, thread] : threads_) thread->disown();
  own_threads.clear();
}

// Each in one piece, and both beside the rest of what is hot (gnu::hot): code that is in no cache is what a push costs.
[[gnu::hot, gnu::flatten]] int Ranges::push_text(std::string_view message) noexcept {
  if (Thread* thread = known_thread()) [[likely]] {
    const int level = thread->push_quickly(message, event_clock_ns());
    if (level != Thread::kNotQuick) [[likely]]
      return level;
  }
  return push_visiting({.message = message});
}

[[gnu::hot, gnu::flatten]] int Ranges::pop() noexcept {
  if (Thread* thread = known_thread()) [[likely]] {
    const int level = thread->pop_quickly(event_clock_ns());
    if (level != Thread::kNotQuick) [[likely]]
      return level;
  }
  return pop_visiting();
}

[[gnu::noinline]] int Ranges::push_visiting(const RangeAttributes& attributes) noexcept {
  Visit visit(*this);
  return visit ? visit.push(attributes) : kNotTracked;
}

[[gnu::noinline]] int Ranges::pop_visiting() noexcept {
  Visit visit(*this);
  return visit ? visit.pop(0) : kNotTracked;
}

[[gnu::noinline]] int Ranges::push(Thread* known, const RangeAttributes& attributes) noexcept {
  if (!recording_.load(std::memory_order_relaxed)) return tick(attributes.message);
  try {
    if (scopes_) scopes_->push(log_.text_of(attributes.domain), name_of(attributes));
    Thread* thread = own_thread(known);
    return thread != nullptr ? thread->push(attributes, beyond_) : kNotTracked;
  } catch (...) {  // out of memory
    return kNotTracked;
  }
}

// Level 0 of what the clock takes: python/ emits ranges as long as somebody hears them.
int Ranges::tick(std::string_view message) noexcept {
  StepClock* const clock = clock_.load(std::memory_order_acquire);
  return clock != nullptr && clock->tick(message) ? 0 : kNotTracked;
}

[[gnu::noinline]] int Ranges::pop(Thread* known, std::uint32_t domain) noexcept {
  Thread* thread = own_thread(known);
  const std::int64_t now = event_clock_ns();
  if (scopes_) pop_scope(domain);
  return thread != nullptr ? thread->pop(domain, now) : kNotTracked;
}

std::uint64_t Ranges::start(Thread* known, const RangeAttributes& attributes) noexcept {
  try {
    Thread* thread = own_thread(known);
    const std::uint64_t range = thread != nullptr ? thread->start(attributes, beyond_) : 0;
    if (attributes.domain == 0 && attributes.message == capture::kAutotuning) local().autotuning = range;
    if (scopes_ && range != 0) scopes_->start(range, log_.text_of(attributes.domain), name_of(attributes));
    return range;
  } catch (...) {  // out of memory
    return 0;
  }
}

void Ranges::end(Thread* known, std::uint64_t range) noexcept {
  const std::int64_t now = event_clock_ns();
  if (scopes_) scopes_->end(range);
  if (range == local().autotuning) local().autotuning = 0;
  if (known != nullptr && known->began(range)) return known->end(range, now, true);
  try {
    // Held to the end, so that no other thread is amid a change of the one that forks.
    const std::lock_guard lock(threads_mutex_);
    const auto found = threads_.find(range >> kRangeThreadShift);
    if (found != threads_.end()) found->second->end(range, now, found->second.get() == local().thread);
  } catch (...) {  // nothing here throws but the lock, where the system is out of order
  }
}

void Ranges::mark(const RangeAttributes& attributes) noexcept {
  if (Thread* thread = own_thread(known_thread())) thread->mark(attributes);
}

std::string Ranges::name_of(const RangeAttributes& attributes) {
  return attributes.message.empty() ? log_.text_of(attributes.name) : std::string(attributes.message);
}

void Ranges::pop_scope(std::uint32_t domain) noexcept {
  try {
    scopes_->pop(log_.text_of(domain));
  } catch (const std::bad_alloc&) {  // the range stays open for the filter
  }
}

// --- Ending -----------------------------------------------------------------------------------------------------------

void Ranges::finish() noexcept {
  recording_ = false;
  try {
    const std::lock_guard lock(threads_mutex_);
    for (auto& [number, thread] : threads_) thread->finish();
    if (scopes_) say_near_misses();
    const std::uint64_t beyond = beyond_.exchange(0);
    if (beyond == 0) return;
    recorder_.note(capture::Severity::warning,
                   "NVTX ranges were left out: " + std::to_string(kMostOpen) + " others were open on their thread",
                   std::to_string(beyond) + " ranges", "Find the code that pushes ranges and does not pop them.");
  } catch (...) {  // out of memory: the rest is lost
  }
}

void Ranges::say_near_misses() {
  if (const auto near = scopes_->near_misses()) {
    recorder_.note(capture::Severity::warning, "no launch lies within the NVTX ranges asked for", *near,
                   "Write --nvtx-include forward/ for a range that is pushed and popped by the thread that launches, forward for "
                   "one that is started and ended, and net@ before either for one of a domain.");
  }
  if (scopes_->limit_exceeded()) {
    recorder_.note(
        capture::Severity::warning,
        "a pattern of --nvtx-include or --nvtx-exclude takes too long on some names of ranges, which count as not matched", "",
        "Write the pattern without nested repetition such as (a+)+.");
  }
}

void Ranges::lock() {
  threads_mutex_.lock();
  if (scopes_) scopes_->lock();
}

void Ranges::unlock() {
  if (scopes_) scopes_->unlock();
  threads_mutex_.unlock();
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
