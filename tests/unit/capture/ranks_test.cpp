#include "capture/ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/error.h"

namespace dlkprof::capture::ranks_test {
namespace {

TEST(Ranks, AreNumbersAndRanges) {
  const Ranks ranks = Ranks::parse("0,8-15,4294967295");
  for (const std::uint32_t rank : {0U, 8U, 11U, 15U, ~0U}) EXPECT_TRUE(ranks.contains(rank)) << rank;
  for (const std::uint32_t rank : {1U, 7U, 16U, ~0U - 1}) EXPECT_FALSE(ranks.contains(rank)) << rank;
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
                         testing::Values("", ",", "0,", "-1", "1-", "3-2", "1-2-3", " 1", "0x1", "all", "4294967296", "1\n"));

class RankOfProcess : public testing::Test {
 protected:
  void SetUp() override { clear(); }
  void TearDown() override { clear(); }

  static void clear() {
    for (const char* name : {"RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID", "SLURM_STEP_ID"})
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

TEST_F(RankOfProcess, LeavesOutThoseOfOtherRanksAlone) {
  EXPECT_FALSE(is_of_another_rank("1")) << "the launcher has none";
  setenv("RANK", "2", 1);
  EXPECT_FALSE(is_of_another_rank(""));
  EXPECT_FALSE(is_of_another_rank("0-2"));
  EXPECT_TRUE(is_of_another_rank("0,1,3-9"));
}

}  // namespace
}  // namespace dlkprof::capture::ranks_test
