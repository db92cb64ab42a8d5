#include "model/fold/kernel_spans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace dlkprof::model::kernel_spans_test {
namespace {

Activity kernel(std::int64_t start, std::int64_t end, std::uint32_t device = 0) {
  Activity activity;
  activity.start_ns = start;
  activity.end_ns = end;
  activity.device = device;
  activity.config = 0;
  return activity;
}

Activity copy(std::int64_t start, std::int64_t end) {
  Activity activity = kernel(start, end);
  activity.config = kNone;
  return activity;
}

std::vector<std::tuple<std::int64_t, std::int64_t, std::uint32_t>> spans(const std::vector<Activity>& activities) {
  std::vector<std::tuple<std::int64_t, std::int64_t, std::uint32_t>> all;
  for (const KernelSpan& span : spans_alone(activities, 0)) all.emplace_back(span.start_ns, span.end_ns, span.activity);
  return all;
}

using testing::ElementsAre;
using testing::IsEmpty;
using Span = std::tuple<std::int64_t, std::int64_t, std::uint32_t>;

TEST(KernelSpans, AreWhereOneKernelRunsAlone) {
  EXPECT_THAT(spans({kernel(10, 20), kernel(20, 30)}), ElementsAre(Span{10, 20, 0}, Span{20, 30, 1}));
  EXPECT_THAT(spans({kernel(10, 30), kernel(20, 40)}), ElementsAre(Span{10, 20, 0}, Span{30, 40, 1}));
  EXPECT_THAT(spans({kernel(10, 40), kernel(20, 30)}), ElementsAre(Span{10, 20, 0}, Span{30, 40, 0}));
}

TEST(KernelSpans, CopiesAreCompany) {
  EXPECT_THAT(spans({kernel(10, 40), copy(5, 15), copy(50, 60)}), ElementsAre(Span{15, 40, 0}));
}

TEST(KernelSpans, OfOtherDevicesAndUntimedWorkDoNotCount) {
  EXPECT_THAT(spans({kernel(10, 20), kernel(5, 25, 1), kernel(0, 0), kernel(12, 12)}), ElementsAre(Span{10, 20, 0}));
  EXPECT_THAT(spans({}), IsEmpty());
}

TEST(KernelSpans, AreFoundByIntervals) {
  const std::vector<Activity> activities{kernel(10, 20), kernel(20, 30)};
  const auto all = spans_alone(activities, 0);
  const Occupation ran = occupation(activities, 0);
  EXPECT_EQ(span_within(all, 10, 20), &all[0]);
  EXPECT_EQ(span_within(all, 5, 11), &all[0]);
  EXPECT_EQ(span_within(all, 25, 35), &all[1]);
  EXPECT_EQ(span_within(all, 30, 31), nullptr);
  EXPECT_EQ(span_within(all, 0, 10), nullptr);
  EXPECT_EQ(ran.count(10, 20), 1U);
  EXPECT_EQ(ran.count(15, 25), 2U);
  EXPECT_EQ(ran.count(30, 40), 0U);
  EXPECT_EQ(ran.count(0, 10), 0U);
}

// What brute force says of random works: an interval lies in a span if one kernel alone runs all the time.
TEST(KernelSpans, AgreeWithCountingEveryNanosecond) {
  std::mt19937 random(3);  // NOLINT: the same each time
  for (int round = 0; round < 200; ++round) {
    std::vector<Activity> activities;
    for (int i = 0; i < 8; ++i) {
      const std::int64_t start = 1 + random() % 60;
      const std::int64_t end = start + random() % 20;
      activities.push_back(random() % 5 == 0 ? copy(start, end) : kernel(start, end));
    }
    const auto all = spans_alone(activities, 0);
    const auto alone_at = [&](std::int64_t ns) {
      std::uint32_t found = kNone, under_way = 0;
      for (std::uint32_t i = 0; i < activities.size(); ++i) {
        if (activities[i].start_ns > ns || ns >= activities[i].end_ns) continue;
        ++under_way;
        if (activities[i].config != kNone) found = i;
      }
      return under_way == 1 ? found : kNone;
    };
    for (std::int64_t ns = 0; ns < 90; ++ns) {
      const KernelSpan* span = span_within(all, ns, ns + 1);
      EXPECT_EQ(span == nullptr ? kNone : span->activity, alone_at(ns)) << round << " " << ns;
    }
    for (std::size_t i = 1; i < all.size(); ++i) EXPECT_LE(all[i - 1].end_ns, all[i].start_ns);
  }
}

}  // namespace
}  // namespace dlkprof::model::kernel_spans_test
