#include "job/merge.h"

#include <algorithm>
#include <fstream>
#include <memory>
#include <random>

#include "base/error.h"
#include "job_fixture.h"

namespace dlkprof::job::merge_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class MergeTest : public JobTest {
 protected:
  // A file a rank.
  std::vector<std::filesystem::path> files_of(const test::SimulatedJob& job) {
    std::vector<std::filesystem::path> files;
    for (const Rank& rank : simulate(job)) {
      files.push_back(path("rank" + std::to_string(files.size())));
      write_job(files.back(), {rank});
    }
    return files;
  }
};

// 1,000 trees, in tests short enough for a slow machine. Sanitizers make SQLite slow, and find the same in fewer.
#ifdef DLKPROF_SANITIZED
constexpr std::uint32_t kTreeTests = 2, kTrees = 6;
#else
constexpr std::uint32_t kTreeTests = 8, kTrees = 125;
#endif
constexpr std::uint32_t kTreeRanks = 16;

// Files of ranks that do not share all ops, so that names are numbered anew in each step. The same for all trees.
class MergeTrees : public MergeTest, public testing::WithParamInterface<std::uint32_t> {
 protected:
  static void SetUpTestSuite() {
    folder_of_ranks_ = std::make_unique<test::TemporaryDirectory>();
    const std::vector<test::RecordedOp> all(cifar10_ops().begin(), cifar10_ops().begin() + 6);
    for (std::uint32_t i = 0; i < kTreeRanks; ++i) {
      std::vector<test::RecordedOp> ops = all;
      ops[i % 6].name.name += "_of_" + std::to_string(i);
      test::SimulatedJob job{.ranks = kTreeRanks, .iterations = 1, .seed = i};
      for (std::uint32_t other = 0; other < kTreeRanks; ++other) {
        if (other != i) job.missing.insert(other);
      }
      files_.push_back(folder_of_ranks_->path() / ("rank" + std::to_string(i)));
      test::JobSimulator(job, ops).run([](const Rank& rank) { write_job(files_.back(), {rank}); });
    }
    merge_jobs(files_, folder_of_ranks_->path() / "whole");
    whole_ = bytes_of(folder_of_ranks_->path() / "whole");
  }
  static void TearDownTestSuite() {
    folder_of_ranks_.reset();
    files_.clear();
  }

  // Some files at a time, until one is left.
  std::filesystem::path merge_in_a_tree(std::mt19937& random) {
    std::vector<std::filesystem::path> left = files_;
    for (int made = 0; left.size() > 1; ++made) {
      std::shuffle(left.begin(), left.end(), random);
      const std::size_t some = std::uniform_int_distribution<std::size_t>(2, std::min<std::size_t>(left.size(), 8))(random);
      const std::filesystem::path part = path("part" + std::to_string(made));
      merge_jobs({left.end() - static_cast<std::ptrdiff_t>(some), left.end()}, part);
      left.resize(left.size() - some);
      left.push_back(part);
    }
    return left.front();
  }

  static inline std::unique_ptr<test::TemporaryDirectory> folder_of_ranks_;
  static inline std::vector<std::filesystem::path> files_;
  static inline std::string whole_;
};

TEST_P(MergeTrees, GiveTheSameBytes) {
  ASSERT_THAT(JobDatabase(folder_of_ranks_->path() / "whole").heads(), SizeIs(kTreeRanks));
  std::mt19937 random(GetParam());
  for (std::uint32_t tree = 0; tree < kTrees; ++tree) ASSERT_TRUE(bytes_of(merge_in_a_tree(random)) == whole_) << tree;
}

INSTANTIATE_TEST_SUITE_P(Seeds, MergeTrees, testing::Range(1U, kTreeTests + 1));

TEST_F(MergeTest, TellsMissingRanks) {
  const Merged merged = merge_jobs(files_of({.ranks = 8, .iterations = 2, .missing = {2, 7}}), path("job"));
  EXPECT_EQ(merged.ranks, 6U);
  EXPECT_THAT(merged.missing, ElementsAre(2, 7));
  EXPECT_THAT(warnings_of(merged), Contains("2 of 8 ranks are missing: 2, 7"));
}

