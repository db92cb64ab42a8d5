#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <barrier>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "unit/inject/ranges_fixture.h"

namespace dlkprof::inject::ranges_test {
namespace {

using capture::RangeEvent;
using test::CapturedLog;
using test::on_other_thread;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST_F(RangesTest, TooManyOpenOnesAreCountedOnly) {
  const auto domain = captured_.log().intern("domain");
  constexpr int kMost = static_cast<int>(Ranges::kMostOpen);
  for (int i = 0; i < kMost; ++i) ASSERT_EQ(ranges_.push({}), i);
  const auto innermost = current_range();
  EXPECT_EQ(ranges_.push({}), kMost);
  EXPECT_EQ(ranges_.push(named("lost", domain)), 0);
  EXPECT_EQ(ranges_.start(named("lost")), 0U);
  EXPECT_EQ(current_range(), innermost);
  EXPECT_EQ(ranges_.pop(kDefault), kMost);
  EXPECT_EQ(ranges_.pop(kDefault), kMost - 1);
  EXPECT_EQ(ranges_.push(named("lost", domain)), 1) << "inside one that is counted only";
  EXPECT_EQ(ranges_.pop(domain), 1);
  EXPECT_EQ(ranges_.pop(domain), 0);
  EXPECT_EQ(ranges_.push(named("kept", domain)), 0);
  EXPECT_EQ(ranges_.pop(domain), 0);
  for (int i = kMost - 1; i-- > 0;) ASSERT_EQ(ranges_.pop(kDefault), i);
  EXPECT_EQ(ranges_.pop(kDefault), Ranges::kNotTracked);

  testing::internal::CaptureStderr();
  ranges_.finish();
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("4 ranges"));
  const auto written = captured_.flushed();
  EXPECT_THAT(written.ranges, SizeIs(Ranges::kMostOpen + 1));
  EXPECT_THAT(written.notices, SizeIs(1));
}

TEST_F(RangesTest, FinishWritesWhatIsOpenInnermostFirst) {
  EXPECT_EQ(ranges_.push(named("outer")), 0);
  (void)ranges_.start(named("started"));
  EXPECT_EQ(ranges_.push(named("inner")), 1);
  ranges_.finish();
  EXPECT_EQ(current_range(), 0U);
  const auto written = captured_.flushed();
  std::vector<std::string> names;
  for (const auto& range : written.ranges) {
    EXPECT_EQ(range.end_ns, 0);
    EXPECT_NE(range.start_ns, 0);
    names.push_back(written.text(range.name));
  }
  EXPECT_THAT(names, ElementsAre("inner", "started", "outer"));
}

TEST_F(RangesTest, NothingIsRecordedAfterFinish) {
  ranges_.finish();
  EXPECT_EQ(ranges_.push(named("late")), Ranges::kNotTracked);
  EXPECT_EQ(ranges_.pop(kDefault), Ranges::kNotTracked);
  EXPECT_EQ(ranges_.start(named("late")), 0U);
  ranges_.mark(named("late"));
  EXPECT_THAT(ended(), IsEmpty());
}

TEST_F(RangesTest, AThreadThatEndsLeavesItsOpenRanges) {
  std::uint64_t started = 0;
  on_other_thread([&] {
    EXPECT_EQ(ranges_.push(named("pushed")), 0);
    started = ranges_.start(named("started"));
  });
  auto found = ended();
  EXPECT_EQ(found.at("pushed").end_ns, 0);
  EXPECT_FALSE(found.contains("started"));
  on_other_thread([&] { ranges_.mark(named("mark")); });  // a new thread: ended ones are looked through
  ranges_.end(started);
  found = ended();
  EXPECT_GE(found.at("started").end_ns, found.at("started").start_ns);
  EXPECT_EQ(found.at("started").parent, found.at("pushed").id);
}

TEST_F(RangesTest, AnEndingThreadIsNotTracked) {
  struct AtTheEnd {
    Ranges* ranges = nullptr;
    ~AtTheEnd() {
      if (ranges == nullptr) return;
      EXPECT_EQ(ranges->push({}), Ranges::kNotTracked);
      EXPECT_EQ(ranges->pop(kDefault), Ranges::kNotTracked);
      EXPECT_EQ(ranges->start({}), 0U);
      ranges->mark({});
      EXPECT_EQ(current_range(), 0U);
    }
  };
  on_other_thread([&] {
    static thread_local AtTheEnd last;  // made first, and so destroyed last
    last.ranges = &ranges_;
    EXPECT_EQ(ranges_.push(named("open")), 0);
  });
  EXPECT_THAT(ended(), SizeIs(1));
}

TEST_F(RangesTest, RangesAreWrittenWhenTheyEndWhoeverEndsThem) {
  std::uint64_t started = 0;
  std::barrier all(2);
  std::thread other([&] {  // its end is written before the range is
    ranges_.mark(named("mark"));
    all.arrive_and_wait();
    ranges_.end(started);
  });
  started = ranges_.start(named("started"));
  all.arrive_and_wait();
  other.join();
  EXPECT_EQ(ranges_.push(named("open")), 0);
  EXPECT_TRUE(ended().contains("started"));
  EXPECT_EQ(ranges_.pop(kDefault), 0);
  EXPECT_THAT(ended(), SizeIs(3));
}

void push_and_pop(Ranges& ranges, int level, std::size_t times) {
  for (std::size_t i = 0; i < times; ++i) {
    ASSERT_EQ(ranges.push({}), level);
    ASSERT_EQ(ranges.pop(kDefault), level);
  }
}

TEST(RangesHeld, ThatThereIsNoRoomForAreLeftOutWithTheirEnds) {
  CapturedLog captured;
  Ranges ranges{captured.log(), captured.recorder()};
  EXPECT_EQ(ranges.push({}), 0);
  push_and_pop(ranges, 1, EventLog::kMostHeld + 11);
  captured.open();
  testing::internal::CaptureStderr();
  EXPECT_THAT(captured.flushed().ranges, SizeIs(EventLog::kMostHeld - 1));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("12 events"));
  EXPECT_EQ(ranges.pop(kDefault), 0);
  const auto written = captured.flushed().ranges;
  EXPECT_THAT(written, SizeIs(EventLog::kMostHeld));
  for (const auto& range : written) EXPECT_GE(range.end_ns, range.start_ns);
}

