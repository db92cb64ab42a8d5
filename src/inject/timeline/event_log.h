// The timeline of this process on its way to the capture: interns texts, gathers events into batches, and appends them.
// Threads gather in buffers of their own, so that the program's threads seldom wait for one another. Thread-safe; never
// throws into the program: when appending fails it says so once, and further events are dropped.
//
// Until there is a capture (inject/session/recorder.h) events are held, kMostHeld of each kind and thread, and ranges that are
// open then; of threads that have ended those of the last kMostThreads. They open none.
//
// Locks, in this order: late_mutex_, buffers_mutex_, that of graphs_, then the writer's, which include a queue's.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/event_clock.h"
#include "dlkprof/capture_format.h"
#include "inject/own_pointer.h"
#include "inject/session/recorder.h"
#include "inject/timeline/event_queue.h"
#include "inject/timeline/event_writer.h"
#include "inject/timeline/graph_log.h"
#include "inject/timeline/string_table.h"

namespace dlkprof::inject {

class EventLog {
 public:
  explicit EventLog(Recorder& recorder);
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;
  ~EventLog() {
    writer_.stop();
    own_buffers.clear();
  }

  // The number of a text, good for as long as the process lives and in forked children; the same for equal texts. For
  // names, which are few. Texts longer than kMaxText are cut; 0 where there is no memory for it.
  [[nodiscard]] std::uint32_t intern(std::string_view text) noexcept;
  // As above for messages, which may all differ: the number is good for events that are added soon.
  [[nodiscard]] std::uint32_t intern_passing(std::string_view text) noexcept;
  // What a message says that is not left to add(): RangeEvent::name and the numbers that were in it.
  void read_message(capture::RangeEvent& range, std::string_view message) noexcept;
  // Whether intern() or intern_passing() gave out this number.
  [[nodiscard]] bool has_text(std::uint64_t id) const noexcept { return table_.has(id); }
  // The text that intern() gave this number for; "" where it did not. Slow. Throws std::bad_alloc.
  [[nodiscard]] std::string text_of(std::uint32_t id) { return table_.text_of(id); }

  // From the thread that they belong to. Of a range that is kUnreadName the message, at most kLongestUnread bytes without NUL,
  // is read when it is written.
  void add(const capture::RangeEvent& event, std::string_view message = {}) noexcept { add_event(event, message); }
  void add(const RangeEnd& event) noexcept { add_event(event); }
  void add(const capture::CallEvent& event) noexcept { add_event(event); }
  // From CUPTI's thread.
  void add(const capture::ActivityEvent& event) noexcept { add_event(event); }
  void add(capture::Fact fact) noexcept { writer_.add(std::move(fact)); }
  [[nodiscard]] GraphLog& graphs() noexcept { return graphs_; }

  // What a thread gathers, for those that have much to add: as add(), but from that thread alone, and the event is filled in
  // where it is kept, by fill(event). False where there is no room: then it is to be counted by who leaves it out.
  struct Buffer {
    EventQueue<capture::RangeEvent> ranges;
    EventQueue<RangeEnd> ends;
    EventQueue<capture::CallEvent> calls;
    EventQueue<capture::ActivityEvent> activities;
    std::atomic<bool> abandoned{false};  // its thread has ended
  };
  template <typename Event>
  bool add_to(EventQueue<Event>& queue, std::string_view text, const auto& fill) noexcept {
    Event* place = queue.place(text);
    if (place == nullptr) [[unlikely]] {
      place = make_place(queue, text);
      if (place == nullptr) return false;
    }
    fill(*place);
    queue.commit();
    return true;
  }
  void count_dropped() noexcept { writer_.count_dropped(1); }
  // This thread's, which stays until its thread-locals are destroyed that are older than the first call, or the log is. Null
  // where it is gone already, as the thread is ending, or there is no memory.
  [[nodiscard]] Buffer* own_buffer() noexcept {
    Buffer* const mine = own_buffers.get(this).pointer;
    return mine != nullptr ? mine : find_buffer();
  }

  // Appends all that was gathered, of all threads, those that ended too.
  void flush() noexcept;
  // The same soon, without having the caller wait. Called now and then.
  void flush_soon() noexcept;
  // The last time: what comes later is dropped.
  void finish() noexcept;

  // Around fork, so that the child never inherits a lock that nobody will release; before the recorder's.
  void lock();
  void unlock();
  // In a forked child, between the two: what was gathered is the parent's.
  void forget() noexcept;

  static constexpr std::size_t kMaxText = std::size_t{1} << 16U;
  static constexpr std::size_t kMostHeld = std::size_t{1} << 16U;
  static constexpr std::size_t kMostThreads = 1024;  // with those that have ended, before the first of these is left out

 private:
  struct Local;
  struct Owner;
  static Local& local() noexcept;

  static auto& queue_of(Buffer& buffer, const capture::RangeEvent& /*kind*/) { return buffer.ranges; }
  static auto& queue_of(Buffer& buffer, const RangeEnd& /*kind*/) { return buffer.ends; }
  static auto& queue_of(Buffer& buffer, const capture::CallEvent& /*kind*/) { return buffer.calls; }
  static auto& queue_of(Buffer& buffer, const capture::ActivityEvent& /*kind*/) { return buffer.activities; }

  [[nodiscard]] Buffer* find_buffer() noexcept;
  [[nodiscard]] Buffer* make_buffer() noexcept;
  void limit_ended() noexcept;
  template <typename Event>
  void add_event(const Event& event, std::string_view text = {}) noexcept;
  template <typename Event>
  [[nodiscard]] Event* make_place(EventQueue<Event>& queue, std::string_view text) noexcept;
  template <typename Event>
  void make_room(EventQueue<Event>& queue) noexcept;
  void take_all() noexcept;

  static constinit inline OwnPointer<Buffer> own_buffers;  // what Local has, of most threads

  std::atomic<std::uint64_t> number_;  // of this log, and another one in a forked child: what thread-locals are known by
  StringTable table_;
  EventWriter writer_;
  GraphLog graphs_;

  std::mutex late_mutex_;
  Buffer late_buffer_;  // of all threads whose own is gone
  std::mutex buffers_mutex_;
  std::vector<std::shared_ptr<Buffer>> buffers_;
};

}  // namespace dlkprof::inject
