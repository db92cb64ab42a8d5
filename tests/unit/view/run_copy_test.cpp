#include "view/run_copy.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cupti/catalogue.h"
#include "model/aggregate/aggregate.h"
#include "model/fold/fold.h"
#include "store/database.h"
#include "store/sqlite.h"
#include "support/pc_samples.h"
#include "support/small_timeline.h"
#include "support/temporary_directory.h"
#include "support/timeline_builder.h"
#include "view/page.h"
#include "view/page_asset.h"

namespace dlkprof::view::run_copy_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class RunCopyTest : public testing::Test {
 protected:
  void SetUp() override { store::write_database(path_, profile_); }

  [[nodiscard]] RunCopy copy() const { return {{"run", path_, &profile_}, catalogue_}; }

  static std::vector<std::string> rows(const std::filesystem::path& path, std::string_view sql) {
    const store::Connection connection(path, store::Access::ask);
    store::Statement statement = connection.prepare(sql);
    std::vector<std::string> all;
    while (statement.step()) all.emplace_back(statement.text(0));
    return all;
  }

  test::TemporaryDirectory folder_;
  std::filesystem::path path_ = folder_.path() / "run_dldb.sqlite";
  model::Profile profile_{test::small_timeline(), test::small_fold(), test::small_aggregate(), {}, {}};
  cupti::Catalogue catalogue_ = cupti::Catalogue::load(std::filesystem::path(DLKPROF_SOURCE_DIR) / "metrics");
};

TEST_F(RunCopyTest, StepsSumUpToTheViewKernels) {
  const RunCopy copy = this->copy();
  const char* const by_view =
      "SELECT iteration || ' ' || op_id || ' ' || count(*) || ' ' || coalesce(sum(gpu_ns), '') FROM kernels "
      "GROUP BY iteration, op_id ORDER BY 1";
  const char* const by_steps =
      "SELECT first || ' ' || op_id || ' ' || sum(calls) || ' ' || coalesce(sum(gpu_ns), '') FROM page_steps "
      "WHERE key = 0 AND level = 0 GROUP BY first, op_id ORDER BY 1";
  EXPECT_EQ(rows(copy.path(), by_steps), rows(path_, by_view));
  EXPECT_FALSE(rows(copy.path(), by_steps).empty());
}

// What the page sums up for a range of iterations: the largest blocks that lie within it.
std::string rows_of_range(int first, int last, int kind = 0) {
  return fmt::format(
      "SELECT op_id || ' ' || sum(calls) || ' ' || coalesce(sum(gpu_ns), '') FROM page_steps WHERE block IN (SELECT id FROM "
      "page_block WHERE key = 0 AND level >= 0 AND first >= {0} AND last <= {1} AND NOT (parent_first >= {0} AND parent_last <= "
      "{1}) AND {2}) GROUP BY op_id ORDER BY op_id",
      first, last, kind == 0 ? "(kind IS NULL OR level = 0)" : fmt::format("kind = {}", kind));
}

// 300 iterations, of which one in five is of the first kind, the others of the second, and the first and the last of none.
void make_long(model::Profile& profile) {
  const auto work = profile.fold.activity_iteration.size();
  profile.fold.iterations.resize(300);
  profile.fold.kinds = {{"prefill"}, {"decode"}};
  for (std::size_t i = 0; i < profile.fold.iterations.size(); ++i) {
    const auto start = static_cast<std::int64_t>(1'000'000 + i * 100);
    const bool is_whole = i > 0 && i + 1 < profile.fold.iterations.size();
    profile.fold.iterations[i] = {start, start + 99, !is_whole ? model::kNone : i % 5 == 0 ? 0U : 1U};
  }
  for (std::size_t i = 0; i < work; ++i) profile.fold.activity_iteration[i] = static_cast<std::uint32_t>(i * 290 / work);
}

TEST_F(RunCopyTest, AnyRangeOfIterationsIsMadeOfFewBlocks) {
  make_long(profile_);
  std::filesystem::remove(path_);
  store::write_database(path_, profile_);
  const RunCopy copy = this->copy();
  for (const auto& [first, last] :
       {std::pair{0, 299}, std::pair{0, 0}, std::pair{1, 250}, std::pair{15, 16}, std::pair{16, 255}}) {
    EXPECT_EQ(rows(copy.path(), rows_of_range(first, last)),
              rows(path_, fmt::format("SELECT op_id || ' ' || count(*) || ' ' || coalesce(sum(gpu_ns), '') FROM kernels WHERE "
                                      "iteration BETWEEN {} AND {} GROUP BY op_id ORDER BY op_id",
                                      first, last)))
        << first << " to " << last;
  }
  EXPECT_EQ(rows(copy.path(), "SELECT count(*) FROM page_block WHERE key = 0 AND level >= 0 AND (kind IS NULL OR level = 0)"),
            std::vector<std::string>{std::to_string(300 + 38 + 5 + 1)});
}

