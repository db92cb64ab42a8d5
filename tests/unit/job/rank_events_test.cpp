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

}  // namespace
}  // namespace dlkprof::job::rank_events_test
