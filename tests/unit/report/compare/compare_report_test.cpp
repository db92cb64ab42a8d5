#include "report/compare/compare_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "support/sample_fold.h"
#include "support/sample_runs.h"
#include "support/table_cells.h"

namespace dlkprof::report {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

json document(std::vector<advise::RunFigures> runs) { return json::parse(compare_json(advise::compare_all(std::move(runs)))); }

std::vector<advise::RunFigures> hostile_runs() {
  auto runs = test::sample_runs();
  for (advise::RunFigures& run : runs) {
    run.label = run.key_node = test::kHostileName;
    run.gpus = run.frameworks = {test::kHostileName};
    for (advise::OpFigures& op : run.ops) {
      op.type = test::kHostileName;
      op.name += test::kHostileName;
      op.kernels.front().name = op.kernels.front().long_name = test::kHostileName;
    }
  }
  runs[1].label += "2";
  return runs;
}

TEST(CompareReportTest, ARowARun) {
  const json runs = document(test::sample_runs())["tables"]["runs"];
  ASSERT_EQ(runs["rows"].size(), 2U);
  const json& row = runs["rows"][1];
  EXPECT_EQ(row["Run"], "b512");
  EXPECT_EQ(row["Batch Size"], 512);
  EXPECT_EQ(row["Iterations"], 20);
  EXPECT_EQ(row["First Iteration"], 1);
  EXPECT_DOUBLE_EQ(row["Iteration Time (ns)"], 4'000'000);
  EXPECT_DOUBLE_EQ(row["Time per Sample (ns)"], 7812.5);
  EXPECT_DOUBLE_EQ(row["Throughput (sample/s)"], 128'000);
  EXPECT_DOUBLE_EQ(row["Idle SMs (%)"], 0);
  EXPECT_DOUBLE_EQ(row["Achieved Occupancy (%)"], 30.5);
  EXPECT_DOUBLE_EQ(row["Tensor Core Share (%)"], 25);
  EXPECT_EQ(runs["units"]["Throughput (sample/s)"], "sample/s");
  EXPECT_EQ(runs["units"]["DRAM Rate (byte/s)"], "byte/s");
}

TEST(CompareReportTest, ARowAnOpOfEachPair) {
  auto runs = test::sample_runs();
  runs.push_back(runs[0]);
  const json rows = document(runs)["tables"]["ops"]["rows"];
  ASSERT_EQ(rows.size(), 4U);
  const json& row = rows[0];
  EXPECT_EQ(row["Op Name"], "/net/conv1");
  EXPECT_EQ(row["Direction"], "bprop");
  EXPECT_EQ(row["In"], "both");
  EXPECT_DOUBLE_EQ(row["Base GPU Time (ns)"], 10'000);
  EXPECT_DOUBLE_EQ(row["GPU Time (ns)"], 300'000);
  EXPECT_DOUBLE_EQ(row["Ratio"], 30);
  EXPECT_DOUBLE_EQ(row["Ratio per Sample"], 30.0 / 128);
  EXPECT_EQ(row["Scaling"], "sublinear");
  EXPECT_EQ(row["Verdict"], "slower");
  EXPECT_EQ(row["Same Kernels"], false);
  EXPECT_DOUBLE_EQ(row["Base Idle SMs (%)"], 88);
  EXPECT_EQ(rows[2]["Verdict"], "no change");
  EXPECT_EQ(rows[2]["Scaling"], nullptr);
}

TEST(CompareReportTest, WhatIsNotKnownIsNull) {
  auto runs = test::sample_runs();
  runs[1].batch_size.reset();
  runs[1].ops.resize(1);
  runs[1].ops[0].measured = {};
  runs[1].ops[0].fill = {};
  runs[1].utilization.reset();
  const json tables = document(runs)["tables"];
  const json& run = tables["runs"]["rows"][1];
  for (const char* column : {"Batch Size", "Throughput (sample/s)", "Time per Sample (ns)", "GPU Utilization (%)"})
    EXPECT_EQ(run[column], nullptr) << column;
  const json& both = tables["ops"]["rows"][0];
  for (const char* column :
       {"Idle SMs (%)", "Waves", "Achieved Occupancy (%)", "DRAM Rate (byte/s)", "Ratio per Sample", "Scaling"})
    EXPECT_EQ(both[column], nullptr) << column;
  const json& one = tables["ops"]["rows"][1];
  EXPECT_EQ(one["In"], "base only");
  for (const char* column : {"GPU Time (ns)", "Ratio", "Verdict", "p", "Same Kernels"}) EXPECT_EQ(one[column], nullptr) << column;
}

TEST(CompareReportTest, ARowAKernelOfAnOp) {
  const json rows = document(test::sample_runs())["tables"]["kernels"]["rows"];
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0]["Run"], "b4");
  EXPECT_EQ(rows[0]["Kernel Name"], "wgrad_small");
  EXPECT_EQ(rows[0]["Long Kernel Name"], "wgrad_small<float>");
  EXPECT_DOUBLE_EQ(rows[0]["Launches per Iteration"], 2);
  EXPECT_DOUBLE_EQ(rows[0]["Mean GPU Time (ns)"], 10'000);
}

TEST(CompareReportTest, FindingsAreSentences) {
  const json rows = document(test::sample_runs())["tables"]["findings"]["rows"];
  EXPECT_THAT(rows[0]["Finding"].get<std::string>(), HasSubstr("An iteration takes"));
  EXPECT_EQ(rows[0]["Base Run"], "b4");
}

TEST(CompareReportTest, CsvIsOneTableOfAllColumns) {
  const auto runs = advise::compare_all(test::sample_runs());
  const std::string csv = compare_csv(runs);
  const std::string heading = csv.substr(0, csv.find("\r\n"));
  EXPECT_TRUE(heading.starts_with("Table,Run,GPU,Framework,Key Node,Batch Size,"));
  std::size_t rows = 0;
  std::set<std::string> columns;
  for (const Table& table : compare_tables(runs)) {
    rows += table.rows.size();
    for (const Column& column : table.columns) {
      columns.insert(column.name);
      EXPECT_THAT("," + heading + ",",
                  HasSubstr("," + (column.name.find(',') == std::string::npos ? column.name : "\"" + column.name + "\"") + ","));
    }
    for (const std::vector<Cell>& row : table.rows) EXPECT_EQ(row.size(), table.columns.size());
  }
  EXPECT_THAT(csv, HasSubstr("\r\nops,b512,"));
  std::size_t lines = 0;
  for (std::size_t at = csv.find("\r\n"); at != std::string::npos; at = csv.find("\r\n", at + 2)) ++lines;
  EXPECT_EQ(lines, rows + 1);
}

TEST(CompareReportTest, HostileNamesStayText) {
  const auto runs = advise::compare_all(hostile_runs());
  const json tables = json::parse(compare_json(runs))["tables"];
  EXPECT_THAT(tables["ops"]["rows"][0]["Op Name"].get<std::string>(), HasSubstr("a,\"b\""));
  const std::string csv = compare_csv(runs);
  for (const char byte : {'\x01', '\x1b'}) EXPECT_THAT(csv, Not(HasSubstr(std::string(1, byte))));
  for (const json& row : tables["findings"]["rows"]) {
    for (const char byte : row["Finding"].get<std::string>()) EXPECT_GE(static_cast<unsigned char>(byte), 0x20U);
  }
}

TEST(CompareReportTest, EveryVerdictAndScalingHasAWord) {
  using advise::ChangeVerdict;
  using advise::Scaling;
  EXPECT_THAT((std::vector<std::string>{verdict(ChangeVerdict::untested), verdict(ChangeVerdict::no_change),
                                        verdict(ChangeVerdict::faster), verdict(ChangeVerdict::slower)}),
              ElementsAre("untested", "no change", "faster", "slower"));
  EXPECT_THAT((std::vector<std::string>{scaling(Scaling::unknown), scaling(Scaling::fixed), scaling(Scaling::sublinear),
                                        scaling(Scaling::linear), scaling(Scaling::superlinear)}),
              ElementsAre("", "fixed cost", "sublinear", "linear", "superlinear"));
}

}  // namespace
}  // namespace dlkprof::report