TEST_F(RunCopyTest, ARangeOfOneKindIsMadeOfBlocksOfThatKind) {
  make_long(profile_);
  std::filesystem::remove(path_);
  store::write_database(path_, profile_);
  const RunCopy copy = this->copy();
  int found = 0;
  for (const auto& [first, last] : {std::pair{0, 299}, std::pair{1, 250}, std::pair{15, 16}, std::pair{16, 255}}) {
    for (const int kind : {1, 2}) {
      const std::vector<std::string> expected = rows(
          path_,
          fmt::format("SELECT op_id || ' ' || count(*) || ' ' || coalesce(sum(k.gpu_ns), '') FROM kernels k JOIN iterations "
                      "i USING (iteration) WHERE iteration BETWEEN {} AND {} AND i.kind = '{}' GROUP BY op_id ORDER BY op_id",
                      first, last, kind == 1 ? "prefill" : "decode"));
      EXPECT_EQ(rows(copy.path(), rows_of_range(first, last, kind)), expected) << first << " to " << last << ", kind " << kind;
      found += static_cast<int>(expected.size());
    }
  }
  EXPECT_GT(found, 4);
  EXPECT_THAT(rows(copy.path(), "SELECT kind || ' ' || name FROM page_iteration_kind WHERE key = 0"),
              ElementsAre("1 prefill", "2 decode"));
}

TEST_F(RunCopyTest, RangesStayWhereSmallBlocksAreLeftOut) {
  make_long(profile_);
  std::filesystem::remove(path_);
  store::write_database(path_, profile_);
  RunCopy copy = this->copy();
  std::vector<std::vector<std::string>> before;
  for (const int kind : {0, 1, 2}) before.push_back(rows(copy.path(), rows_of_range(64, 255, kind)));
  copy.leave_out_single_iterations();
  EXPECT_THAT(rows(copy.path(), "SELECT grain FROM page_key"), ElementsAre("8"));
  copy.leave_out_blocks_of_eight();
  EXPECT_THAT(rows(copy.path(), "SELECT grain FROM page_key"), ElementsAre("64"));
  EXPECT_THAT(rows(copy.path(), "SELECT DISTINCT level FROM page_block ORDER BY 1"), ElementsAre("-1", "2", "3"));
  EXPECT_THAT(rows(copy.path(), "SELECT count(*) FROM page_step WHERE block NOT IN (SELECT id FROM page_block)"),
              ElementsAre("0"));
  for (const int kind : {0, 1, 2}) {
    EXPECT_EQ(rows(copy.path(), rows_of_range(64, 255, kind)), before[static_cast<std::size_t>(kind)]) << kind;
    EXPECT_FALSE(before[static_cast<std::size_t>(kind)].empty()) << kind;
  }
}

// Two steps of one part each, of so many kernels in all, each launched once.
model::Profile run_of_kernels(int kernels) {
  test::TimelineBuilder builder;
  const int half = kernels / 2;
  for (const std::int64_t step : {0, 1}) {
    const std::int64_t start = step * 10 * (half + 10);
    builder.range("step", start, start + 10 * half + 50).range("part", start + 10, start + 10 * half + 40);
    for (int i = 0; i < half; ++i) {
      const std::int64_t at = start + 20 + std::int64_t{10} * i;
      builder.launch(fmt::format("k{}", step * half + i), at, at + 3, at + 8);
    }
  }
  model::Profile profile{builder.build(), {}, {}, {"/step", {}}, {}};
  profile.fold = model::fold(profile.timeline, profile.options);
  profile.aggregate = model::aggregate(profile.timeline, profile.fold, {});
  return profile;
}

TEST_F(RunCopyTest, OtherKeyNodesAreOfferedByTheRowsThatTheyTake) {
  // 3 rows for each kernel: of its iteration, of the block of 8, and of the iterations aggregated.
  for (const auto& [kernels, key_nodes] : {std::pair{10'000, "2"}, std::pair{20'000, "1"}}) {
    profile_ = run_of_kernels(kernels);
    std::filesystem::remove(path_);
    store::write_database(path_, profile_);
    EXPECT_THAT(rows(copy().path(), "SELECT count(*) FROM page_key"), ElementsAre(key_nodes)) << kernels;
  }
}

