// Captures of a few events, written down one by one, for the tests of what reads timelines.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "capture/events.h"
#include "dlkprof/capture_format.h"
#include "support/sample_capture.h"

namespace dlkprof::test {

// As the injected library numbers ranges: the first is number 0 of thread 1.
constexpr std::uint64_t range_id(std::uint64_t number, std::uint64_t thread = 1) { return (thread << 40U) + number; }

class EventCapture {
 public:
  EventCapture() {
    process.pid = 4242;
    process.host = "gpu-host";
    process.arguments = {"python", "train.py"};
    devices = {h200()};
    clock = {.monotonic_ns = 1'000, .unix_ns = 1'700'000'000'000'001'000};
  }

  std::uint32_t text(const std::string& text) {
    strings.push_back({static_cast<std::uint32_t>(strings.size() + 1), text});
    return strings.back().id;
  }

  capture::RangeEvent& range(std::uint64_t id, std::uint64_t parent, std::int64_t start_ns, std::int64_t end_ns,
                             const std::string& message = "op") {
    capture::RangeEvent event;
    event.id = id;
    event.parent = parent;
    event.thread = 100;
    event.name = text(message);
    event.start_ns = start_ns;
    event.end_ns = end_ns;
    return ranges.emplace_back(event);
  }

  capture::CallEvent& call(std::uint32_t correlation, std::uint64_t range, std::int64_t start_ns, std::int64_t end_ns) {
    capture::CallEvent event;
    event.correlation = correlation;
    event.thread = 100;
    event.range = range;
    event.name = text("cuLaunchKernel");
    event.start_ns = start_ns;
    event.end_ns = end_ns;
    return calls.emplace_back(event);
  }

  // A kernel's.
  capture::ActivityEvent& activity(std::uint32_t correlation, std::int64_t start_ns, std::int64_t end_ns,
                                   const std::string& mangled = kSimpleGemm) {
    capture::ActivityEvent event;
    event.correlation = correlation;
    event.start_ns = start_ns;
    event.end_ns = end_ns;
    event.stream = 7;
    event.name = text(mangled);
    event.grid = {8, 8, 1};
    event.block = {16, 16, 1};
    return activities.emplace_back(event);
  }

  [[nodiscard]] std::vector<capture::Record> records() const {
    std::vector<capture::Record> all{process};
    all.insert(all.end(), devices.begin(), devices.end());
    all.insert(all.end(), before.begin(), before.end());
    all.emplace_back(clock);
    all.emplace_back(capture::StringsRecord{strings});
    add_batches<capture::RangeEvent>(all, ranges);
    add_batches<capture::CallEvent>(all, calls);
    add_batches<capture::ActivityEvent>(all, activities);
    if (!graphs.empty()) add_batches<capture::GraphEvent>(all, graphs);
    all.emplace_back(capture::EndRecord{});
    return all;
  }

  capture::ProcessRecord process;
  std::vector<capture::DeviceRecord> devices;
  std::vector<capture::Record> before;  // functions, metric sets, measured launches, ...
  capture::ClockRecord clock;
  std::vector<capture::InternedString> strings;
  std::vector<capture::RangeEvent> ranges;
  std::vector<capture::CallEvent> calls;
  std::vector<capture::ActivityEvent> activities;
  std::vector<capture::GraphEvent> graphs;

 private:
  // One where there are none.
  template <typename Event>
  static void add_batches(std::vector<capture::Record>& all, std::span<const Event> events) {
    do {
      const std::size_t count = std::min(events.size(), capture::kEventsInABatch);
      all.emplace_back(capture::pack_events(events.first(count)));
      events = events.subspan(count);
    } while (!events.empty());
  }
};

}  // namespace dlkprof::test
