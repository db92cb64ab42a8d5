// Captures that tests of timelines make, and what timeline.h promises of any timeline.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/text.h"
#include "model/timeline/timeline.h"
#include "support/event_capture.h"
#include "support/temporary_directory.h"

namespace dlkprof::model::timeline_test {

// What timeline.h promises of any timeline.
inline void expect_good_times(const Timeline& t, const auto& event) {
  EXPECT_LE(event.start_ns, event.end_ns);
  EXPECT_LE(t.first_ns, event.start_ns);
  EXPECT_LE(event.end_ns, t.last_ns);
}

inline void expect_good_ranges(const Timeline& t) {
  for (std::size_t i = 0; i < t.ranges.size(); ++i) {
    const Range& range = t.ranges[i];
    expect_good_times(t, range);
    EXPECT_TRUE(i == 0 || t.ranges[i - 1].start_ns <= range.start_ns);
    ASSERT_LT(range.thread, t.threads.size());
    ASSERT_LT(range.message, t.strings.size());
    ASSERT_LT(range.domain, t.strings.size());
    if (range.parent == kNone) continue;
    ASSERT_LT(range.parent, i);
    const Range& parent = t.ranges[range.parent];
    EXPECT_EQ(parent.thread, range.thread);
    EXPECT_TRUE(parent.start_ns <= range.start_ns && range.end_ns <= parent.end_ns);
  }
}

inline void expect_good_calls(const Timeline& t) {
  for (std::size_t i = 0; i < t.calls.size(); ++i) {
    const Call& call = t.calls[i];
    expect_good_times(t, call);
    EXPECT_TRUE(i == 0 || t.calls[i - 1].start_ns <= call.start_ns);
    ASSERT_LT(call.thread, t.threads.size());
    ASSERT_LT(call.name, t.strings.size());
    if (call.range == kNone) continue;
    ASSERT_LT(call.range, t.ranges.size());
    const Range& range = t.ranges[call.range];
    EXPECT_EQ(range.thread, call.thread);
    EXPECT_TRUE(range.start_ns <= call.start_ns && call.start_ns <= range.end_ns);
  }
}

inline void expect_good_activities(const Timeline& t) {
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  for (const Activity& activity : t.activities) {
    ASSERT_LT(activity.kernel, t.kernels.size());
    ASSERT_LT(activity.device, t.devices.size());
    ASSERT_TRUE(activity.call == kNone || activity.call < t.calls.size());
    ASSERT_TRUE(activity.config == kNone || activity.config < t.configs.size());
    EXPECT_EQ(activity.config != kNone, t.kernels[activity.kernel].kind == capture::ActivityKind::kernel);
    std::int64_t place = activity.call == kNone ? 0 : t.calls[activity.call].start_ns;
    if (activity.end_ns != 0) {
      expect_good_times(t, activity);
      place = activity.start_ns;
    }
    EXPECT_LE(last, place);
    last = place;
  }
}

inline void expect_promises(const Timeline& t) {
  ASSERT_FALSE(t.strings.empty());
  EXPECT_EQ(t.strings[0], "");
  for (const std::string& text : t.strings) EXPECT_EQ(text, valid_utf8(text));
  for (const Thread& thread : t.threads) EXPECT_LT(thread.process, t.processes.size());
  for (const Config& config : t.configs) EXPECT_LT(config.process, t.processes.size());
  for (const auto& [config, values] : t.measured) EXPECT_LT(config, t.configs.size());
  expect_good_ranges(t);
  expect_good_calls(t);
  expect_good_activities(t);
}

class LoadTimeline : public testing::Test {
 protected:
  std::filesystem::path write(const std::vector<capture::Record>& records) {
    return test::write_capture(folder_.path(), records, "capture" + std::to_string(++captures_));
  }
  Timeline load(const std::vector<std::filesystem::path>& paths) {
    Timeline timeline = load_timeline(paths);
    expect_promises(timeline);
    return timeline;
  }
  Timeline load(const test::EventCapture& capture) { return load({write(capture.records())}); }

  test::TemporaryDirectory folder_;
  int captures_ = 0;
};

inline std::vector<std::string> words(const Timeline& timeline) {
  std::vector<std::string> all;
  for (const capture::NoticeRecord& notice : timeline.notices) all.push_back(notice.what + " " + notice.detail);
  return all;
}
inline std::vector<std::string> messages(const Timeline& timeline) {
  std::vector<std::string> all;
  for (const Range& range : timeline.ranges) all.push_back(timeline.strings[range.message]);
  return all;
}
inline std::vector<std::uint32_t> parents(const Timeline& timeline) {
  std::vector<std::uint32_t> all;
  for (const Range& range : timeline.ranges) all.push_back(range.parent);
  return all;
}

// Ranges net > conv > cudnn, a launch in the innermost, and its kernel.
inline test::EventCapture small_capture() {
  test::EventCapture capture;
  capture.before = {test::function(1, test::kTiledGemm), test::function(2, test::kSimpleGemm)};
  capture.range(test::range_id(2), test::range_id(1), 120, 180, "cudnn");
  capture.range(test::range_id(1), test::range_id(0), 110, 190, "conv");
  capture.range(test::range_id(0), 0, 100, 200, "net");
  capture::CallEvent& call = capture.call(31, test::range_id(2), 130, 140);
  call.launch_index = 5;
  call.function = 2;
  capture.activity(31, 150, 450);
  return capture;
}

}  // namespace dlkprof::model::timeline_test
