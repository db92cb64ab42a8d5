#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/verbs.h"
#include "support/run_verb.h"

namespace dlkprof::cli::metrics_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

test::VerbResult metrics(std::vector<std::string> options) {
  options.insert(options.begin(), "metrics");
  return test::run_verb(run_metrics, options);
}
std::string complaint(const std::vector<std::string>& options) {
  return test::message_of<UsageError>([&] { (void)metrics(options); });
}

TEST(Metrics, ListsSetsUnlessAskedForMore) {
  EXPECT_THAT(metrics({}).out, HasSubstr("basic"));
  EXPECT_THAT(metrics({"--list-sets", "--format=csv"}).out, StartsWith("set,sections,about\r\n"));
}

TEST(Metrics, ListsSectionsAndChips) {
  EXPECT_THAT(metrics({"--list_sections"}).out, HasSubstr("sm__warps_active.avg.pct_of_peak_sustained_active"));
  EXPECT_THAT(metrics({"--list-chips"}).out, HasSubstr("GH100"));
}

TEST(Metrics, QueriesWithoutRegardToCase) {
  const std::string out = metrics({"--chip=GH100", "--query", "^DRAM__bytes"}).out;
  EXPECT_THAT(out, HasSubstr("dram__bytes_read"));
  EXPECT_THAT(out, Not(HasSubstr("dram__bytes_read.sum")));
  EXPECT_THAT(out, Not(HasSubstr("lts__")));
}

TEST(Metrics, KnowGpusByTheNamesTheyAreSoldBy) {
  EXPECT_EQ(metrics({"--chip=H200", "--query=^dram__bytes"}).out, metrics({"--chip=GH100", "--query=^dram__bytes"}).out);
}

TEST(Metrics, QueriesFullNames) {
  const auto json = nlohmann::json::parse(
      metrics({"--chip", "GH100", "--query", R"(^dram__bytes_read\.sum\.per_second$)", "--submetrics", "--format", "json"}).out);
  ASSERT_EQ(json["rows"].size(), 1U);
  EXPECT_EQ(json["rows"][0]["metric"], "dram__bytes_read.sum.per_second");
  EXPECT_EQ(json["rows"][0]["type"], "counter");
  EXPECT_FALSE(json["rows"][0]["description"].get<std::string>().empty());
}

TEST(Metrics, PointsAtABadPattern) {
  const std::string words = complaint({"--chip=GH100", "--query", "dram("});
  EXPECT_THAT(words, HasSubstr("dram("));
  EXPECT_THAT(words, HasSubstr("^"));
  EXPECT_THAT(words, Not(HasSubstr("(?i)")));
}

TEST(Metrics, RefusesBadUsage) {
  EXPECT_THAT(complaint({"--chip=GH10", "--query=x"}), HasSubstr("GH100"));
  EXPECT_THAT(complaint({"--chip=GH100", "--query=nothing_like_it"}), HasSubstr("no metric of GH100 matches nothing_like_it"));
  EXPECT_THAT(complaint({"--list-sets", "--list-chips"}), HasSubstr("one list"));
  EXPECT_THAT(complaint({"--submetrics"}), HasSubstr("--query"));
  EXPECT_THAT(complaint({"--format=yaml"}), HasSubstr("--format"));
}

}  // namespace
}  // namespace dlkprof::cli::metrics_test
