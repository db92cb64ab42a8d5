#include "inject/timeline/ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "capture/message.h"
#include "inject/timeline/range_visit.h"
#include "unit/inject/ranges_fixture.h"

namespace dlkprof::inject::ranges_test {
namespace {

using capture::RangeEvent;
using capture::RangeKind;
using test::CapturedLog;
using test::on_other_thread;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST_F(RangesTest, NestAndNameTheirParents) {
  EXPECT_EQ(current_range(), 0U);
  const auto before = event_clock_ns();
  EXPECT_EQ(ranges_.push({.name = captured_.log().intern("outer"), .category = 5, .payload_type = 2, .payload_bits = ~0ULL}), 0);
  const auto outer = current_range();
  EXPECT_EQ(ranges_.push(named("inner")), 1);
  EXPECT_NE(current_range(), outer);
  EXPECT_EQ(ranges_.pop(kDefault), 1);
  EXPECT_EQ(current_range(), outer);
  EXPECT_EQ(ranges_.pop(kDefault), 0);
  EXPECT_EQ(current_range(), 0U);

  const auto found = ended();
  const RangeEvent& first = found.at("outer");
  const RangeEvent& second = found.at("inner");
  EXPECT_EQ(first.id, outer);
  EXPECT_EQ(first.id >> 40U, 1U);
  EXPECT_EQ(first.parent, 0U);
  EXPECT_EQ(first.thread, static_cast<std::uint32_t>(gettid()));
  EXPECT_EQ(first.kind, RangeKind::push_pop);
  EXPECT_EQ(first.category, 5U);
  EXPECT_EQ(first.payload_type, 2U);
  EXPECT_EQ(first.payload_bits, ~0ULL);
  EXPECT_EQ(second.id, outer + 1);
  EXPECT_EQ(second.parent, outer);
  EXPECT_LE(before, first.start_ns);
  EXPECT_LE(first.start_ns, second.start_ns);
  EXPECT_LE(second.start_ns, second.end_ns);
  EXPECT_LE(second.end_ns, first.end_ns);
}

TEST_F(RangesTest, TellWhetherTheirThreadIsAutotuning) {
  const auto other = ranges_.start(named("of another kind"));
  const auto elsewhere = ranges_.start(named(capture::kAutotuning, captured_.log().intern("domain")));
  EXPECT_FALSE(in_autotuning());
  const auto tuning = ranges_.start(named(capture::kAutotuning));
  EXPECT_TRUE(in_autotuning());
  on_other_thread([] { EXPECT_FALSE(in_autotuning()); });
  ranges_.end(other);
  ranges_.end(elsewhere);
  EXPECT_TRUE(in_autotuning());
  ranges_.end(tuning);
  EXPECT_FALSE(in_autotuning());
}

TEST_F(RangesTest, PopEndsTheInnermostOfItsDomainOnly) {
  const auto domain = captured_.log().intern("domain");
  EXPECT_EQ(ranges_.push(named("a")), 0);
  EXPECT_EQ(ranges_.push(named("b", domain)), 0);
  const auto b = current_range();
  EXPECT_EQ(ranges_.pop(kDefault), 0);
  EXPECT_EQ(current_range(), b);
  EXPECT_EQ(ranges_.push(named("c")), 0);
  EXPECT_EQ(ranges_.push(named("d", domain)), 1);
  EXPECT_EQ(ranges_.pop(domain), 1);
  EXPECT_EQ(ranges_.pop(domain), 0);
  EXPECT_EQ(ranges_.pop(domain), Ranges::kNotTracked);
  EXPECT_EQ(ranges_.pop(kDefault), 0);

  const auto found = ended();
  EXPECT_EQ(found.at("b").parent, found.at("a").id);
  EXPECT_EQ(found.at("c").parent, b);
  EXPECT_EQ(found.at("d").parent, found.at("c").id);
  EXPECT_EQ(found.at("d").domain, domain);
}

TEST_F(RangesTest, PopWithoutPushIsIgnored) {
  EXPECT_EQ(ranges_.pop(kDefault), Ranges::kNotTracked);
  EXPECT_EQ(ranges_.push(named("a")), 0);
  EXPECT_EQ(ranges_.pop(99), Ranges::kNotTracked);
  on_other_thread([&] { EXPECT_EQ(ranges_.pop(kDefault), Ranges::kNotTracked); });
  EXPECT_EQ(ranges_.pop(kDefault), 0);
  EXPECT_THAT(ended(), SizeIs(1));
}

TEST_F(RangesTest, StartedRangesEndInAnyOrder) {
  const auto first = ranges_.start(named("first"));
  const auto second = ranges_.start(named("second"));
  EXPECT_EQ(current_range(), second);
  EXPECT_EQ(ranges_.push(named("pushed")), 0) << "levels are those of push/pop";
  const auto pushed = current_range();
  ranges_.end(first);
  EXPECT_EQ(ranges_.pop(kDefault), 0);
  EXPECT_EQ(current_range(), second);
  ranges_.end(second);
  EXPECT_EQ(current_range(), 0U);

  const auto found = ended();
  EXPECT_EQ(found.at("first").kind, RangeKind::start_end);
  EXPECT_EQ(found.at("second").parent, first);
  EXPECT_EQ(found.at("pushed").id, pushed);
  EXPECT_EQ(found.at("pushed").parent, second);
}

TEST_F(RangesTest, AnotherThreadMayEndThem) {
  const auto outer = ranges_.start(named("outer"));
  const auto inner = ranges_.start(named("inner"));
  on_other_thread([&] {
    EXPECT_EQ(ranges_.push(named("other's")), 0);
    ranges_.end(inner);
    EXPECT_NE(current_range(), outer);
    EXPECT_EQ(ranges_.pop(kDefault), 0);
  });
  EXPECT_EQ(current_range(), outer);
  ranges_.end(outer);
  const auto found = ended();
  EXPECT_EQ(found.at("inner").thread, static_cast<std::uint32_t>(gettid()));
  EXPECT_EQ(found.at("other's").parent, 0U);
  EXPECT_EQ(found.at("other's").id >> 40U, 2U);
}

TEST_F(RangesTest, NumbersThatAreNoStartedRangeAreIgnored) {
  const auto started = ranges_.start(named("started"));
  EXPECT_EQ(ranges_.push(named("pushed")), 0);
  for (const auto wrong : {std::uint64_t{0}, std::uint64_t{1}, current_range(), started + 7, started << 3U, ~std::uint64_t{0}}) {
    ranges_.end(wrong);
  }
  EXPECT_THAT(ended(), IsEmpty());
  ranges_.end(started);
  ranges_.end(started);
  EXPECT_THAT(ended(), SizeIs(1));
}

TEST_F(RangesTest, MarksHaveAParentAndNoLength) {
  EXPECT_EQ(ranges_.push(named("range")), 0);
  const auto range = current_range();
  ranges_.mark(named("mark"));
  EXPECT_EQ(current_range(), range);
  EXPECT_EQ(ranges_.pop(kDefault), 0);
  const auto mark = ended().at("mark");
  EXPECT_EQ(mark.kind, RangeKind::mark);
  EXPECT_EQ(mark.parent, range);
  EXPECT_EQ(mark.id, range + 1);
  EXPECT_NE(mark.start_ns, 0);
  EXPECT_EQ(mark.start_ns, mark.end_ns);
}

TEST_F(RangesTest, NumbersAreTakenOutOfMessages) {
  EXPECT_EQ(ranges_.push(named("aten::mm, seq = 7, op_id = 9, sizes = [[4, 8]]")), 0);
  EXPECT_EQ(ranges_.push(named("aten::mm, seq = 8, op_id = 10, sizes = [[4, 8]]")), 1);
  EXPECT_EQ(ranges_.pop(kDefault), 1);
  EXPECT_EQ(ranges_.pop(kDefault), 0);
  const auto written = captured_.flushed();
  ASSERT_THAT(written.ranges, SizeIs(2));
  EXPECT_THAT(written.texts, SizeIs(1));
  EXPECT_EQ(written.text(written.ranges[0].name), "aten::mm, seq = , op_id = , sizes = [[4, 8]]");
  EXPECT_EQ(written.ranges[0].name, written.ranges[1].name);
  EXPECT_EQ(written.ranges[0].sequence, 8U);
  EXPECT_EQ(written.ranges[1].op_id, 9U);
}

TEST_F(RangesTest, MessagesAreKeptWhileTheProgramReusesItsMemory) {
  const auto domain = captured_.log().intern("domain");
  std::string text = "outer";
  const auto next = [&](const char* name, std::uint32_t of = kDefault) {
    text.assign(name);
    return named(text, of);
  };
  EXPECT_EQ(ranges_.push(next("outer")), 0);
  EXPECT_EQ(ranges_.push(next("domain's", domain)), 0);
  const auto started = ranges_.start(next("started"));
  EXPECT_EQ(ranges_.pop(domain), 0);  // from amid the others
  EXPECT_EQ(ranges_.push(next("inner", domain)), 0);
  ranges_.end(started);
  EXPECT_EQ(ranges_.pop(domain), 0);
  EXPECT_EQ(ranges_.push(next("last")), 1);
  ranges_.mark(next("mark"));
  captured_.log().flush();
  EXPECT_EQ(ranges_.pop(kDefault), 1);
  EXPECT_EQ(ranges_.pop(kDefault), 0);
  text.assign("gone");
  const auto found = ended();
  EXPECT_THAT(found, SizeIs(6));
  for (const char* name : {"outer", "domain's", "started", "inner", "last", "mark"}) EXPECT_TRUE(found.contains(name)) << name;
}

TEST_F(RangesTest, LongMessagesAndManyOfThemAreKeptToo) {
  std::vector<std::string> texts;
  for (const std::size_t bytes : {kLongestUnread - 1, kLongestUnread, kLongestUnread + 1, EventLog::kMaxText}) {
    texts.emplace_back(bytes, 'x');
  }
  for (char c = 'a'; c <= 'z'; ++c) texts.emplace_back(kLongestUnread - 2, c);  // more than are kept until they are written
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(ranges_.push(named(texts[i])), static_cast<int>(i));
  for (std::size_t i = texts.size(); i-- > 0;) EXPECT_EQ(ranges_.pop(kDefault), static_cast<int>(i));
  const auto found = ended();
  EXPECT_THAT(found, SizeIs(texts.size()));
  for (const auto& text : texts) EXPECT_TRUE(found.contains(text)) << text.front() << text.size();
}

TEST_F(RangesTest, ManyDomainsComeAndGo) {
  std::vector<std::uint32_t> domains;
  for (int i = 0; i < 40; ++i) domains.push_back(captured_.log().intern("domain " + std::to_string(i)));
  for (int round = 0; round < 2; ++round) {
    for (const auto domain : domains) EXPECT_EQ(ranges_.push({.domain = domain}), 0);
    for (const auto domain : domains) EXPECT_EQ(ranges_.pop(domain), 0);
    for (const auto domain : domains) EXPECT_EQ(ranges_.pop(domain), Ranges::kNotTracked);
  }
  EXPECT_THAT(captured_.flushed().ranges, SizeIs(2 * domains.size()));
}

TEST_F(RangesTest, DomainsTakeTurns) {
  const auto domain = captured_.log().intern("domain");
  constexpr int kTurns = 1000;
  EXPECT_EQ(ranges_.push(named("outer")), 0);
  const auto outer = ranges_.start(named("started"));
  EXPECT_EQ(ranges_.push({}), 1);
  for (int i = 0; i < kTurns; ++i) {  // the one that ends is never the innermost
    ASSERT_EQ(ranges_.push({.domain = domain}), 0);
    ASSERT_EQ(ranges_.pop(kDefault), 1);
    ASSERT_EQ(ranges_.push({}), 1);
    ASSERT_EQ(ranges_.pop(domain), 0);
  }
  const auto last = current_range();
  ranges_.end(outer);
  EXPECT_EQ(current_range(), last);
  EXPECT_EQ(ranges_.pop(kDefault), 1);
  EXPECT_NE(current_range(), 0U);
  EXPECT_EQ(ranges_.pop(kDefault), 0);
  EXPECT_EQ(current_range(), 0U);
  const auto written = captured_.flushed().ranges;
  EXPECT_THAT(written, SizeIs(2 * kTurns + 3));
  for (const auto& range : written) EXPECT_GE(range.end_ns, range.start_ns);
}

TEST_F(RangesTest, ThousandsNest) {
  constexpr int kDeep = 20'000;
  for (int i = 0; i < kDeep; ++i) ASSERT_EQ(ranges_.push({.category = static_cast<std::uint32_t>(i)}), i);
  for (int i = kDeep; i-- > 0;) ASSERT_EQ(ranges_.pop(kDefault), i);
  const auto written = captured_.flushed().ranges;
  ASSERT_THAT(written, SizeIs(kDeep));
  for (const auto& range : written) {
    EXPECT_EQ(range.parent, range.category > 0 ? range.id - 1 : 0);
  }
}

// What a program does at random, by way of push_text() and pop() or of those that take any domain: what they return, and of each
// range that is written its name, its parent's, and whether it ended in time.
struct Outcome {
  std::vector<int> returned;
  std::multiset<std::tuple<std::string, std::string, bool>> ranges;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

struct Course {
  unsigned pushes = 45, pops = 35;  // of 100 things that are done
  std::size_t held = 0;             // ranges before, while there is no capture yet
};

Outcome what_becomes_of(unsigned seed, bool quick, const Course& course) {
  CapturedLog captured;
  if (course.held == 0) captured.open();
  Ranges ranges(captured.log(), captured.recorder());
  const auto domain = captured.log().intern("domain");
  for (std::size_t i = 0; i < course.held; ++i) ranges.mark({});
  std::mt19937 random(seed);
  std::vector<std::uint64_t> started;
  Outcome outcome;
  const auto act = [&](int number) {
    const std::string name = "range " + std::to_string(number) + std::string(random() % 60, 'x');
    auto what = random() % 100;
    const auto is = [&what](unsigned share) {
      const bool yes = what < share;
      what -= yes ? 0 : share;
      return yes;
    };
    if (is(course.pushes)) return outcome.returned.push_back(quick ? ranges.push_text(name) : ranges.push({.message = name}));
    if (is(course.pops)) return outcome.returned.push_back(quick ? ranges.pop() : ranges.pop(kDefault));
    Ranges::Visit visit(ranges);  // as calls of programs are made
    if (is(5)) {
      const RangeAttributes attributes{.domain = domain, .message = name};
      return outcome.returned.push_back(quick ? visit.push(attributes) : ranges.push(attributes));
    }
    if (is(5)) return outcome.returned.push_back(quick ? visit.pop(domain) : ranges.pop(domain));
    if (is(4)) return started.push_back(quick ? visit.start({.message = name}) : ranges.start({.message = name}));
    if (is(4) && !started.empty()) {
      const std::uint64_t range = started[random() % started.size()];
      return quick ? visit.end(range) : ranges.end(range);
    }
    ranges.mark({.message = name});
  };
  for (int i = 0; i < 2000; ++i) act(i);
  if (course.held > 0) captured.open();
  for (int i = 2000; i < 4000; ++i) act(i);
  testing::internal::CaptureStderr();  // ranges that there was no room for
  ranges.finish();
  const auto written = captured.flushed();
  testing::internal::GetCapturedStderr();
  for (int i = 0; i < 100; ++i) act(i);  // of no effect

  std::map<std::uint64_t, std::string> names;
  for (const auto& range : written.ranges) names[range.id] = written.text(range.name);
  for (const auto& range : written.ranges) {
    outcome.ranges.emplace(names[range.id], names[range.parent], range.end_ns >= range.start_ns);
  }
  EXPECT_THAT(captured.flushed().ranges, SizeIs(written.ranges.size()));
  return outcome;
}

TEST(RangesQuick, AreWhatAnyOthersAre) {
  const Course courses[] = {{}, {.pushes = 40, .pops = 40}, {.pushes = 75, .pops = 5}, {.held = EventLog::kMostHeld - 100}};
  for (const Course& course : courses) {
    for (unsigned seed = 0; seed < 3; ++seed) {
      const Outcome quick = what_becomes_of(seed, true, course);
      EXPECT_THAT(quick.ranges, SizeIs(testing::Gt(1000)));
      EXPECT_EQ(quick, what_becomes_of(seed, false, course)) << seed << ' ' << course.pushes << ' ' << course.held;
    }
  }
}

// More than are open at once in the random courses.
TEST_F(RangesTest, ThousandsOfTextsNest) {
  constexpr int kMost = static_cast<int>(Ranges::kMostOpen);
  for (int i = 0; i < kMost; ++i) ASSERT_EQ(ranges_.push_text("a"), i);
  EXPECT_EQ(ranges_.push_text("lost"), kMost);
  EXPECT_EQ(ranges_.pop(), kMost);
  for (int i = kMost; i-- > 0;) ASSERT_EQ(ranges_.pop(), i);
  EXPECT_EQ(ranges_.pop(), Ranges::kNotTracked);
  const auto written = captured_.flushed().ranges;
  ASSERT_THAT(written, SizeIs(kMost));
  for (const auto& range : written) EXPECT_EQ(range.parent, range.id % kMost == 0 ? 0 : range.id - 1);
}

TEST_F(RangesTest, TextsWithinOneThatIsCountedOnlyAreCountedOnly) {
  std::vector<std::uint64_t> started;
  EXPECT_EQ(ranges_.push_text("outer"), 0);
  while (started.size() + 1 < Ranges::kMostOpen) started.push_back(ranges_.start({}));
  EXPECT_EQ(ranges_.push_text("lost"), 1);
  ranges_.mark({});  // so that there is room in the batch again
  for (const std::uint64_t range : started) ranges_.end(range);
  EXPECT_EQ(ranges_.push_text("lost too"), 2);
  EXPECT_EQ(ranges_.pop(), 2);
  EXPECT_EQ(ranges_.pop(), 1);
  EXPECT_EQ(ranges_.push_text("kept"), 1);
  EXPECT_EQ(ranges_.pop(), 1);
  EXPECT_EQ(ranges_.pop(), 0);
  EXPECT_THAT(captured_.flushed().ranges, SizeIs(Ranges::kMostOpen + 2));
}

TEST_F(RangesTest, TextsOfAnyLengthMayBePushed) {
  const std::string longest(kLongestUnread + 1, 'x');
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, kLongestUnread, kLongestUnread + 1}) {
    EXPECT_EQ(ranges_.push_text(std::string_view(longest).substr(0, size)), 0);
    EXPECT_EQ(ranges_.pop(), 0);
    EXPECT_EQ(ranges_.pop(), Ranges::kNotTracked);
  }
  const auto written = captured_.flushed();
  std::vector<std::size_t> sizes;
  for (const auto& range : written.of_domain("")) sizes.push_back(written.text(range.name).size());
  EXPECT_THAT(sizes, ElementsAre(0, 1, kLongestUnread, kLongestUnread + 1));
}

}  // namespace
}  // namespace dlkprof::inject::ranges_test