TEST(RangesHeld, ThatAreOpenWhenThereIsRoomAgainAreKept) {
  CapturedLog captured;
  Ranges ranges{captured.log(), captured.recorder()};
  push_and_pop(ranges, 0, EventLog::kMostHeld);
  const std::string message(2 * kLongestUnread, 'm');
  EXPECT_EQ(ranges.push({.message = message}), 0);
  const std::uint64_t outer = current_range();
  const std::uint64_t started = ranges.start({.message = "started"});
  EXPECT_EQ(ranges.push({.message = "never ended"}), 1);
  captured.open();
  captured.log().flush();
  EXPECT_EQ(ranges.push({.message = "inner"}), 2);
  EXPECT_EQ(ranges.pop(kDefault), 2);
  ranges.end(started);
  ranges.finish();
  const auto written = captured.flushed();
  std::map<std::string, RangeEvent> by_name;
  for (const auto& range : written.ranges) by_name[written.text(range.name)] = range;
  EXPECT_THAT(written.ranges, SizeIs(EventLog::kMostHeld + 4));
  EXPECT_THAT(written.notices, IsEmpty());
  EXPECT_GE(by_name.at("inner").end_ns, by_name.at("inner").start_ns);
  EXPECT_GE(by_name.at("started").end_ns, by_name.at("started").start_ns);
  EXPECT_EQ(by_name.at("started").parent, outer);
  EXPECT_EQ(by_name.at("never ended").end_ns, 0);
  EXPECT_EQ(by_name.at("inner").parent, by_name.at("never ended").id);
  EXPECT_EQ(by_name.at(message).id, outer);
}

TEST(RangesHeld, TextsOfThoseThatAreLeftOutAreNotKept) {
  CapturedLog captured;
  Ranges ranges{captured.log(), captured.recorder()};
  push_and_pop(ranges, 0, EventLog::kMostHeld);
  EXPECT_EQ(ranges.push({.message = "outer"}), 0);
  for (int i = 0; i < 20'000; ++i) {  // 60 MB
    const std::string message = std::to_string(i) + std::string(3000, 'm');
    ASSERT_EQ(ranges.push({.message = message}), 1);
    ASSERT_EQ(ranges.pop(kDefault), 1);
  }
  captured.open();
  testing::internal::CaptureStderr();
  captured.log().flush();
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("20000 events"));
  EXPECT_EQ(ranges.pop(kDefault), 0);
  const auto written = captured.flushed();
  ASSERT_THAT(written.ranges, SizeIs(EventLog::kMostHeld + 1));
  EXPECT_EQ(written.text(written.ranges.back().name), "outer");
  EXPECT_THAT(written.texts, SizeIs(1));
}

TEST_F(RangesTest, ThreadsEndEachOthersRanges) {
  constexpr std::size_t kThreads = 4, kRounds = 3000;
  std::array<std::atomic<std::uint64_t>, kThreads> handed{};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < kRounds; ++i) {
        EXPECT_EQ(ranges_.push({}), 0);
        ranges_.end(handed[t].exchange(ranges_.start({})));  // whoever comes to it first
        ranges_.end(handed[(t + 1) % kThreads].exchange(0));
        (void)current_range();
        EXPECT_EQ(ranges_.pop(kDefault), 0);
      }
    });
  }
  for (int i = 0; i < 20; ++i) captured_.log().flush();
  for (auto& thread : threads) thread.join();
  ranges_.finish();
  std::set<std::uint64_t> ids;
  for (const auto& range : captured_.flushed().ranges) EXPECT_TRUE(ids.insert(range.id).second) << range.id << " twice";
  EXPECT_THAT(ids, SizeIs(2 * kThreads * kRounds));
}

TEST_F(RangesTest, AForkedChildBeginsWithNoneOpen) {
  EXPECT_EQ(ranges_.push(named("parent's")), 0);
  ranges_.lock();
  const pid_t child = fork();
  if (child == 0) {
    ranges_.forget();
    ranges_.unlock();
    const bool right = current_range() == 0 && ranges_.pop(kDefault) == Ranges::kNotTracked && ranges_.push({}) == 0 &&
                       current_range() != 0 && ranges_.pop(kDefault) == 0;
    _exit(right ? 0 : 1);
  }
  ranges_.unlock();
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(ranges_.pop(kDefault), 0);
  EXPECT_THAT(ended(), SizeIs(1));
}

}  // namespace
}  // namespace dlkprof::inject::ranges_test
