#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "inject/timeline/event_log.h"
#include "unit/inject/captured_log.h"

namespace dlkprof::inject::event_log_texts_test {
namespace {

using test::CapturedLog;
using test::numbered_range;
using test::on_other_thread;
using testing::ElementsAre;
using testing::SizeIs;

TEST(EventClock, IsMonotonicTime) {
  timespec before{};
  clock_gettime(CLOCK_MONOTONIC, &before);
  const auto now = event_clock_ns();
  EXPECT_GE(now, before.tv_sec * 1'000'000'000L + before.tv_nsec);
  EXPECT_LE(now, event_clock_ns());
}

TEST(EventLogTexts, AreNumberedOnce) {
  CapturedLog captured;
  auto& log = captured.log();
  const auto a = log.intern("a"), b = log.intern("b");
  EXPECT_NE(a, 0U);
  EXPECT_NE(a, b);
  EXPECT_EQ(log.intern(std::string("a")), a);
  EXPECT_EQ(log.intern(""), 0U);
  EXPECT_EQ(log.intern_passing(""), 0U);
  const auto message = log.intern_passing("message");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(log.intern_passing("message"), message);
  on_other_thread([&] { EXPECT_EQ(log.intern_passing("message"), message); });

  EXPECT_EQ(log.text_of(b), "b");
  EXPECT_EQ(log.text_of(99), "");
  EXPECT_TRUE(log.has_text(message));
  EXPECT_FALSE(log.has_text(0));
  EXPECT_FALSE(log.has_text(message + 1));

  captured.open();
  EXPECT_THAT(captured.flushed().texts, ElementsAre(std::pair(a, "a"), std::pair(b, "b"), std::pair(message, "message")));
}

TEST(EventLogTexts, LongOnesAreCutBetweenCharacters) {
  CapturedLog captured;
  captured.open();
  const std::string whole(EventLog::kMaxText, 'x');
  const auto id = captured.log().intern(whole + "more");
  EXPECT_EQ(captured.log().intern(whole), id);
  const std::string almost(EventLog::kMaxText - 1, 'y');
  const auto umlaut = captured.log().intern_passing(almost + "\xc3\xa4");
  const auto bytes = captured.log().intern(std::string(EventLog::kMaxText + 9, '\x80'));  // no UTF-8 at all
  const auto texts = captured.flushed().texts;
  EXPECT_EQ(texts.at(id), whole);
  EXPECT_EQ(texts.at(umlaut), almost);
  EXPECT_EQ(texts.at(bytes), std::string(EventLog::kMaxText, '\x80'));
}

TEST(EventLogTexts, MessagesThatAllDifferDoNotFillMemory) {
  CapturedLog captured;
  captured.open();
  auto& log = captured.log();
  const auto name = log.intern("name"), first = log.intern_passing("message");
  for (std::size_t i = 0; i <= StringTable::kMostPassing; ++i) (void)log.intern_passing("op_id = " + std::to_string(i));
  log.flush();
  const auto second = log.intern_passing("message");
  EXPECT_NE(second, first);
  EXPECT_EQ(log.intern("name"), name);
  const auto written = captured.flushed();
  EXPECT_EQ(written.text(first), "message");
  EXPECT_EQ(written.text(second), "message");
  EXPECT_THAT(written.texts, SizeIs(StringTable::kMostPassing + 4));
}

TEST(EventLogTexts, ManyAreWrittenBeforeTheEventsThatNameThem) {
  CapturedLog captured;
  captured.open();
  std::string text(60'000, 'x');
  for (int i = 0; i < 100; ++i) (void)captured.log().intern_passing(std::to_string(i) + text);
  EXPECT_GT(captured.written().texts.size(), 60U);
}

TEST(EventLogMessages, WaitUntilThereIsACapture) {
  CapturedLog captured;
  const std::string shapes(150, '8');
  for (std::uint64_t i = 0; i < 5000; ++i) {
    auto range = numbered_range(i);
    range.name = kUnreadName;
    captured.log().add(range, std::to_string(i) + ", seq = " + std::to_string(i) + shapes.substr(i % 150));
    captured.log().add(numbered_range(5000 + i));
  }
  EXPECT_FALSE(captured.log().has_text(1)) << "nothing is looked into yet";
  captured.open();
  const auto written = captured.flushed();
  ASSERT_THAT(written.ranges, SizeIs(10'000));
  for (std::uint64_t i = 0; i < 5000; ++i) {
    ASSERT_EQ(written.ranges[2 * i].id, i);
    ASSERT_TRUE(written.text(written.ranges[2 * i].name).starts_with(std::to_string(i) + ", seq = "));
    ASSERT_EQ(written.ranges[2 * i + 1].name, 0U);
  }
}

TEST(EventLogMessages, FillABatchEarly) {
  CapturedLog captured;
  captured.open();
  const std::string text(kLongestUnread, 'x');
  auto range = numbered_range(1);
  range.name = kUnreadName;
  for (std::uint64_t i = 0; i < capture::kEventsInABatch; ++i) captured.log().add(range, text);
  const auto written = captured.flushed();
  ASSERT_THAT(written.ranges, SizeIs(capture::kEventsInABatch));
  EXPECT_THAT(written.texts, SizeIs(1));
  EXPECT_GT(written.batches, 10U);
  for (const auto& one : written.ranges) ASSERT_EQ(one.name, written.ranges[0].name);
}

TEST(EventLogMessages, BeyondWhatIsHeldAreLeftOut) {
  CapturedLog captured;
  const std::string text(kLongestUnread, 'x');
  auto range = numbered_range(1);
  range.name = kUnreadName;
  for (std::uint64_t i = 0; i < 5000; ++i) captured.log().add(range, text);
  captured.open();
  testing::internal::CaptureStderr();
  const auto written = captured.flushed();
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("events of the timeline were left out"));
  EXPECT_THAT(written.ranges, SizeIs(testing::AllOf(testing::Gt(4000U), testing::Lt(5000U))));
}

}  // namespace
}  // namespace dlkprof::inject::event_log_texts_test
