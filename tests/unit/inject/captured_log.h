// An event log that writes to a folder of its own, and what its captures hold.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "capture/events.h"
#include "capture/reader.h"
#include "inject/session/recorder.h"
#include "inject/timeline/event_log.h"
#include "support/temporary_directory.h"

namespace dlkprof::test {

struct CapturedEvents {
  std::map<std::uint32_t, std::string> texts;
  std::vector<capture::RangeEvent> ranges;
  std::vector<capture::CallEvent> calls;
  std::vector<capture::ActivityEvent> activities;
  std::vector<capture::GraphEvent> graphs;
  std::vector<capture::Fact> facts;
  std::vector<capture::NoticeRecord> notices;
  std::size_t batches = 0;

  [[nodiscard]] std::string text(std::uint32_t id) const {
    const auto found = texts.find(id);
    return found != texts.end() ? found->second : "";
  }
  // The ranges of a domain, those that began first first.
  [[nodiscard]] std::vector<capture::RangeEvent> of_domain(const std::string& domain) const {
    std::vector<capture::RangeEvent> found;
    for (const auto& range : ranges) {
      if (text(range.domain) == domain) found.push_back(range);
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
    return found;
  }
};

inline capture::RangeEvent numbered_range(std::uint64_t number) {
  capture::RangeEvent event;
  event.id = number;
  return event;
}

// Reads all of a capture. Fails the test where a text is named before it stands there.
inline CapturedEvents read_events(const std::filesystem::path& file) {
  CapturedEvents all;
  const auto expect_text = [&](std::uint32_t id) { EXPECT_TRUE(id == 0 || all.texts.contains(id)) << "no text " << id; };
  auto reader = capture::Reader::open(file);
  while (auto record = reader.next()) {
    if (auto* strings = std::get_if<capture::StringsRecord>(&*record)) {
      for (auto& string : strings->strings) {
        EXPECT_TRUE(all.texts.emplace(string.id, string.text).second) << "text " << string.id << " stands there twice";
      }
    }
    if (auto* facts = std::get_if<capture::FactsRecord>(&*record)) {
      all.facts.insert(all.facts.end(), facts->facts.begin(), facts->facts.end());
    }
    if (auto* notice = std::get_if<capture::NoticeRecord>(&*record)) all.notices.push_back(*notice);
    const auto* events = std::get_if<capture::EventsRecord>(&*record);
    if (events == nullptr) continue;
    ++all.batches;
    EXPECT_LE(events->count, capture::kEventsInABatch);
    const auto append = [&](auto& to, const auto& unpacked) {
      for (const auto& event : unpacked) {
        expect_text(event.name);
        to.push_back(event);
      }
    };
    if (events->kind == capture::EventKind::graph) {
      const auto unpacked = capture::unpack_events<capture::GraphEvent>(*events);
      all.graphs.insert(all.graphs.end(), unpacked.begin(), unpacked.end());
    }
    if (events->kind == capture::EventKind::range) append(all.ranges, capture::unpack_events<capture::RangeEvent>(*events));
    if (events->kind == capture::EventKind::call) append(all.calls, capture::unpack_events<capture::CallEvent>(*events));
    if (events->kind == capture::EventKind::activity)
      append(all.activities, capture::unpack_events<capture::ActivityEvent>(*events));
  }
  for (const auto& range : all.ranges) expect_text(range.domain);
  EXPECT_EQ(reader.state().damaged, 0U);
  EXPECT_FALSE(reader.state().cut);
  return all;
}

class CapturedLog {
 public:
  CapturedLog() { options_.output_directory = directory_.path().string(); }

  inject::Recorder& recorder() { return *recorder_; }
  inject::EventLog& log() { return *log_; }
  // As the session does at the first launch.
  void open() { recorder_->append(capture::ClockRecord{}); }

  [[nodiscard]] std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> all;
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) all.push_back(entry.path());
    return all;
  }
  // What stands in the capture, without flushing first.
  [[nodiscard]] CapturedEvents written() const { return read_events(directory_.path() / "dlkprof.dlkcap"); }
  [[nodiscard]] CapturedEvents flushed() {
    log_->flush();
    return written();
  }

 private:
  TemporaryDirectory directory_;
  capture::ProfileOptions options_;
  // On the heap, as ThreadSanitizer takes mutexes of different tests at one address of the stack for one.
  std::unique_ptr<inject::Recorder> recorder_ = std::make_unique<inject::Recorder>(options_, 0, 0);
  std::unique_ptr<inject::EventLog> log_ = std::make_unique<inject::EventLog>(*recorder_);
};

inline void on_other_thread(const auto& what) { std::thread(what).join(); }

}  // namespace dlkprof::test
