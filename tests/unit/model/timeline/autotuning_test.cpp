#include "model/timeline/autotuning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/fold/fold.h"
#include "support/timeline_builder.h"

namespace dlkprof::model::autotuning_test {
namespace {

using test::TimelineBuilder;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::string> ops_of_works(const Timeline& timeline) {
  const Fold made = fold(timeline);
  std::vector<std::string> names;
  for (const std::uint32_t instance : made.activity_instance) names.push_back(made.ops[made.instances[instance].op].name);
  return names;
}

TEST(AutotuningTest, LaunchesInItsRangesAreLeftOutAndCounted) {
  TimelineBuilder builder;
  builder.range("step", 0, 10'000).range("dlkprof:autotuning", 100, 5'000).range("inner", 200, 1'000);
  builder.launch("first", 50, 60, 70);
  for (int i = 0; i < 1'240; ++i) builder.launch("trial", 300 + i, 2'000 + 1'000'000 * i, 1'002'000 + 1'000'000 * i);
  builder.activity(builder.call("cuMemsetD8Async", 3'000, 3'002), "[CUDA memset]", 3'100, 3'200);
  builder.launch("last", 6'000, 6'010, 6'020);
  Timeline timeline = builder.build();
  leave_out_autotuning(timeline);
  EXPECT_THAT(timeline.calls, SizeIs(2));
  EXPECT_THAT(ops_of_works(timeline), ElementsAre("/step", "/step"));
  for (const Activity& activity : timeline.activities) EXPECT_LT(activity.call, 2U);
  ASSERT_THAT(timeline.notices, SizeIs(1));
  EXPECT_EQ(timeline.notices[0].what, "1,240 launches of autotuning left out");
  EXPECT_EQ(timeline.notices[0].detail, "1.24 s of GPU time");
  EXPECT_EQ(timeline.notices[0].severity, capture::Severity::info);
  for (const Op& op : fold(timeline).ops) EXPECT_EQ(op.name, "/step") << "its ranges are no ops";
}

TEST(AutotuningTest, OtherRangesOfThatNameAreTheProgramsOwn) {
  TimelineBuilder builder;
  builder.range("dlkprof:autotuning", 100, 5'000, 0, {.domain = "mine"}).launch("kernel", 200, 300, 400);
  Timeline timeline = builder.build();
  leave_out_autotuning(timeline);
  EXPECT_THAT(timeline.activities, SizeIs(1));
  EXPECT_THAT(timeline.notices, IsEmpty());
}

TEST(AutotuningTest, WorkWhoseCallIsNotKnownStays) {
  TimelineBuilder builder;
  builder.range("dlkprof:autotuning", 100, 5'000).launch("trial", 200, 300, 400).activity(kNone, "kernel", 500, 600);
  Timeline timeline = builder.build();
  leave_out_autotuning(timeline);
  EXPECT_THAT(timeline.activities, SizeIs(1));
  EXPECT_THAT(ops_of_works(timeline), ElementsAre("unassociated_kernel"));
}

}  // namespace
}  // namespace dlkprof::model::autotuning_test
