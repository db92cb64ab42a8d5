#include "inject/timeline/event_log.h"

#include <algorithm>

namespace dlkprof::inject {
namespace {

constexpr std::size_t kFirstCapacity = 64;  // most threads of most programs have few events
constexpr std::size_t kGrowth = 8;
// Texts do not wait for the next batch of events beyond the first, and are lost beyond the second while there is no capture.
constexpr std::size_t kManyBytes = std::size_t{4} << 20U;
constexpr std::size_t kMostBytes = std::size_t{32} << 20U;

std::uint64_t new_log_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

// The text without what is beyond the limit; characters of UTF-8 stay whole.
std::string_view cut(std::string_view text) {
  if (text.size() <= EventLog::kMaxText) return text;
  std::size_t end = EventLog::kMaxText;
  const auto continues = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80; };
  for (int steps = 0; steps < 3 && continues(end); ++steps) --end;
  return text.substr(0, continues(end) ? EventLog::kMaxText : end);
}

}  // namespace

// --- The thread's own buffer ------------------------------------------------------------------------------------------

// What a thread finds its buffer by. Of plain values, so that it can be read while the thread's other variables are
// destroyed already.
struct EventLog::Local {
  std::uint64_t log = 0;  // the number of the log that the buffer is of; 0: there is none
  Buffer* buffer = nullptr;
  bool ending = false;
};

EventLog::Local& EventLog::local() noexcept {
  static constinit thread_local Local local;
  return local;
}

// Tells the log when the thread ends.
struct EventLog::Owner {
  std::shared_ptr<Buffer> buffer;

  Owner() = default;
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  ~Owner() {
    local() = {.ending = true};
    own_buffers.remove();
    abandon();
  }
  void abandon() const noexcept {
    if (buffer != nullptr) buffer->abandoned.store(true, std::memory_order_release);
  }
};

EventLog::EventLog(Recorder& recorder)
    : number_(new_log_number()), writer_(recorder, table_, [this] { flush(); }), graphs_(recorder) {}

[[gnu::cold, gnu::noinline]] EventLog::Buffer* EventLog::find_buffer() noexcept {
  const Local& mine = local();
  return mine.log == number_.load(std::memory_order_relaxed) ? mine.buffer : make_buffer();
}

EventLog::Buffer* EventLog::make_buffer() noexcept {
  if (local().ending) return nullptr;
  try {
    static thread_local Owner owner;
    auto buffer = std::make_shared<Buffer>();
    {
      const std::lock_guard lock(buffers_mutex_);
      limit_ended();
      buffers_.push_back(buffer);
    }
    owner.abandon();
    owner.buffer = std::move(buffer);
    local() = {.log = number_, .buffer = owner.buffer.get()};
    own_buffers.put(this, owner.buffer.get());
    return local().buffer;
  } catch (...) {
    return nullptr;
  }
}

// Buffers of threads that have ended stay until they are written, which a program that launches nothing has no reason for. The
// caller holds buffers_mutex_.
void EventLog::limit_ended() noexcept {
  if (buffers_.size() < kMostThreads) return;
  if (writer_.is_ready() && writer_.gather_soon()) return;
  const auto ended =
      std::ranges::find_if(buffers_, [](const auto& buffer) { return buffer->abandoned.load(std::memory_order_acquire); });
  if (ended == buffers_.end()) return;
  const auto drop = [this](auto& queue) { queue.take([this](auto& batch) { writer_.count_dropped(batch.events().size()); }); };
  drop((*ended)->ranges);
  drop((*ended)->ends);
  drop((*ended)->calls);
  drop((*ended)->activities);
  buffers_.erase(ended);
}

// --- Gathering --------------------------------------------------------------------------------------------------------

std::uint32_t EventLog::intern(std::string_view text) noexcept {
  if (text.empty()) return 0;
  try {
    text = cut(text);
    return table_.intern(text, StringTable::hash_of(text), StringTable::Stay::always).id;
  } catch (...) {
    return 0;
  }
}

std::uint32_t EventLog::intern_passing(std::string_view text) noexcept {
  if (text.empty() || writer_.is_closed()) return 0;
  try {
    text = cut(text);
    if (table_.unwritten_bytes() > kManyBytes) {
      if (writer_.is_ready()) writer_.write_strings();
      if (table_.unwritten_bytes() > kMostBytes) return 0;
    }
    return table_.intern(text, StringTable::hash_of(text), StringTable::Stay::passing).id;
  } catch (...) {
    return 0;
  }
}

