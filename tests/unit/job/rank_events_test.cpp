#include "job/rank_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "advise/diagnosis.h"
#include "store/database.h"
#include "support/event_capture.h"
#include "support/temporary_directory.h"

namespace dlkprof::job::rank_events_test {
namespace {

using test::range_id;

std::vector<Rank> ranks_from(model::Timeline timeline) {
  model::Profile profile;
  profile.timeline = std::move(timeline);
  profile.fold = model::fold(profile.timeline);
  profile.aggregate = model::aggregate(profile.timeline, profile.fold);
  return ranks_of(profile);
}

// An all-reduce in a range that says its size, with one of NCCL's own inside, and one in a range that does not.
TEST(RankEvents, HaveTheSizeOfMessages) {
  test::EventCapture events;
  capture::RangeEvent& outer = events.range(range_id(0), 0, 100, 300, "ncclAllReduce");
  outer.payload_type = capture::kMessageBytes;
  outer.payload_bits = 4096;
  events.range(range_id(1), range_id(0), 110, 290, "ncclGroupEnd");
  events.range(range_id(2), 0, 400, 600, "ncclAllReduce");
  events.call(1, range_id(1), 120, 130);
  events.call(2, range_id(2), 420, 430);
  events.activity(1, 150, 250, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  events.activity(2, 450, 550, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  const test::TemporaryDirectory folder;
  const std::vector<std::filesystem::path> files{test::write_capture(folder.path(), events.records())};
  const auto sizes = [](const std::vector<Rank>& ranks) {
    std::vector<std::uint32_t> all;
    for (const RankCollective& one : ranks.at(0).collectives) all.push_back(one.bytes);
    return all;
  };
  EXPECT_THAT(sizes(ranks_from(model::load_timeline(files))), testing::ElementsAre(4096, kNone));

  model::Profile profile;
  profile.timeline = model::load_timeline(files);
  profile.fold = model::fold(profile.timeline);
  profile.aggregate = model::aggregate(profile.timeline, profile.fold);
  store::write_database(folder.path() / "run.sqlite", profile, advise::diagnosis_of(profile));
  EXPECT_THAT(sizes(ranks_from(store::read_timeline(folder.path() / "run.sqlite"))), testing::ElementsAre(4096, kNone));
}

// All-reduces beside kernels of another stream: one of them, then two that overlap and go on longer.
TEST(RankEvents, TellWhereCollectivesRunAlone) {
  RankEvents from;
  from.about.ops = {{"/allreduce", "", "allreduce"}, {"/mm", "", "mm"}};
  from.about.kinds = {"ncclDevKernel_AllReduce_Sum_f32_RING_LL"};
  const auto add = [&from](std::int64_t start, std::int64_t end, bool is_collective) {
    from.events.push_back({start, end, is_collective ? 0U : 1U, 0, is_collective ? 20U : 7U, is_collective ? 0U : kNone, kNone});
  };
  add(100, 200, true);
  add(150, 170, false);
  add(300, 500, true);
  add(350, 420, false);
  add(400, 600, false);
  add(700, 800, true);
  from.iterations = {{.iteration = 0, .start_ns = 0, .length_ns = 1000}};
  const Rank rank = aggregate_rank(from);
  std::vector<std::int64_t> exposed;
  for (const RankCollective& one : rank.collectives) exposed.push_back(one.exposed_ns);
  EXPECT_THAT(exposed, testing::ElementsAre(80, 50, 100));
  EXPECT_EQ(rank.iterations.at(0).exposed_ns, 80 + 50 + 100);
}

}  // namespace
}  // namespace dlkprof::job::rank_events_test
