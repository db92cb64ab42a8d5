#include "report/ops/summary_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/format/csv.h"
#include "support/golden.h"
#include "support/sample_fold.h"
#include "support/sample_run.h"

namespace dlkprof::report::summary_report_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class SummaryReport : public testing::Test {
 protected:
  SummaryReport() { sample_.timeline.counts = test::sample_run().timeline.counts; }
  [[nodiscard]] std::vector<SummaryTable> tables() const { return summary_tables(sample_, {"run"}); }
  [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(summary_json(tables())); }

  model::Profile sample_ = test::sample_fold();
};

TEST_F(SummaryReport, OfTheSample) {
  test::expect_golden("summary.csv", to_csv(flatten(tables())));
  test::expect_golden("summary.json", summary_json(tables()));
  test::expect_golden("summary.txt", summary_text(tables()));
}

TEST_F(SummaryReport, JsonIsNestedWithUnits) {
  const auto document = json();
  EXPECT_EQ(document["tables"]["Summary Report"]["Wall Clock Time (ns)"], 4200);
  EXPECT_EQ(document["tables"]["All Ops"]["Ops Using TC"]["# Ops"], 1);
  EXPECT_EQ(document["tables"]["Coverage"]["launches"], 136);
  EXPECT_EQ(document["units"]["Wall Clock Time (ns)"], "ns");
  EXPECT_EQ(document["units"]["GPU Utilization %"], "%");
  EXPECT_EQ(document["tables"]["System config"]["Framework"], "PyTorch 2.11.0");
}

TEST_F(SummaryReport, WhatNobodyMeasuredIsEmpty) {
  EXPECT_TRUE(json()["tables"]["Summary Report"]["I/O Duration %"].is_null());
  EXPECT_EQ(json()["tables"]["Summary Report"]["Dataloader Duration %"], 0.0) << "PyTorch tells of its waits";
  for (model::Op& op : sample_.fold.ops) op.framework = model::Framework::xla;
  sample_.aggregate.summary.tc_utilization.reset();
  const auto summary = json()["tables"]["Summary Report"];
  EXPECT_TRUE(summary["Dataloader Duration %"].is_null());
  EXPECT_TRUE(summary["Tensor Core Kernel Utilization %"].is_null());
}

TEST_F(SummaryReport, WithoutEventsHasNoTimes) {
  sample_.timeline = {};
  sample_.aggregate = {};
  sample_.fold = {};
  const auto all = json()["tables"];
  EXPECT_TRUE(all["Summary Report"]["Wall Clock Time (ns)"].is_null());
  EXPECT_TRUE(all["Iterations"]["Average Iteration Time (ns)"].is_null());
  EXPECT_EQ(all["Iterations"]["Total Iterations"], 0);
  EXPECT_TRUE(all["All Ops"]["All Op"]["GPU Time (ns)"].is_null());
  EXPECT_EQ(all["System config"]["GPU Count"], 0);
}

TEST_F(SummaryReport, OneIterationHasNoDeviation) {
  sample_.aggregate.summary.aggregated_iterations = 1;
  EXPECT_TRUE(json()["tables"]["Iterations"]["Iteration Time Standard Deviation (ns)"].is_null());
}

TEST_F(SummaryReport, HasCoverageOnlyWhereLaunchesWereCounted) {
  sample_.timeline.counts.clear();
  EXPECT_FALSE(json()["tables"].contains("Coverage"));
}

TEST_F(SummaryReport, OfSimpleModeHasThreeFigures) {
  const std::string csv = to_csv(flatten(simple_summary_tables(sample_)));
  EXPECT_THAT(csv, HasSubstr("Summary Report,Wall Clock Time (ns),4200,ns,"));
  EXPECT_THAT(csv, HasSubstr("Summary Report,GPU Time (ns),1500,ns,"));
  EXPECT_THAT(csv, HasSubstr("Summary Report,Tensor Core Kernel Time (ns),800,ns,"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 4);
  EXPECT_THAT(csv, Not(HasSubstr("Iterations")));
}

}  // namespace
}  // namespace dlkprof::report::summary_report_test