TEST_F(MergeTest, TellsRunsThatDoNotSayWhichRankTheyAreOf) {
  std::vector<Rank> ranks = simulate({.ranks = 3, .iterations = 2});
  write_job(path("all"), ranks);
  EXPECT_THAT(warnings_of(merge_jobs({path("all")}, path("numbered"))), IsEmpty());
  for (const std::size_t i : {0U, 2U}) ranks[i].identity.number.reset();
  write_job(path("all"), ranks);
  const std::vector<std::string> told = warnings_of(merge_jobs({path("all")}, path("unnumbered")));
  EXPECT_THAT(told, Contains(HasSubstr("2 of 3 captures do not say which rank they are of")));
  ranks.resize(1);
  write_job(path("one"), ranks);
  EXPECT_THAT(warnings_of(merge_jobs({path("one")}, path("lone"))), testing::Not(Contains(HasSubstr("do not say"))));
}

TEST_F(MergeTest, CountsAProcessOnce) {
  std::vector<std::filesystem::path> files = files_of({.ranks = 3, .iterations = 2});
  merge_jobs(files, path("once"));
  files.push_back(files[1]);
  const Merged merged = merge_jobs(files, path("twice"));
  EXPECT_THAT(merged.given_twice, SizeIs(1));
  EXPECT_EQ(bytes_of(path("once")), bytes_of(path("twice")));
}

TEST_F(MergeTest, TakesTheFullestOfSeveralProcessesOfARank) {
  std::vector<Rank> ranks = simulate({.ranks = 3, .iterations = 2});
  Rank cut = ranks[1];
  cut.identity.pid = 77;
  cut.ended = false;
  cut.times.resize(1);
  write_job(path("a"), {ranks[0], ranks[1], ranks[2]});
  write_job(path("b"), {cut});
  merge_jobs({path("a"), path("b")}, path("ab"));
  const Merged merged = merge_jobs({path("b"), path("a")}, path("ba"));
  EXPECT_THAT(warnings_of(merged), Contains(HasSubstr("rank 1 is there twice: process 77 on node0000 was left out")));
  EXPECT_EQ(bytes_of(path("ab")), bytes_of(path("ba")));
}

TEST_F(MergeTest, LeavesOutWhatItCannotReadAndMergesTheRest) {
  std::vector<std::filesystem::path> files = files_of({.ranks = 4, .iterations = 2});
  const std::string good = bytes_of(files[0]);
  const auto write = [this](const std::string& name, const std::string& bytes) {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  };
  files.push_back(write("half", good.substr(0, good.size() / 2)));
  std::string newer = good;
  newer[63] = 99;  // the last byte of user_version: www.sqlite.org/fileformat.html, 1.3
  files.push_back(write("newer", newer));
  files.push_back(write("text", "no database"));
  files.push_back(path("nowhere"));
  const Merged merged = merge_jobs(files, path("job"));
  EXPECT_EQ(merged.ranks, 4U);
  EXPECT_THAT(merged.failures, SizeIs(4));
  EXPECT_THAT(merged.failures, Contains(HasSubstr("its schema has version 99; this dlkprof reads version 1")));
}

TEST_F(MergeTest, RefusesNamesOfAnyLength) {
  std::vector<std::filesystem::path> files = files_of({.ranks = 2, .iterations = 2});
  Rank huge = simulate({.ranks = 1, .iterations = 1})[0];
  huge.identity.number = 9;
  huge.ops.back().name = std::string(10'000'000, 'x');
  write_job(path("huge"), {huge});
  files.push_back(path("huge"));
  const Merged merged = merge_jobs(files, path("job"));
  EXPECT_EQ(merged.ranks, 2U);
  EXPECT_THAT(merged.failures, ElementsAre(HasSubstr("string or blob too big")));
}

TEST_F(MergeTest, RefusesRowsThatReferToNothing) {
  write_job(path("bad"), simulate({.ranks = 1, .iterations = 2}));
  store::Connection(path("bad"), store::Access::build).run("UPDATE rank_op SET op = 100000 WHERE op = 1");
  EXPECT_THROW((void)JobDatabase(path("bad")).read_times(0), Error);
  EXPECT_THROW((void)merge_jobs({path("bad")}, path("job")), Error);
}

}  // namespace
}  // namespace dlkprof::job::merge_test
