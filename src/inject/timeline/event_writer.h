// Appends events to the capture, with the texts that they name before them. Packing a batch takes a while and writing may
// take longer, so full batches, and what is to be written now and then, are left to a thread of its own, which is started when
// there is the first of either. Thread-safe; never throws: when appending fails it says so once, and what comes later is
// dropped.
//
// Locks, in this order: order_, a queue's, writing_, then the table's and the recorder's own; nothing is locked within
// taken_mutex_.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "capture/events.h"
#include "capture/message.h"
#include "dlkprof/capture_format.h"
#include "inject/session/recorder.h"
#include "inject/timeline/event_queue.h"
#include "inject/timeline/range_joiner.h"
#include "inject/timeline/string_table.h"
#include "inject/worker_thread.h"

namespace dlkprof::inject {

// What a range's message says. intern(text) gives the number of a text; one of PyTorch's has its numbers apart, and so is
// known already most of the time.
void read_message(capture::RangeEvent& range, std::string_view message, const auto& intern) {
  std::array<char, kLongestUnread> room;  // NOLINT(cppcoreguidelines-pro-type-member-init): longer ones stay whole
  const capture::SplitMessage split = capture::split_message(message, room);
  range.name = intern(split.text);
  range.sequence = split.sequence;
  range.op_id = split.op_id;
}

class EventWriter {
 public:
  // `gather`: writes what threads have gathered, by way of write_all(). Called on the writer's own thread, which holds no lock.
  EventWriter(Recorder& recorder, StringTable& table, std::function<void()> gather)
      : recorder_(recorder), table_(table), gather_(std::move(gather)) {}
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;
  ~EventWriter() { stop(); }
  // Ends the writer's own thread: gather() will not be called any more.
  void stop() noexcept;

  // There is a capture, so events need not be held; or there will be none, so that holding them is of no use.
  [[nodiscard]] bool is_ready() const noexcept { return closed_ || recorder_.usable(); }
  // Nothing is written any more.
  [[nodiscard]] bool is_closed() const noexcept { return closed_; }
  void close() noexcept { closed_ = true; }

  // Takes over what a thread has gathered, to be written soon. From that thread.
  template <typename Event>
  void empty(EventQueue<Event>& queue) noexcept;
  // Writes what was taken over, and then calls more(), which may write(); other batches wait.
  void write_all(const auto& more) noexcept {
    const std::lock_guard lock(order_);
    write_taken();
    more();
  }
  // From within write_all(): what the queue still holds.
  template <typename Event>
  void write(EventQueue<Event>& queue) noexcept;
  // From within write_all(), the last time: ranges whose end has not come.
  void write_open() noexcept;
  void write_strings() noexcept;
  // Has gather() called soon; false where there is no thread for that.
  [[nodiscard]] bool gather_soon() noexcept;
  void add(capture::Fact fact) noexcept;
  // Of `events` the capture will not know; said when the next ones are written.
  void count_dropped(std::uint64_t events) noexcept { dropped_.fetch_add(events, std::memory_order_relaxed); }

  // Around fork, as EventLog has it.
  void lock();
  void unlock();
  void forget();  // throws std::bad_alloc

  static constexpr std::size_t kMostFacts = 4096;

 private:
  template <template <typename...> typename Of>
  using EachBatch = Of<EventBatch<capture::RangeEvent>, EventBatch<RangeEnd>, EventBatch<capture::CallEvent>,
                       EventBatch<capture::ActivityEvent>>;
  using AnyBatch = EachBatch<std::variant>;

  template <typename Event>
  [[nodiscard]] EventBatch<Event> fresh_batch() noexcept;
  template <typename Event>
  [[nodiscard]] bool take_over(EventBatch<Event>& batch) noexcept;
  [[nodiscard]] bool has_thread() noexcept;
  [[nodiscard]] bool start_thread() noexcept;  // the caller holds taken_mutex_
  void run() noexcept;
  [[nodiscard]] bool next(AnyBatch& batch) noexcept;
  void write_taken() noexcept;
  void write_and_keep(AnyBatch batch) noexcept;
  template <typename Event>
  void write_and_keep(EventBatch<Event>& batch) noexcept;
  template <typename Event>
  void write(EventBatch<Event>& batch) noexcept;
  template <typename Event>
  void append(std::span<const Event> events);
  void read_messages(EventBatch<capture::RangeEvent>& batch);
  [[nodiscard]] std::uint32_t number_of(std::string_view text);
  void append_strings();  // the caller holds writing_
  void note_dropped() noexcept;
  void fail(const std::exception& error) noexcept;

  Recorder& recorder_;
  StringTable& table_;
  const std::function<void()> gather_;

  std::mutex order_;     // who holds it writes events: so that those of a thread stay in order
  StringCache strings_;  // under order_, as the next two
  RangeJoiner joiner_;
  std::vector<capture::RangeEvent> joined_;
  std::mutex writing_;  // held over texts and the events that name them, so that texts come first
  std::vector<capture::Fact> facts_;
  std::size_t facts_seen_ = 0;

  // When the thread falls so far behind, the program's threads write themselves: memory is the program's.
  static constexpr std::size_t kMostTaken = 32;
  std::mutex taken_mutex_;
  std::unique_ptr<std::condition_variable> taken_changed_ = std::make_unique<std::condition_variable>();
  std::array<AnyBatch, kMostTaken> taken_;  // a ring: taking over must not need memory
  std::size_t first_taken_ = 0, taken_count_ = 0;
  // Room that was used before and is kept, since fresh memory costs a page fault every few events.
  EachBatch<std::tuple> spare_;
  WorkerThread thread_;
  bool stopping_ = false, gather_due_ = false;

  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<bool> closed_{false};
};

}  // namespace dlkprof::inject
