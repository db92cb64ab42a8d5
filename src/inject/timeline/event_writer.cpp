#include "inject/timeline/event_writer.h"

#include <algorithm>
#include <exception>
#include <string>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "base/unnoticed.h"

namespace dlkprof::inject {

void EventWriter::stop() noexcept {
  {
    const std::lock_guard lock(taken_mutex_);
    stopping_ = true;
  }
  taken_changed_->notify_all();
  thread_.join();
}

// --- Full batches -----------------------------------------------------------------------------------------------------

template <typename Event>
EventBatch<Event> EventWriter::fresh_batch() noexcept {
  {
    const std::lock_guard lock(taken_mutex_);
    auto& spare = std::get<EventBatch<Event>>(spare_);
    if (spare.capacity != 0) return std::exchange(spare, {});
  }
  return EventBatch<Event>::of_capacity(capture::kEventsInABatch);
}

template <typename Event>
void EventWriter::empty(EventQueue<Event>& queue) noexcept {
  const Unnoticed whole;  // this may be the program's thread, which writes where ours falls behind
  auto fresh = fresh_batch<Event>();
  while (!queue.exchange(fresh, [this](EventBatch<Event>& batch) { return take_over(batch); })) write_all([] {});
  if (!has_thread()) write_all([] {});
}

// The queue is locked meanwhile: who finds it empty finds the batch here.
template <typename Event>
bool EventWriter::take_over(EventBatch<Event>& batch) noexcept {
  {
    const std::lock_guard lock(taken_mutex_);
    if (taken_count_ == kMostTaken) return false;
    taken_[(first_taken_ + taken_count_) % kMostTaken] = AnyBatch(std::move(batch));
    ++taken_count_;
  }
  taken_changed_->notify_one();
  return true;
}

bool EventWriter::has_thread() noexcept {
  const std::lock_guard lock(taken_mutex_);
  return thread_.started() || start_thread();
}

bool EventWriter::start_thread() noexcept {
  try {
    thread_.start([this] { run(); });
  } catch (const std::exception&) {  // no more threads may be had
  }
  return thread_.started();
}

bool EventWriter::gather_soon() noexcept {
  {
    const std::lock_guard lock(taken_mutex_);
    if (!thread_.started() && !start_thread()) return false;
    gather_due_ = true;
  }
  taken_changed_->notify_one();
  return true;
}

void EventWriter::run() noexcept {
  for (;;) {
    bool gather = false;
    {
      std::unique_lock lock(taken_mutex_);
      taken_changed_->wait(lock, [this] { return stopping_ || gather_due_ || taken_count_ > 0; });
      if (stopping_ && taken_count_ == 0) return;
      gather = std::exchange(gather_due_, false) && !stopping_;
    }
    if (gather) {
      gather_();
    } else {
      write_all([] {});
    }
  }
}

bool EventWriter::next(AnyBatch& batch) noexcept {
  const std::lock_guard lock(taken_mutex_);
  if (taken_count_ == 0) return false;
  batch = std::move(taken_[first_taken_]);
  first_taken_ = (first_taken_ + 1) % kMostTaken;
  --taken_count_;
  return true;
}

void EventWriter::write_taken() noexcept {
  for (AnyBatch batch; next(batch);) write_and_keep(std::move(batch));
}

void EventWriter::write_and_keep(AnyBatch batch) noexcept {
  const auto keep = [this](auto* of_kind) {
    if (of_kind != nullptr) write_and_keep(*of_kind);
  };
  keep(std::get_if<EventBatch<capture::RangeEvent>>(&batch));
  keep(std::get_if<EventBatch<RangeEnd>>(&batch));
  keep(std::get_if<EventBatch<capture::CallEvent>>(&batch));
  keep(std::get_if<EventBatch<capture::ActivityEvent>>(&batch));
}

template <typename Event>
void EventWriter::write_and_keep(EventBatch<Event>& batch) noexcept {
  write(batch);
  if (batch.capacity != capture::kEventsInABatch) return;
  const std::lock_guard lock(taken_mutex_);
  std::swap(std::get<EventBatch<Event>>(spare_), batch);
}

// --- Writing ----------------------------------------------------------------------------------------------------------

template <typename Event>
void EventWriter::write(EventQueue<Event>& queue) noexcept {
  queue.take([this](EventBatch<Event>& batch) {
    write_taken();  // what came before, should its thread have given it away only now
    write(batch);
  });
}

template <typename Event>
void EventWriter::write(EventBatch<Event>& batch) noexcept {
  if (closed_) return;
  try {
    if constexpr (std::is_same_v<Event, capture::RangeEvent> || std::is_same_v<Event, RangeEnd>) {
      if constexpr (kTextBytes<Event> != 0) read_messages(batch);
      joined_.clear();
      joiner_.add(batch.events(), joined_);
      append(std::span<const capture::RangeEvent>(joined_));
    } else {
      append(std::span<const Event>(batch.events()));
    }
  } catch (const std::exception& error) {
    fail(error);
  }
  note_dropped();
}

void EventWriter::write_open() noexcept {
  if (closed_) return;
  try {
    joined_.clear();
    joiner_.take_open(joined_);
    append(std::span<const capture::RangeEvent>(joined_));
  } catch (const std::exception& error) {
    fail(error);
  }
  note_dropped();
}

template <typename Event>
void EventWriter::append(std::span<const Event> events) {
  while (!events.empty()) {
    const auto some = events.first(std::min(events.size(), capture::kEventsInABatch));
    const auto packed = capture::pack_events(some);
    const std::lock_guard lock(writing_);
    append_strings();
    recorder_.append(packed);
    events = events.subspan(some.size());
  }
}

// Many at a time and mostly on our own thread: at a push, what this takes would be in no cache.
void EventWriter::read_messages(EventBatch<capture::RangeEvent>& batch) {
  for (capture::RangeEvent& range : batch.events()) {
    if (range.name != kUnreadName) continue;
    read_message(range, batch.take_text(), [this](std::string_view text) { return number_of(text); });
  }
}

std::uint32_t EventWriter::number_of(std::string_view text) {
  const std::size_t hash = StringTable::hash_of(text);
  const std::uint64_t generation = table_.generation();
  if (const auto id = strings_.find(text, hash, generation); id != 0) return id;
  const auto interned = table_.intern(text, hash, StringTable::Stay::passing);
  // A text is worth a place in the cache once it has come twice.
  if (!interned.is_new) strings_.put(text, hash, generation, interned.id);
  return interned.id;
}

void EventWriter::write_strings() noexcept {
  if (closed_) return;
  try {
    const std::lock_guard lock(writing_);
    append_strings();
  } catch (const std::exception& error) {
    fail(error);
  }
}

void EventWriter::append_strings() {
  if (auto strings = table_.take_unwritten(); !strings.empty()) recorder_.append(capture::StringsRecord{std::move(strings)});
  if (!facts_.empty()) recorder_.append(capture::FactsRecord{std::exchange(facts_, {})});
}

void EventWriter::add(capture::Fact fact) noexcept {
  try {
    const std::lock_guard lock(writing_);
    if (facts_seen_ == kMostFacts) return;
    facts_.push_back(std::move(fact));
    ++facts_seen_;
  } catch (...) {  // out of memory: the fact is lost, the program is not
  }
}

void EventWriter::note_dropped() noexcept {
  const auto dropped = dropped_.exchange(0, std::memory_order_relaxed);
  if (dropped == 0 || closed_) return;
  try {
    recorder_.note(capture::Severity::warning,
                   "events of the timeline were left out, as there were too many before the first launch",
                   std::to_string(dropped) + " events", "");
  } catch (...) {  // out of memory: nothing can be said
  }
}

void EventWriter::fail(const std::exception& error) noexcept {
  if (!closed_.exchange(true)) recorder_.note("the timeline ends here, the program runs on", error);
}

// --- Fork -------------------------------------------------------------------------------------------------------------

void EventWriter::lock() {
  order_.lock();
  writing_.lock();
  taken_mutex_.lock();
}

void EventWriter::unlock() {
  taken_mutex_.unlock();
  writing_.unlock();
  order_.unlock();
}

void EventWriter::forget() {
  for (AnyBatch& batch : taken_) batch = {};
  taken_count_ = 0;
  joiner_ = {};
  gather_due_ = false;
  facts_.clear();
  dropped_ = 0;
  // The parent's: here there is no thread to join, nor one that waits and could be waited for.
  thread_.forget();
  (void)taken_changed_.release();
  taken_changed_ = std::make_unique<std::condition_variable>();
}

template void EventWriter::empty(EventQueue<capture::RangeEvent>&) noexcept;
template void EventWriter::empty(EventQueue<RangeEnd>&) noexcept;
template void EventWriter::empty(EventQueue<capture::CallEvent>&) noexcept;
template void EventWriter::empty(EventQueue<capture::ActivityEvent>&) noexcept;
template void EventWriter::write(EventQueue<capture::RangeEvent>&) noexcept;
template void EventWriter::write(EventQueue<RangeEnd>&) noexcept;
template void EventWriter::write(EventQueue<capture::CallEvent>&) noexcept;
template void EventWriter::write(EventQueue<capture::ActivityEvent>&) noexcept;

}  // namespace dlkprof::inject
