#include "database_fixture.h"
#include "store/schema.h"

namespace dlkprof::store::views_test {
namespace {

using testing::ElementsAre;

class ViewsTest : public DatabaseTest {
 protected:
  ViewsTest() {
    const auto& [config, metrics] = *timeline_.measured.begin();
    timeline_.sampled[config][metrics.begin()->first] = {.samples = 9, .launches = 3, .mean = 2, .deviation = 1, .interval = 0.5};
    timeline_.sampled_metrics = {metrics.begin()->first};
    timeline_.bins = {{0, 0, 1000, 1100, 4, 0.25}};
    diagnose();
    write();
  }

  // An op and its kernel with a verdict and stalls, an occupancy with little known of it, and two findings.
  void diagnose() {
    using model::DiagnosedRow;
    const DiagnosedRow op{DiagnosedRow::Kind::op, 0}, kernel{DiagnosedRow::Kind::kernel, 0};
    diagnosis_.verdicts = {{op, "memory-bound", "memory at 90 % of peak", 200, 30.0, 90.0, {}, {}},
                           {kernel, "launch-bound", "waits", {}, {}, {}, {}, 75.0}};
    diagnosis_.stalls = {{op, "long_scoreboard", 3, 75, true}, {op, "selected", 1, 25, false}, {kernel, "wait", 2, 100, true}};
    model::Occupancy theoretical;
    theoretical.percent = 50;
    theoretical.limiter = "registers";
    theoretical.waves = 1.5;
    diagnosis_.occupancy = {{0, 2, 1, 1000, theoretical, 40.0, 0.0, {}, "imbalance", "8 registers fewer"}};
    diagnosis_.findings = {{"amp", "AMP Detector", "Mixed precision is not used", "p", "r", "", "b", 500, model::kNone},
                           {"small_grid", "d", "h", "p", "r", "gemm", "b", {}, 0}};
  }
};

TEST_F(ViewsTest, DiagnosisNamesTheRowsItIsOf) {
  EXPECT_THAT(rows("SELECT level, op_id, kernel IS NULL, verdict, bound_ns, memory_pct, waited_pct FROM verdicts"),
              ElementsAre("op|aten::mm_fprop_1|1|memory-bound|200|90.0|", "kernel|aten::mm_fprop_1|0|launch-bound|||75.0"));
  EXPECT_THAT(rows("SELECT level, reason, pct, waits FROM stalls"),
              ElementsAre("op|long_scoreboard|75.0|1", "op|selected|25.0|0", "kernel|wait|100.0|1"));
  EXPECT_THAT(rows("SELECT config, launches, theoretical_pct, achieved_pct, limiter, waves, gap, step FROM occupancy"),
              ElementsAre("0|2|50.0|40.0|registers|1.5|imbalance|8 registers fewer"));
  EXPECT_THAT(rows("SELECT rule, op_id, gain_ns_per_iteration IS NULL, gain_pct IS NULL FROM findings"),
              ElementsAre("amp||0|0", "small_grid|memcpy_1|1|1"));
}

TEST_F(ViewsTest, AllAnswerWithTheColumnsTheyPromise) {
  for (const View& view : views()) {
    EXPECT_THAT(rows("SELECT 1 FROM " + view.name + " LIMIT 1"), ElementsAre("1")) << view.name;
    std::vector<std::string> names;
    for (const ViewColumn& column : view.columns) names.push_back(column.name);
    EXPECT_EQ(rows("SELECT name FROM pragma_table_info('" + view.name + "')"), names);
  }
}

TEST_F(ViewsTest, OpsSayWhatTheyAre) {
  EXPECT_THAT(
      rows("SELECT op_id, op_name, direction, op_type, framework, data_types, input_shapes, group_node, tc_eligible, leaf "
           "FROM ops ORDER BY op_id"),
      ElementsAre("aten::mm_fprop_1|/step/aten::mm|fprop|aten::mm|pytorch|fp16|[[4, 4], [4, 4]]|/step|1|1",
                  "memcpy_1|unassociated_[CUDA memcpy HtoD]||[CUDA memcpy HtoD]|||||0|1"));
}

TEST_F(ViewsTest, RangesHaveTheirNumbersBack) {
  EXPECT_THAT(rows("SELECT range, start_ns, duration_ns, parent, pid, tid, message FROM ranges WHERE domain = '' LIMIT 3"),
              ElementsAre("0|1000|1000||41|41|step", "2|3000|1000||41|41|step",
                          "3|3100|400|2|41|41|aten::mm, seq = 7, op_id = 9, sizes = [[4, 8]]"));
}

TEST_F(ViewsTest, DetailIsTheFiguresOfOps) {
  EXPECT_THAT(
      rows("SELECT op_id, calls, tc_eligible, uses_tc, tc_source, cpu_total_ns, cpu_avg_ns, cpu_min_ns, cpu_max_ns, "
           "gpu_total_ns, overhead_total_ns, overhead_min_ns, overhead_max_ns, idle_total_ns, mapped_total_ns, tc_gpu_ns, "
           "samples, covered_ns FROM detail"),
      ElementsAre("aten::mm_fprop_1|2|1|1|counter|800|400.0|400|400|1000|560|260|300|0|1000|1000|2|1000",
                  "memcpy_1|1|0|0|unknown|100|100.0|100|100|100|0|0|0|0|0|0|0|0"));
}

TEST_F(ViewsTest, MeansOfNothingAreNull) { EXPECT_THAT(rows("SELECT mapped_avg_ns IS NULL FROM detail"), ElementsAre("0", "1")); }

TEST_F(ViewsTest, IterationsAreAllThereAre) {
  EXPECT_THAT(rows("SELECT * FROM iterations"), ElementsAre("0|500|1999|1500|1|2|600|0|", "1|2000|4000|2001|1|2|500|1|decode"));
}

TEST_F(ViewsTest, KindsOfIterationsHaveTheirFigures) {
  EXPECT_THAT(rows("SELECT * FROM iteration_kinds"), ElementsAre("decode|1|2001|500|2001.0|2001.0|0.0|100.0|The GPU idles."));
}

TEST_F(ViewsTest, KernelsAreTheRunsInTheirPlaces) {
  EXPECT_THAT(rows("SELECT iteration, op_id, kind, kernel_name, device, stream, gpu_start_ns, gpu_ns, api_name, api_start_ns, "
                   "api_ns, grid_x, block_x, cluster_x, dynamic_shared_bytes, bytes, in_graph, op_instance, config, launch_index "
                   "FROM kernels"),
              ElementsAre("0|memcpy_1|copy|[CUDA memcpy HtoD]|0|0|700|100|cuMemcpy|500|100|||||4096|0|||",
                          "0|aten::mm_fprop_1|kernel|gemm|0|7|1400|500|cuLaunchKernel|1200|100|4|64|2|8192|0|0|1|0|0",
                          "1|aten::mm_fprop_1|kernel|gemm|0|7|||cuLaunchKernel|3150|40|4|64|2|8192|0|0|3|0|1",
                          "1|aten::mm_fprop_1|kernel|gemm|0|7|3450|500|cuLaunchKernel|3300|100|4|64|2|8192|0|1|3|0|2"));
}

TEST_F(ViewsTest, SumsOverKernelsAreThoseOfDetail) {
  EXPECT_THAT(
      rows("SELECT d.op_id, d.gpu_total_ns - (SELECT sum(k.gpu_ns) FROM kernels k WHERE k.op_id = d.op_id) FROM detail d"),
      ElementsAre("aten::mm_fprop_1|0", "memcpy_1|0"));
}

TEST_F(ViewsTest, OpKernelsAreTheFiguresOfKernelsWithinOps) {
  EXPECT_THAT(rows("SELECT kernel_name, op_id, calls, uses_tc, tc_source, gpu_total_ns, gpu_avg_ns, api_total_ns, api_avg_ns, "
                   "api_min_ns, long_kernel_name FROM op_kernels"),
              ElementsAre("gemm|aten::mm_fprop_1|2|1|name|1000|500.0|240|80.0|40|void ns::gemm<int>()",
                          "[CUDA memcpy HtoD]|memcpy_1|1|0|unknown|100|100.0|100|100.0|100|[CUDA memcpy HtoD]"));
}

TEST_F(ViewsTest, TensorIsTheEligibleOps) {
  EXPECT_THAT(
      rows("SELECT op_id, uses_tc, gpu_total_ns, tc_gpu_ns, non_tc_gpu_ns, tc_utilization_pct, tc_kernels, non_tc_kernels "
           "FROM tensor"),
      ElementsAre("aten::mm_fprop_1|1|1000|1000|0|100.0|1|2"));
}

TEST_F(ViewsTest, OpTypesAndGroupNodesAreTheirRows) {
  EXPECT_THAT(rows("SELECT op_type, nodes, calls, tc_eligible, uses_tc, cpu_total_ns, gpu_avg_ns, overhead_max_ns, samples "
                   "FROM op_types"),
              ElementsAre("aten::mm|1|2|1|1|800|500.0|300|2", "[CUDA memcpy HtoD]|1|1|0|0|100|100.0|0|0"));
  EXPECT_THAT(
      rows("SELECT group_node, leaf_calls, tc_eligible_ops, tc_ops, cpu_total_ns, gpu_avg_ns, overhead_min_ns, idle_max_ns "
           "FROM group_nodes"),
      ElementsAre("/step|2|1|1|810|505.0|260|2"));
}

TEST_F(ViewsTest, SummaryIsOneRow) {
  EXPECT_THAT(
      rows("SELECT aggregation, key_node, key_node_source, wall_ns, tc_utilization_pct, gpu_pct, tc_pct, non_tc_pct, "
           "memory_pct, dataloader_pct, io_pct, cpu_pct, other_pct, total_iterations, stop_iteration, mean_iteration_ns, "
           "iteration_deviation_ns, all_ops_gpu_ns, all_ops_cpu_ns, all_ops_count, other_kernels_cpu_ns, other_kernels_count, "
           "range_source, "
           "median_iteration_ns, before_iterations, before_wall_ns, before_gpu_ns, after_iterations, after_gpu_ns FROM summary"),
      ElementsAre("1|/"
                  "step|framework|3501|90.5|31.0|28.0|2.0|1.0|3.0|4.0|5.0|6.0|2|1|1750.5|353.5|1100|900|2||9|found|1700.0|2|300|"
                  "40|1|60"));
}

TEST_F(ViewsTest, MetricsAreOfConfigurationsAndOfFigures) {
  EXPECT_THAT(rows("SELECT config, kernel_name, grid_x, metric, samples, mean, min, max FROM metrics WHERE config = 0"),
              ElementsAre("0|gemm|4|sm__cycles_active.avg|2|2.0|1.5|2.5"))
      << "of tensor.pct no value came";
  EXPECT_THAT(rows("SELECT op_id, metric, value, samples FROM op_metrics"),
              ElementsAre("aten::mm_fprop_1|dram__bytes.sum|300.0|2", "aten::mm_fprop_1|lts__t_sector_hit_rate.pct||2",
                          "aten::mm_fprop_1|sm__cycles_active.avg|2.0|2", "aten::mm_fprop_1|tensor.pct|50.5|2"));
  EXPECT_THAT(rows("SELECT metric, measured, measured_on, scaled_to, unreliable FROM op_metrics ORDER BY metric"),
              ElementsAre("dram__bytes.sum|100.0|1|3|0", "lts__t_sector_hit_rate.pct||||1", "sm__cycles_active.avg||||0",
                          "tensor.pct||||1"));
  EXPECT_THAT(rows("SELECT kernel_name, op_id, metric, value FROM op_kernel_metrics WHERE value BETWEEN 50 AND 51"),
              ElementsAre("gemm|aten::mm_fprop_1|tensor.pct|50.5"));
  EXPECT_THAT(rows("SELECT op_type, metric, value FROM op_type_metrics WHERE value < 50"),
              ElementsAre("aten::mm|sm__cycles_active.avg|2.0"));
}

TEST_F(ViewsTest, MetricsSayHowTheyWereCollectedAndMixNothing) {
  EXPECT_THAT(
      rows("SELECT round(stddev, 6), collected_by, cache_control, passes, metric_set, clock_hz FROM metrics WHERE config = 0"),
      ElementsAre("0.707107|kernel replay|none|10|0|"));
  EXPECT_THAT(rows("SELECT samples, mean, stddev, collected_by, cache_control, passes, metric_set FROM metrics WHERE config = 1"),
              ElementsAre("1|0.0||kernel replay|all|4|1", "1|-1.0e+300||iteration replay|none|1|1"));
}

TEST_F(ViewsTest, MetricSamplesAreTheLaunchesOneByOne) {
  EXPECT_THAT(rows("SELECT kernel_name, launch_index, occurrence, metric, value, collected_by, cache_control, passes, cost_ns "
                   "FROM metric_samples WHERE config = 0 AND metric <> 'tensor.pct'"),
              ElementsAre("gemm|5|2|sm__cycles_active.avg|1.5|kernel replay|none|10|21000000",
                          "gemm|8|4|sm__cycles_active.avg|2.5|kernel replay|none|10|22000000"));
}

TEST_F(ViewsTest, CoverageSaysWhyLaunchesWereNotMeasured) {
  EXPECT_THAT(rows("SELECT pid, config, kernel_name, grid_x, launches, matched, measured, near_missed, left_alone, timed, "
                   "timed_gpu_ns, timed_gpu_pct, incomplete FROM coverage"),
              ElementsAre("41|0|gemm|4|9|8|2|0|0|7|700|70.0|", "41||gemm||12|0|0|12|0|5|300|30.0|near missed",
                          "42|1||1|4|4|3|0|0|0|0|0.0|", "42||||2|2|0|0|2|0|0|0.0|cooperative"));
  EXPECT_THAT(rows("SELECT reason FROM coverage WHERE incomplete = 'cooperative'"),
              ElementsAre("cooperative: blocks wait for one another, so a replay could hang"));
}

TEST_F(ViewsTest, FiguresOfOpsSayHowTheyWereMeasured) {
  EXPECT_THAT(rows("SELECT op_id, collected_by, cache_control FROM detail"),
              ElementsAre("aten::mm_fprop_1|kernel replay|none", "memcpy_1||"));
}

TEST_F(ViewsTest, PcSamplesAreByInstruction) {
  EXPECT_THAT(rows("SELECT kernel_name, byte_offset, source_file, source_line, reason, samples, cycles FROM pc_samples "
                   "WHERE byte_offset >= 16 AND reason LIKE '%selected'"),
              ElementsAre("[CUDA memcpy HtoD]|16|/src/model.cu|8|smsp__pcsamp_warps_issue_stalled_selected|1|131072",
                          "[CUDA memcpy HtoD]|32|||smsp__pcsamp_warps_issue_stalled_selected|1|131072"));
}

TEST_F(ViewsTest, InstructionCountsAreByInstructionAndConfiguration) {
  EXPECT_THAT(rows("SELECT kernel, function, byte_offset, source_file, source_line, config, instructions_executed, "
                   "threads_executed, threads_predicated_on, global_sectors, global_sectors_ideal FROM instruction_counts"),
              ElementsAre("0|0|0|/src/model.cu|7|0|100|3200|1600|800|200", "0|0|0|/src/model.cu|7|1|10|320|320|80|40",
                          "0|0|16|/src/model.cu|8|0|100|3000|3000|0|0", "1|2|32|||1|7|224|112|0|0"));
  EXPECT_THAT(rows("SELECT DISTINCT divergent_branches, shared_wavefronts, shared_wavefronts_ideal FROM instruction_counts"),
              ElementsAre("||"))
      << "which that GPU does not count";
}

}  // namespace
}  // namespace dlkprof::store::views_test