TEST_F(RunCopyTest, WhereOneKindIsAggregatedItsIterationsAloneAre) {
  make_long(profile_);
  profile_.aggregate = model::aggregate(profile_.timeline, profile_.fold, {5, 250, "prefill"});
  std::filesystem::remove(path_);
  store::write_database(path_, profile_);
  const RunCopy copy = this->copy();
  EXPECT_EQ(rows(copy.path(), "SELECT iteration FROM page_iteration WHERE key = 0 AND aggregated"),
            rows(path_, "SELECT iteration FROM iterations WHERE aggregated"));
  EXPECT_THAT(rows(copy.path(), "SELECT kind FROM page_key"), ElementsAre("1"));
}

TEST_F(RunCopyTest, UsesOfIterationsAddUpToThoseOfTheRange) {
  profile_.aggregate.first_iteration = 0;
  profile_.aggregate.last_iteration = static_cast<std::uint32_t>(profile_.fold.iterations.size() - 1);
  const RunCopy copy = this->copy();
  const char* const summed =
      "SELECT printf('%.6f %.6f %.6f', 100.0 * sum(gpu_wall_ns) / sum(wall_ns), 100.0 * sum(tc_ns) / sum(wall_ns), 100.0 * "
      "sum(other_ns) / sum(wall_ns)) FROM page_iteration WHERE key = 0 AND aggregated";
  const model::Aggregate made = model::aggregate(profile_.timeline, profile_.fold, {0, profile_.aggregate.last_iteration});
  EXPECT_EQ(rows(copy.path(), summed), std::vector<std::string>{fmt::format("{:.6f} {:.6f} {:.6f}", made.summary.share.gpu,
                                                                            made.summary.share.tc, made.summary.share.other)});
}

TEST_F(RunCopyTest, BinsHoldAsMuchAsEvents) {
  const RunCopy copy = this->copy();
  for (const char* level : {"0", "1"}) {
    const std::string of_level = std::string(
                                     " FROM page_busy b JOIN page_lane l ON l.id = b.lane WHERE l.device IS NOT NULL "
                                     "AND level = ") +
                                 level;
    EXPECT_EQ(rows(copy.path(), "SELECT sum(busy_ns)" + of_level),
              rows(path_, "SELECT sum(gpu_ns) FROM kernels WHERE gpu_ns > 0"));
    EXPECT_EQ(rows(copy.path(), "SELECT sum(events)" + of_level),
              rows(path_, "SELECT count(*) FROM kernels WHERE gpu_start_ns IS NOT NULL"));
  }
}

TEST_F(RunCopyTest, FiguresStayWhereEventsAreLeftOut) {
  RunCopy copy = this->copy();
  const char* const figures = "SELECT iteration || ' ' || duration_ns || ' ' || calls || ' ' || gpu_ns FROM iterations";
  const std::vector<std::string> before = rows(copy.path(), figures);
  const std::vector<std::string> ops = rows(copy.path(), "SELECT op_id || gpu_total_ns FROM detail");
  copy.keep_three_iterations();
  copy.leave_out_launches();
  copy.leave_out_counters_of_small_ops();
  EXPECT_EQ(rows(copy.path(), figures), before);
  EXPECT_EQ(rows(copy.path(), "SELECT op_id || gpu_total_ns FROM detail"), ops);
  EXPECT_EQ(rows(copy.path(), "SELECT count(DISTINCT iteration) FROM kernels"),
            rows(path_,
                 "SELECT count(DISTINCT iteration) FROM "
                 "kernels WHERE iteration IN (SELECT iteration FROM iterations WHERE aggregated)"));
  EXPECT_FALSE(copy.kept_iterations().empty());
  EXPECT_FALSE(copy.has_launches());
}

