// What all rules have in common; each has its tests in the file of its kind.
#include "advise/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/text.h"
#include "support/found.h"
#include "support/golden.h"

namespace dlkprof::advise {
namespace {

using test::TimelineBuilder;
using testing::HasSubstr;

TEST(Rules, DocumentSaysWhatTheCodeDoes) { test::expect_golden("../../../docs/reference/rules.md", list_rules()); }

TEST(Rules, AreWholeAndDistinct) {
  std::set<std::string> names;
  std::set<std::string> detectors;
  for (const Rule& rule : rules()) {
    EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
    EXPECT_TRUE(detectors.insert(rule.detector).second) << rule.detector;
    EXPECT_THAT(rule.name, testing::MatchesRegex("[a-z][a-z_]*"));
    EXPECT_LE(std::string(rule.headline).size(), 60U) << "for one line";
    for (const std::string& text : {rule.fires, rule.source, rule.stake}) EXPECT_EQ(text.substr(text.size() - 1), ".") << text;
  }
  EXPECT_EQ(names.size(), rules().size());
}

TEST(Rules, AreAllOfTheGuidesDetectors) {
  const std::set<std::string> guide{"Bad Iteration Range Detector", "No Iteration Detector", "Bad Tensor Shape Detector",
                                    "No Fusion Detector",           "AMP Detector",          "Dataloader Detector",
                                    "Cudnn Benchmark Detector",     "Slow Api Detector",     "Imbalanced GPU Detector",
                                    "Underutilized GPU Detector",   "Batch Size Detector",   "Emit NVTX Missing Detector"};
  std::set<std::string> found;
  for (const Rule& rule : rules()) {
    if (guide.contains(rule.detector)) found.insert(rule.detector);
  }
  EXPECT_EQ(found, guide);
}

// A kernel after the other on a full grid, near the peak, in iterations of one length.
test::DiagnosedRun healthy() {
  TimelineBuilder builder;
  for (std::int64_t i = 0; i < 5; ++i) {
    builder.launch("k", 1000 * i + 5, 1000 * i + 10, 1000 * i + 990).range(test::kIterationEnd, 1000 * i + 900, 1000 * i + 1000);
  }
  builder.measured("k", test::kSmThroughput, {85}).measured("k", test::kMemoryThroughput, {50});
  test::DiagnosedRun run(builder);
  run.launched("k", {10560, 1, 1}, {256, 1, 1});
  run.fact("cudnn.benchmark", "true").fact("amp", "true").fact("anomaly_mode", "false");
  return run;
}

TEST(Rules, ARunWithNothingWrongHasNoFinding) {
  test::DiagnosedRun run = healthy();
  for (const Finding& finding : diagnose(run.profile({1, 3}))) ADD_FAILURE() << finding.rule->name << ": " << finding.problem;
}

TEST(Rules, AnEmptyRunHasNoFinding) {
  test::DiagnosedRun run{TimelineBuilder()};
  EXPECT_TRUE(diagnose(run.profile()).empty());
}

TEST(Rules, FindingsComeByTimeAtStakeThenTheOthers) {
  test::DiagnosedRun run = healthy();
  run.launched("k", {13, 1, 1}, {256, 1, 1}).fact("anomaly_mode", "true").fact("gradcheck", "true");
  const Findings findings = diagnose(run.profile({1, 3}));
  ASSERT_GE(findings.size(), 3U);
  EXPECT_STREQ(findings.front().rule->name, "small_grid");
  EXPECT_TRUE(findings.front().bound_ns);
  EXPECT_FALSE(findings.back().bound_ns);
  for (std::size_t i = 1; i < findings.size(); ++i) {
    if (findings[i].bound_ns) {
      EXPECT_GE(*findings[i - 1].bound_ns, *findings[i].bound_ns);
    }
  }
}

TEST(Rules, NoTimeAtStakeIsBeyondWhatThereWas) {
  test::DiagnosedRun run = healthy();
  run.launched("k", {13, 1, 1}, {256, 1, 1});
  const model::Profile& profile = run.profile();
  for (const Finding& finding : diagnose(profile)) {
    if (!finding.bound_ns) continue;
    EXPECT_GE(*finding.bound_ns, 0) << finding.rule->name;
    EXPECT_LE(*finding.bound_ns, profile.aggregate.summary.wall_ns) << finding.rule->name;
  }
}

TEST(Rules, WhatIsShownAsNothingIsNegligible) {
  model::Summary summary;
  summary.wall_ns = 1'000'000;
  EXPECT_TRUE(is_negligible({.bound_ns = 499}, summary)) << "0.0 %";
  EXPECT_FALSE(is_negligible({.bound_ns = 500}, summary)) << "0.1 %";
  EXPECT_FALSE(is_negligible({.bound_ns = std::nullopt}, summary)) << "nothing bounds it";
}

TEST(Rules, HostileNamesAndFactsAreBorne) {
  const std::string hostile = "<script>\x1b[2J\xff" + std::string(5'000'000, 'x');
  TimelineBuilder builder;
  builder.range(hostile, 0, 100).launch(hostile, 5, 10, 90);
  test::DiagnosedRun run(builder);
  run.launched(hostile, {1, 1, 1}, {32, 1, 1});
  for (const char* name : {"batch_size", "memory.0.total", "memory.0.free_at_peak", "gpus.visible", "cudnn.benchmark", "amp"}) {
    run.fact(name, hostile);
  }
  const Findings findings = diagnose(run.profile());
  ASSERT_FALSE(findings.empty());
  for (const Finding& finding : findings) {
    EXPECT_LT(finding.problem.size() + finding.recommendation.size() + finding.basis.size(), 2000U);
    EXPECT_EQ(finding.problem.find('\x1b'), std::string::npos);
    EXPECT_EQ(valid_utf8(finding.problem), finding.problem);
  }
}

}  // namespace
}  // namespace dlkprof::advise