void EventLog::read_message(capture::RangeEvent& range, std::string_view message) noexcept {
  inject::read_message(range, message, [this](std::string_view text) { return intern_passing(text); });
}

template <typename Event>
void EventLog::add_event(const Event& event, std::string_view text) noexcept {
  const auto fill = [&](Event& place) { place = event; };
  if (Buffer* buffer = own_buffer()) {
    if (!add_to(queue_of(*buffer, event), text, fill)) count_dropped();
    return;
  }
  const std::lock_guard lock(late_mutex_);
  if (!add_to(queue_of(late_buffer_, event), text, fill)) count_dropped();
}

template void EventLog::add_event(const capture::RangeEvent&, std::string_view) noexcept;
template void EventLog::add_event(const RangeEnd&, std::string_view) noexcept;
template void EventLog::add_event(const capture::CallEvent&, std::string_view) noexcept;
template void EventLog::add_event(const capture::ActivityEvent&, std::string_view) noexcept;

// Seldom, and kept out of the way of the rest.
template <typename Event>
[[gnu::cold, gnu::noinline]] Event* EventLog::make_place(EventQueue<Event>& queue, std::string_view text) noexcept {
  make_room(queue);
  return queue.place(text);
}

template capture::RangeEvent* EventLog::make_place(EventQueue<capture::RangeEvent>&, std::string_view) noexcept;
template RangeEnd* EventLog::make_place(EventQueue<RangeEnd>&, std::string_view) noexcept;
template capture::CallEvent* EventLog::make_place(EventQueue<capture::CallEvent>&, std::string_view) noexcept;

template <typename Event>
void EventLog::make_room(EventQueue<Event>& queue) noexcept {
  const std::size_t capacity = queue.capacity();
  const bool holds_a_batch = capacity >= capture::kEventsInABatch;
  if (holds_a_batch && writer_.is_ready()) {
    writer_.empty(queue);
  } else if (capacity < kMostHeld) {
    queue.grow(std::clamp(capacity * kGrowth, kFirstCapacity, kMostHeld));
  }
}

void EventLog::flush() noexcept {
  tune_event_clock();
  if (!writer_.is_ready()) return;
  graphs_.flush();
  const std::lock_guard lock(buffers_mutex_);
  writer_.write_all([this] { take_all(); });
}

void EventLog::flush_soon() noexcept {
  if (writer_.is_ready() && !writer_.gather_soon()) flush();
}

void EventLog::finish() noexcept {
  graphs_.flush();
  const std::lock_guard lock(buffers_mutex_);
  writer_.write_all([this] {
    if (writer_.is_ready()) {
      take_all();
      writer_.write_open();
    }
    writer_.close();
  });
}

// The caller holds buffers_mutex_.
void EventLog::take_all() noexcept {
  const auto take = [this](Buffer& buffer) {
    writer_.write(buffer.ranges);
    writer_.write(buffer.ends);
    writer_.write(buffer.calls);
    writer_.write(buffer.activities);
  };
  for (auto& buffer : buffers_) {
    const bool last_time = buffer->abandoned.load(std::memory_order_acquire);
    take(*buffer);
    if (last_time) buffer.reset();
  }
  std::erase(buffers_, nullptr);
  take(late_buffer_);
  writer_.write_strings();
}

// --- Fork -------------------------------------------------------------------------------------------------------------

void EventLog::lock() {
  late_mutex_.lock();
  buffers_mutex_.lock();
  graphs_.lock();
  writer_.lock();
  table_.lock();
}

void EventLog::unlock() {
  table_.unlock();
  writer_.unlock();
  graphs_.unlock();
  buffers_mutex_.unlock();
  late_mutex_.unlock();
}

void EventLog::forget() noexcept {
  own_buffers.clear();
  try {
    // Not destroyed: their threads, which this process does not have, may have been amid a change.
    static auto& left_behind = *new std::vector<std::vector<std::shared_ptr<Buffer>>>;
    left_behind.push_back(std::move(buffers_));
    buffers_.clear();
    late_buffer_.ranges.clear();
    late_buffer_.ends.clear();
    late_buffer_.calls.clear();
    late_buffer_.activities.clear();
    graphs_.forget();
    table_.forget();
    writer_.forget();
    number_ = new_log_number();
  } catch (...) {
    writer_.close();
  }
}

}  // namespace dlkprof::inject
