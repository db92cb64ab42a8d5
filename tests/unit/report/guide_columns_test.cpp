// The columns of DLProf's reports, copied by hand from the tables of its user guide (10.3 to 10.8, and the rows of 10.2):
// whoever reads DLProf's reports must be able to read ours.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "report/ops/reports.h"
#include "report/ops/summary_report.h"
#include "support/sample_fold.h"

namespace dlkprof::report::guide_columns_test {
namespace {

using Names = std::vector<std::string>;
using testing::ElementsAreArray;

const Names kDetail{"Op ID",
                    "Op Name",
                    "Direction",
                    "Op Type",
                    "No. Calls",
                    "TC Eligibility",
                    "Using TC",
                    "Total CPU Time (ns)",
                    "Avg. CPU Time (ns)",
                    "Min CPU Time (ns)",
                    "Max CPU Time (ns)",
                    "Total GPU Time (ns)",
                    "Avg. GPU Time (ns)",
                    "Min GPU Time (ns)",
                    "Max GPU Time (ns)",
                    "Total CPU Overhead Time (ns)",
                    "Avg. CPU Overhead Time (ns)",
                    "Min CPU Overhead Time (ns)",
                    "Max CPU Overhead Time (ns)",
                    "Total GPU Idle Time (ns)",
                    "Avg. GPU Idle Time (ns)",
                    "Min GPU Idle Time (ns)",
                    "Max GPU Idle Time (ns)",
                    "Data Type",
                    "Input Shapes",
                    "Stack Trace"};

const Names kIteration{"Iteration",
                       "Op ID",
                       "Op Name",
                       "Direction",
                       "Op Type",
                       "Kernel Name",
                       "Device ID",
                       "GPU Start Time (ns)",
                       "GPU Time (ns)",
                       "API Call Start (ns)",
                       "API Call Time (ns)",
                       "Uses TC",
                       "Grid X",
                       "Grid Y",
                       "Grid Z",
                       "Block X",
                       "Block Y",
                       "Block Z",
                       "Data Type",
                       "Input Shapes",
                       "Parameters",
                       "Output Shapes",
                       "Long Kernel Name"};

const Names kKernel{"Kernel Name",
                    "Op ID",
                    "Op Name",
                    "Direction",
                    "Uses TC",
                    "Total GPU Time (ns)",
                    "Avg. GPU Time (ns)",
                    "Min GPU Time (ns)",
                    "Max GPU Time (ns)",
                    "Total API Time (ns)",
                    "Avg. API Time (ns)",
                    "Min API Time (ns)",
                    "Max API Time (ns)"};

const Names kTensor{"Op ID",
                    "Op Name",
                    "Direction",
                    "Op Type",
                    "Uses TC",
                    "Total GPU Time",
                    "TC GPU Time",
                    "Non-TC GPU Time",
                    "TC Utilization (%)",
                    "Total Kernel Count",
                    "TC Kernel Count",
                    "TC Kernel Names",
                    "Non-TC Kernel Count",
                    "Non-TC Kernel Names"};

const Names kOpType{"Op Name",
                    "No. Nodes",
                    "No. Calls",
                    "TC Eligibility",
                    "Using TC",
                    "Total CPU Time (ns)",
                    "Avg. CPU Time (ns)",
                    "Min CPU Time (ns)",
                    "Max CPU Time (ns)",
                    "Total GPU Time (ns)",
                    "Avg. GPU Time (ns)",
                    "Min GPU Time (ns)",
                    "Max GPU Time (ns)",
                    "Total CPU Overhead Time (ns)",
                    "Avg. CPU Overhead Time (ns)",
                    "Min CPU Overhead Time (ns)",
                    "Max CPU Overhead Time (ns)",
                    "Total GPU Idle Time (ns)",
                    "Avg. GPU Idle Time (ns)",
                    "Min GPU Idle Time (ns)",
                    "Max GPU Idle Time (ns)"};

const Names kGroupNode{"Name",
                       "No. Calls Aggregated",
                       "No. TC Eligibility Ops",
                       "No. Node Ops Using TC",
                       "Total CPU Time (ns)",
                       "Avg. CPU Time (ns)",
                       "Min CPU Time (ns)",
                       "Max CPU Time (ns)",
                       "Total GPU Time (ns)",
                       "Avg. GPU Time (ns)",
                       "Min GPU Time (ns)",
                       "Max GPU Time (ns)",
                       "Total CPU Overhead Time (ns)",
                       "Avg. CPU Overhead Time (ns)",
                       "Min CPU Overhead Time (ns)",
                       "Max CPU Overhead Time (ns)",
                       "Total GPU Idle Time (ns)",
                       "Avg. GPU Idle Time (ns)",
                       "Min GPU Idle Time (ns)",
                       "Max GPU Idle Time (ns)"};

// The first columns of a report, as many as the guide has.
Names first_columns(const Rows& rows, std::size_t count) {
  Names names;
  for (const Column& column : rows.columns) names.push_back(column.name);
  names.resize(std::min(names.size(), count));
  return names;
}

TEST(GuideColumns, ComeFirstInItsOrderAndSpelling) {
  const model::Profile sample = test::sample_fold();
  const model::Profile& profile = sample;
  EXPECT_THAT(first_columns(detail_report(profile), kDetail.size()), ElementsAreArray(kDetail));
  EXPECT_THAT(first_columns(iteration_report(profile), kIteration.size()), ElementsAreArray(kIteration));
  EXPECT_THAT(first_columns(kernel_report(profile), kKernel.size()), ElementsAreArray(kKernel));
  EXPECT_THAT(first_columns(tensor_report(profile), kTensor.size()), ElementsAreArray(kTensor));
  EXPECT_THAT(first_columns(op_type_report(profile), kOpType.size()), ElementsAreArray(kOpType));
  EXPECT_THAT(first_columns(group_node_report(profile), kGroupNode.size()), ElementsAreArray(kGroupNode));
}

TEST(GuideColumns, OursComeAfterThem) {
  const model::Profile sample = test::sample_fold();
  const Names names = first_columns(detail_report(sample), 1000);
  EXPECT_THAT(
      Names(names.begin() + static_cast<std::ptrdiff_t>(kDetail.size()), names.end()),
      testing::ElementsAre("Total Mapped GPU Time (ns)", "Avg. Mapped GPU Time (ns)", "Min Mapped GPU Time (ns)",
                           "Max Mapped GPU Time (ns)", "Achieved Occupancy (%)", "Theoretical Occupancy (%)", "Tensor Pipe (%)",
                           "SM Throughput (%)", "Memory Throughput (%)", "DRAM Bytes", "DRAM Rate (byte/s)", "Top Stall",
                           "Top Stall (%)", "Samples Measured", "Measured GPU Time (ns)", "TC Source", "Collected By",
                           "Cache Control", "DRAM Bytes Measured", "Counts Measured On", "Counts Scaled To", "Unreliable"));
}

TEST(GuideColumns, NoNameTwice) {
  const model::Profile sample = test::sample_fold();
  const model::Profile& profile = sample;
  for (const Rows& rows : {detail_report(profile), iteration_report(profile), kernel_report(profile), tensor_report(profile),
                           op_type_report(profile), group_node_report(profile)}) {
    Names names = first_columns(rows, 1000);
    std::sort(names.begin(), names.end());
    EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end()) << rows.name;
  }
}

const std::vector<std::pair<std::string, Names>> kSummary{
    {"System config",
     {"Profile Name", "GPU Count", "GPU Name(s)", "CPU Model", "GPU Driver Version", "Framework", "CUDA Version", "cuDNN Version",
      "NSys Version", "DLProf Version", "DLProf Build"}},
    {"Summary Report",
     {"Wall Clock Time (ns)", "Tensor Core Kernel Utilization %", "GPU Utilization %", "Tensor Core Kernel Duration %",
      "Non-Tensor Core Kernel Duration %", "Memory Duration %", "Dataloader Duration %", "I/O Duration %", "CPU Duration %",
      "Other Duration %"}},
    {"Iterations",
     {"Total Iterations", "Aggregated Iterations", "Start Iteration", "Stop Iteration", "Average Iteration Time (ns)",
      "Iteration Time Standard Deviation (ns)"}},
    {"All Ops", {"All Op", "Ops Using TC", "Op eligible for TC but not using", "All other ops"}},
    {"All Kernels", {"All Kernels", "Kernels Using TC", "Memory", "All other kernels"}}};

TEST(GuideColumns, RowsOfTheSummary) {
  const model::Profile sample = test::sample_fold();
  const auto tables = summary_tables(sample, {"run"});
  ASSERT_EQ(tables.size(), kSummary.size());
  for (std::size_t i = 0; i < tables.size(); ++i) {
    EXPECT_EQ(tables[i].name, kSummary[i].first);
    Names rows;
    for (const SummaryRow& row : tables[i].rows) rows.push_back(row.name);
    ASSERT_GE(rows.size(), kSummary[i].second.size());
    rows.resize(kSummary[i].second.size());
    EXPECT_EQ(rows, kSummary[i].second);
  }
  EXPECT_EQ(tables[3].columns[2].name, "# Ops");
  EXPECT_EQ(tables[4].columns[2].name, "# Kernels");
}

}  // namespace
}  // namespace dlkprof::report::guide_columns_test
