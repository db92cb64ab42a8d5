// The program that other tests and the benchmarks are fed with, read back.
#include "support/made_up_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "capture/events.h"
#include "capture/message.h"
#include "capture/reader.h"
#include "support/temporary_directory.h"

namespace dlkprof::capture::made_up_run_test {
namespace {

struct Content {
  std::map<std::uint32_t, std::string> texts;
  std::map<std::uint64_t, RangeEvent> ranges;
  std::vector<CallEvent> calls;
  std::vector<ActivityEvent> activities;
  std::uint64_t launches = 0;
};

void take(Content& content, const EventsRecord& record) {
  const auto append = [](auto& to, const auto& more) { to.insert(to.end(), more.begin(), more.end()); };
  if (record.kind == EventKind::call) append(content.calls, unpack_events<CallEvent>(record));
  if (record.kind == EventKind::activity) append(content.activities, unpack_events<ActivityEvent>(record));
  if (record.kind != EventKind::range) return;
  for (const RangeEvent& range : unpack_events<RangeEvent>(record)) {
    EXPECT_TRUE(content.texts.contains(range.name));
    EXPECT_TRUE(content.ranges.emplace(range.id, range).second);
  }
}

Content read(const test::MadeUpRun& run) {
  const test::TemporaryDirectory directory;
  Reader reader = Reader::open(test::write_made_up_run(directory.path(), run));
  Content content;
  while (const std::optional<Record> record = reader.next()) {
    if (const auto* strings = std::get_if<StringsRecord>(&*record)) {
      for (const InternedString& string : strings->strings) content.texts.emplace(string.id, string.text);
    }
    if (const auto* events = std::get_if<EventsRecord>(&*record)) take(content, *events);
    if (const auto* stats = std::get_if<KeyStatsRecord>(&*record)) {
      for (const KeyStats& key : stats->keys) content.launches += key.launches;
    }
  }
  EXPECT_FALSE(reader.state().cut);
  return content;
}

TEST(MadeUpRun, HoldsWhatIsAskedFor) {
  for (const auto& [launches, ranges] : {std::pair{57U, 301U}, {1U, 3U}, {40U, 10U}, {3U, 40U}}) {
    const Content content = read({.iterations = 3, .launches = launches, .ranges = ranges});
    EXPECT_EQ(content.ranges.size(), 3 * ranges);
    EXPECT_EQ(content.calls.size(), 3 * (launches + 3));
    EXPECT_EQ(content.activities.size(), 3 * (launches + 2));
    EXPECT_EQ(content.launches, 3 * launches);
  }
  const test::TemporaryDirectory directory;
  EXPECT_THROW((void)test::write_made_up_run(directory.path(), {.ranges = 2}), std::invalid_argument);
}

TEST(MadeUpRun, NestsInTimeOnTwoThreads) {
  const Content content = read({.iterations = 2});
  std::set<std::uint32_t> threads;
  for (const auto& [id, range] : content.ranges) {
    threads.insert(range.thread);
    EXPECT_LT(range.start_ns, range.end_ns);
    if (range.parent == 0) continue;
    const RangeEvent& parent = content.ranges.at(range.parent);
    EXPECT_EQ(parent.thread, range.thread);
    EXPECT_TRUE(parent.id < id && parent.start_ns <= range.start_ns && range.end_ns <= parent.end_ns);
  }
  EXPECT_EQ(threads.size(), 2U);
  std::size_t outside = 0;
  for (const CallEvent& call : content.calls) {
    outside += call.range == 0 ? 1 : 0;
    if (call.range == 0) continue;
    const RangeEvent& range = content.ranges.at(call.range);
    EXPECT_TRUE(range.thread == call.thread && range.start_ns <= call.start_ns && call.end_ns <= range.end_ns);
  }
  EXPECT_EQ(outside, 2U * 3);
}

TEST(MadeUpRun, NumbersItsMessagesAsPyTorchDoes) {
  const auto has = [](const Content& content, const std::string& message) {
    return std::any_of(content.ranges.begin(), content.ranges.end(), [&](const auto& one) {
      const RangeEvent& range = one.second;
      return join_message(content.texts.at(range.name), range.sequence, range.op_id) == message;
    });
  };
  const Content numbered = read({.iterations = 1});
  EXPECT_TRUE(has(numbered, "aten::conv2d, seq = 1, op_id = 2, sizes = [[64, 64, 32, 32], [64, 64, 3, 3], []]"));
  EXPECT_TRUE(has(numbered, "Optimizer.zero_grad#Adam.zero_grad, op_id = 1"));
  EXPECT_TRUE(has(read({.iterations = 1, .numbered = false}), "aten::conv2d, sizes = [[64, 64, 32, 32], [64, 64, 3, 3], []]"));
}

TEST(MadeUpRun, IsTheSameEachTime) {
  const Content first = read({.iterations = 1});
  EXPECT_EQ(read({.iterations = 1}).activities, first.activities);
  EXPECT_NE(read({.iterations = 1, .seed = 2}).activities, first.activities);
}

}  // namespace
}  // namespace dlkprof::capture::made_up_run_test