TEST_F(RunCopyTest, ItIsGoneWhenItEnds) {
  std::filesystem::path path;
  {
    const RunCopy copy = this->copy();
    path = copy.path();
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(RunCopyTest, ThePageHoldsTheRunAndNamesAreText) {
  if (packed_page().empty()) {  // built without it
    EXPECT_THROW(check_has_page(), Error);
    return;
  }
  std::vector<RunCopy> runs;
  runs.push_back({{"</script><script>alert(1)</script>", path_, &profile_}, catalogue_});
  std::string page;
  write_page(runs, kMostPageBytes, [&page](std::string_view piece) { page += piece; });
  EXPECT_THAT(page, HasSubstr("id=\"run-0\">"));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(1)"));  // of the title
  EXPECT_THAT(page, Not(HasSubstr("<script>alert(1)")));
}

TEST_F(RunCopyTest, APageThatCannotBeSmallEnoughIsRefused) {
  if (packed_page().empty()) GTEST_SKIP() << "built without the page";
  make_long(profile_);
  std::filesystem::remove(path_);
  store::write_database(path_, profile_);
  std::vector<RunCopy> runs;
  runs.push_back(copy());
  EXPECT_THROW(write_page(runs, 1000, [](std::string_view) {}), Error);
  EXPECT_THAT(rows(runs.front().path(), "SELECT grain FROM page_key"), ElementsAre("64"));
  EXPECT_FALSE(runs.front().kept_iterations().empty());  // everything was tried before
}

TEST_F(RunCopyTest, GroupsOfOpsAddUpToTheViewDetail) {
  const RunCopy copy = this->copy();
  const char* const of_view = "SELECT sum(gpu_total_ns) || ' ' || sum(covered_ns) FROM detail WHERE gpu_total_ns > 0";
  EXPECT_EQ(rows(copy.path(), "SELECT DISTINCT grouping FROM page_group ORDER BY 1"),
            (std::vector<std::string>{"direction", "layer", "module", "phase", "place", "type"}));
  for (const char* by : {"layer", "module", "type", "direction", "phase", "place"}) {
    const std::string sums =
        fmt::format("SELECT sum(gpu_total_ns) || ' ' || sum(covered_ns) FROM page_group WHERE grouping = '{}'", by);
    EXPECT_EQ(rows(copy.path(), sums), rows(path_, of_view)) << by;
  }
  EXPECT_EQ(rows(copy.path(), "SELECT name || ' ' || ops || ' ' || calls FROM page_group WHERE grouping = 'type' ORDER BY 1"),
            rows(path_,
                 "SELECT op_type || ' ' || count(*) || ' ' || sum(calls) FROM detail GROUP BY op_type "
                 "HAVING sum(gpu_total_ns) > 0 ORDER BY 1"));
}

TEST_F(RunCopyTest, OpsHaveTheNumbersThatStepsHave) {
  const RunCopy copy = this->copy();
  EXPECT_EQ(rows(copy.path(), "SELECT count(*) FROM page_kind k JOIN page_op o ON o.op = k.op AND o.op_id = k.op_id"),
            rows(copy.path(), "SELECT count(*) FROM page_kind"));
}

TEST_F(RunCopyTest, KernelsAreToldApart) {
  profile_.timeline.kernels[0].long_name = "void at::native::fill_kernel<float>(int)";
  profile_.timeline.kernels[1].long_name = "void at::cuda::fill_kernel<float>(int)";
  const std::vector<std::string> names =
      rows(copy().path(), "SELECT telling_name FROM page_kernel WHERE kernel < 2 ORDER BY kernel");
  EXPECT_THAT(names, ElementsAre("fill_kernel f32 #1", "fill_kernel f32 #2"));
}

TEST_F(RunCopyTest, FunctionsOfOneNameHaveEachTheirSass) {
  profile_.timeline.pc_samples = test::small_pc_samples();  // functions 1 and 2 are of one kernel
  std::filesystem::remove(path_);
  store::write_database(path_, profile_);
  model::Sass sass;
  sass.functions.resize(3);
  sass.functions[1].instructions = {{.offset = 16, .text = "EXIT", .file = {}}};
  sass.functions[2].instructions = {{.offset = 16, .text = "RET", .file = {}}};
  const RunCopy copy({"run", path_, &profile_, sass}, catalogue_);
  EXPECT_THAT(rows(copy.path(),
                   "SELECT s.kernel || ' ' || s.function || ' ' || p.sass || ' ' || s.samples FROM pc_samples s "
                   "JOIN page_sass p ON p.function = s.function AND p.byte_offset = s.byte_offset ORDER BY 1"),
              ElementsAre("1 1 EXIT 2", "1 2 RET 1"));
}

TEST_F(RunCopyTest, HasTheSassOfSampledInstructions) {
  model::Sass sass;
  sass.functions = {{.instructions = {{.offset = 0, .text = "LDG.E R4, [R2]", .file = {}},
                                      {.offset = 16, .text = "@P0 BRA `(.L_x_0)", .file = {}, .loop = 0},
                                      {.offset = 64, .text = "EXIT", .file = {}}},
                     .loops = {{.head = 16, .last = 16}}}};
  const RunCopy copy({"run", path_, &profile_, sass}, catalogue_);
  EXPECT_THAT(
      rows(copy.path(), "SELECT byte_offset || ' ' || sass || ' ' || coalesce(loop || ' ' || loop_pct, '-') FROM page_sass"),
      ElementsAre("0 LDG.E R4, [R2] -", "16 @P0 BRA `(.L_x_0) 0x10-0x10 40.0"));
  EXPECT_TRUE(rows(this->copy().path(), "SELECT * FROM page_sass").empty());
}

}  // namespace
}  // namespace dlkprof::view::run_copy_test
