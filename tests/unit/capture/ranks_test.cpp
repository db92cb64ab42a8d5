#include "capture/ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"

namespace dlkprof::capture::ranks_test {
namespace {

TEST(Ranks, AreNumbersAndRanges) {
  const Ranks ranks = Ranks::parse("0,8-15,4294967295");
  for (const std::uint32_t rank : {0U, 8U, 11U, 15U, ~0U}) EXPECT_TRUE(ranks.contains({.rank = rank})) << rank;
  for (const std::uint32_t rank : {1U, 7U, 16U, ~0U - 1}) EXPECT_FALSE(ranks.contains({.rank = rank})) << rank;
}

TEST(Ranks, AreTheFirstOfEachNode) {
  const Ranks ranks = Ranks::parse("2/node,7");
  const auto contains = [&ranks](std::uint32_t rank) { return ranks.contains({.rank = rank, .on_node = rank % 4, .ranks = 16}); };
  for (const std::uint32_t rank : {0U, 1U, 4U, 7U, 13U}) EXPECT_TRUE(contains(rank)) << rank;
  for (const std::uint32_t rank : {2U, 3U, 6U, 15U}) EXPECT_FALSE(contains(rank)) << rank;
}

std::vector<std::uint32_t> drawn(const char* text, std::uint32_t all) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t rank = 0; rank < all; ++rank) {
    if (Ranks::parse(text).contains({.rank = rank, .on_node = rank % 8, .ranks = all})) found.push_back(rank);
  }
  return found;
}

TEST(Ranks, AreASampleOfTheJob) {
  for (const std::uint32_t all : {16U, 17U, 64U, 1000U, 10'000U}) {
    const std::vector<std::uint32_t> found = drawn("16/job", all);
    ASSERT_THAT(found, testing::SizeIs(16)) << all;
    for (std::uint32_t part = 0; part < 16; ++part) {  // one of each part
      EXPECT_GE(found[part], part * all / 16);
      EXPECT_LT(found[part], (part + 1) * all / 16);
    }
  }
  std::set<std::uint32_t> places;  // not always the same GPU of a node
  for (const std::uint32_t rank : drawn("16/job", 1024)) places.insert(rank % 8);
  EXPECT_GE(places.size(), 4U);
  EXPECT_THAT(drawn("16/job", 8), testing::SizeIs(8));
}

TEST(Ranks, LeaveNoProcessOutThatCannotTellWhereItIs) {
  EXPECT_TRUE(Ranks::parse("1/node").contains({.rank = 3, .on_node = {}, .ranks = 8}));
  EXPECT_THAT(Ranks::parse("1/node").lacking({.rank = 3, .on_node = {}, .ranks = 8}), testing::HasSubstr("LOCAL_RANK"));
  EXPECT_THAT(Ranks::parse("8/job").lacking({.rank = 3, .on_node = 1, .ranks = {}}), testing::HasSubstr("WORLD_SIZE"));
  EXPECT_EQ(Ranks::parse("1/node,8/job,3").lacking({.rank = 3, .on_node = 1, .ranks = 8}), nullptr);
}

class WrongRanks : public testing::TestWithParam<const char*> {};
TEST_P(WrongRanks, AreRefused) {
  try {
    (void)Ranks::parse(GetParam());
    FAIL() << "taken: " << GetParam();
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), testing::HasSubstr("--ranks"));
    EXPECT_THAT(error.remedy(), testing::HasSubstr("8-15"));
  }
}
INSTANTIATE_TEST_SUITE_P(Text, WrongRanks,
                         testing::Values("", ",", "0,", "-1", "1-", "3-2", "1-2-3", " 1", "0x1", "all", "4294967296", "1\n",
                                         "/node", "0/node", "1/nodes", "-1/job", "1-2/node", "1/2"));

class RankOfProcess : public testing::Test {
 protected:
  void SetUp() override { clear(); }
  void TearDown() override { clear(); }

  static void clear() {
    for (const char* name : {"RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID", "SLURM_STEP_ID",
                             "LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID", "WORLD_SIZE",
                             "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"})
      unsetenv(name);
  }
};

TEST_F(RankOfProcess, IsWhatTheInnermostLauncherSays) {
  EXPECT_EQ(rank_of_process(), std::nullopt);
  setenv("SLURM_PROCID", "7", 1);
  EXPECT_EQ(rank_of_process(), std::nullopt) << "a batch script";
  setenv("SLURM_STEP_ID", "0", 1);
  EXPECT_EQ(rank_of_process(), 7U);
  setenv("OMPI_COMM_WORLD_RANK", "3", 1);
  EXPECT_EQ(rank_of_process(), 3U);
  setenv("RANK", "first", 1);
  EXPECT_EQ(rank_of_process(), 3U) << "RANK may be somebody else's";
  setenv("RANK", "1", 1);
  EXPECT_EQ(rank_of_process(), 1U);
}

TEST_F(RankOfProcess, HasOthersBesideItAsFarAsIsSaid) {
  EXPECT_FALSE(has_other_ranks());
  setenv("RANK", "0", 1);
  EXPECT_TRUE(has_other_ranks()) << "how many is not said";
  setenv("WORLD_SIZE", "1", 1);
  EXPECT_FALSE(has_other_ranks());
  setenv("WORLD_SIZE", "2", 1);
  EXPECT_TRUE(has_other_ranks());
}

TEST_F(RankOfProcess, HasAPlaceOnItsNodeAndInTheJob) {
  EXPECT_FALSE(place_of_process());
  setenv("RANK", "9", 1);
  EXPECT_EQ(place_of_process()->on_node, std::nullopt);
  setenv("SLURM_LOCALID", "5", 1);
  EXPECT_EQ(place_of_process()->on_node, std::nullopt) << "a batch script";
  setenv("SLURM_STEP_ID", "0", 1);
  setenv("SLURM_STEP_NUM_TASKS", "32", 1);
  EXPECT_EQ(place_of_process()->on_node, 5U);
  EXPECT_EQ(place_of_process()->ranks, 32U);
  setenv("LOCAL_RANK", "1", 1);
  setenv("WORLD_SIZE", "16", 1);
  EXPECT_EQ(place_of_process()->on_node, 1U);
  EXPECT_EQ(place_of_process()->ranks, 16U);
  EXPECT_TRUE(is_of_another_rank("1/node"));
  EXPECT_FALSE(is_of_another_rank("2/node"));
}

TEST_F(RankOfProcess, LeavesOutThoseOfOtherRanksAlone) {
  EXPECT_FALSE(is_of_another_rank("1")) << "the launcher has none";
  setenv("RANK", "2", 1);
  EXPECT_FALSE(is_of_another_rank(""));
  EXPECT_FALSE(is_of_another_rank("0-2"));
  EXPECT_TRUE(is_of_another_rank("0,1,3-9"));
}

}  // namespace
}  // namespace dlkprof::capture::ranks_test
