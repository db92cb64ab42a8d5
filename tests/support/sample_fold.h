// A small timeline with its fold and aggregate, made by hand for the tests of reports: two iterations of a net with a
// convolution, forward and backward, and a copy that no range encloses. Figures agree with one another.
#pragma once

#include "model/profile.h"
#include "support/sample_capture.h"

namespace dlkprof::test {

enum SampleKernel : std::uint32_t { kGemmKernel, kReluKernel, kCopyKernel };
enum SampleOp : std::uint32_t { kForwardOp, kBackwardOp, kCopyOp };

inline constexpr const char* kOccupancyMetric = "sm__warps_active.avg.pct_of_peak_sustained_active";
inline constexpr const char* kTensorMetric = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active";

inline model::Activity sample_activity(std::int64_t start, std::int64_t end, std::uint32_t kernel, std::uint32_t config,
                                       std::uint32_t call) {
  model::Activity activity;
  activity.start_ns = start;
  activity.end_ns = end;
  activity.kernel = kernel;
  activity.config = config;
  activity.call = call;
  activity.stream = 7;
  return activity;
}

inline model::Timeline sample_timeline() {
  model::Timeline timeline;
  model::Process process;
  process.record.driver_version = 13000;
  process.record.dlkprof_version = "0.1.0";
  timeline.processes = {process};
  timeline.devices = {{h200()}};
  timeline.threads = {{0, 4242}};
  timeline.strings = {"", "cuLaunchKernel", "cuMemcpyHtoDAsync_v2"};
  timeline.kernels = {
      {capture::ActivityKind::kernel, "_Z9gemm_h884", "gemm_h884", "void gemm_h884<float, 128>(float*)"},
      {capture::ActivityKind::kernel, "_Z4relu", "relu", "relu(float*, int)"},
      {capture::ActivityKind::copy, "", "[CUDA memcpy HtoD]", ""},
  };
  timeline.configs = {{0, key(1, {64, 16, 1}, {256, 1, 1})}, {0, key(2, {8, 1, 1}, {128, 2, 1})}};
  for (std::int64_t start : {1000, 2000, 3000, 4000}) timeline.ranges.push_back({start, start + 100});
  for (std::uint32_t i = 0; i < 5; ++i) timeline.calls.push_back({1000 + 1000 * i, 1030 + 1000 * i, i, 0, 1});
  timeline.calls[4].range = model::kNone;
  timeline.calls[4].name = 2;
  timeline.activities = {sample_activity(1100, 1500, kGemmKernel, 0, 0), sample_activity(2100, 2700, kReluKernel, 1, 1),
                         sample_activity(3100, 3500, kGemmKernel, 0, 2),
                         sample_activity(0, 0, kReluKernel, 1, 3),  // being measured
                         sample_activity(5100, 5200, kCopyKernel, model::kNone, 4)};
  timeline.activities[4].bytes = 4096;
  timeline.facts = {{"pytorch", "version", "2.11.0"}, {"pytorch", "cudnn.version", "9.10"}};
  timeline.measured[0] = {{kOccupancyMetric, {18, 20}}, {kTensorMetric, {60, 64}}, {"dram__bytes.sum", {1000, 3000}}};
  timeline.first_ns = 1000;
  timeline.last_ns = 5200;
  return timeline;
}

inline model::Op sample_op(const std::string& id, const std::string& name, const std::string& type, model::Direction direction) {
  model::Op op;
  op.id = id;
  op.name = name;
  op.type = type;
  op.direction = direction;
  op.framework = model::Framework::pytorch;
  return op;
}

inline model::Fold sample_fold_of_ops() {
  model::Fold fold;
  fold.ops = {sample_op("aten::conv2d_fprop_1", "/net/conv1/aten::conv2d", "aten::conv2d", model::Direction::fprop),
              sample_op("aten::mm_bprop_1", "/net/conv1/aten::conv2d", "aten::mm", model::Direction::bprop),
              sample_op("cuMemcpyHtoDAsync_v2_1", "unassociated_[CUDA memcpy HtoD]", "[CUDA memcpy HtoD]", {})};
  fold.ops[kForwardOp].eligible = true;
  fold.ops[kForwardOp].data_types = "float16";
  fold.ops[kForwardOp].input_shapes = "[[4, 3, 32, 32], []]";
  fold.ops[kForwardOp].group = 1;
  fold.ops[kCopyOp].framework = model::Framework::none;
  fold.groups = {{"/net", model::kNone}, {"/net/conv1", 0}};
  for (std::uint32_t i = 0; i < 4; ++i) fold.instances.push_back({.op = i % 2, .range = i, .iteration = i / 2});
  fold.instances[1].forward = 0;
  fold.instances.push_back({.op = kCopyOp, .iteration = 1});
  fold.call_ns = {30, 30, 30, 30, 30};
  fold.activity_instance = {0, 1, 2, 3, 4};
  fold.activity_iteration = {0, 0, 1, 1, 1};
  fold.iterations = {{1000, 2999}, {3000, 5200}};
  fold.key_nodes_found = 1;
  fold.key_node = "Optimizer.step#SGD.step";
  fold.key_node_source = model::KeyNodeSource::framework;
  return fold;
}

inline model::Stats stats_of(std::uint64_t n, std::int64_t total, std::int64_t least, std::int64_t most) {
  return {n, total, least, most};
}

// Of the convolution's launches, two of which were measured.
inline model::Counters sample_counters() {
  model::Counters counters;
  counters.values = {{kOccupancyMetric, 19},
                     {kTensorMetric, 62},
                     {"sm__throughput.avg.pct_of_peak_sustained_elapsed", 71.25},
                     {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", 45.5},
                     {"dram__bytes_read.sum", 1500},
                     {"dram__bytes_write.sum", 500},
                     {"dram__bytes.sum.per_second", 1.25e12},
                     {"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", 2.5},
                     {"smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", 0.5},
                     {"smsp__average_warps_issue_stalled_selected_per_issue_active.ratio", 7}};
  counters.counts = {{"dram__bytes_read.sum", {750, 1, 2}}, {"dram__bytes_write.sum", {250, 1, 2}}};
  counters.unreliable = {"lts__t_sector_hit_rate.pct"};
  counters.samples = 2;
  counters.covered_ns = 800;
  return counters;
}

inline std::vector<model::OpRow> sample_op_rows() {
  model::OpRow forward{.op = kForwardOp,
                       .cpu = stats_of(2, 200, 100, 100),
                       .gpu = stats_of(2, 800, 400, 400),
                       .overhead = stats_of(2, 140, 70, 70),
                       .idle = stats_of(2, 0, 0, 0),
                       .mapped = stats_of(2, 800, 400, 400),
                       .uses_tc = true,
                       .tc_source = model::TensorCoreSource::counter,
                       .tc_gpu_ns = 800,
                       .tc_kernels = {kGemmKernel},
                       .counters = sample_counters()};
  model::OpRow backward{.op = kBackwardOp,
                        .cpu = stats_of(2, 201, 100, 101),
                        .gpu = stats_of(2, 600, 0, 600),
                        .overhead = stats_of(2, 140, 70, 70),
                        .idle = stats_of(2, 0, 0, 0),
                        .mapped = stats_of(2, 600, 0, 600),
                        .tc_source = model::TensorCoreSource::name,
                        .others = {kReluKernel}};
  model::OpRow copy{.op = kCopyOp, .cpu = stats_of(1, 30, 30, 30), .gpu = stats_of(1, 100, 100, 100), .others = {kCopyKernel}};
  return {forward, backward, copy};
}

inline model::Summary sample_summary() {
  model::Summary summary;
  summary.wall_ns = 4200;
  summary.tc_utilization = 100;
  summary.share = {.gpu = 35.7, .tc = 19, .non_tc = 14.3, .memory = 2.4, .dataloader = 0, .io = 0, .cpu = 8.5, .other = 55.8};
  summary.total_iterations = 3;
  summary.aggregated_iterations = 2;
  summary.stop_iteration = 1;
  summary.mean_iteration_ns = 2100;
  summary.median_iteration_ns = 2100;
  summary.iteration_deviation_ns = 141.5;
  summary.after = {.iterations = 1, .wall_ns = 900, .gpu_ns = 50};
  summary.all_ops = {1500, 431, 3};
  summary.tc_ops = {800, 200, 1};
  summary.other_ops = {700, 231, 2};
  summary.all_kernels = {1500, 150, 3};
  summary.tc_kernels = {800, 60, 1};
  summary.memory = {100, 30, 1};
  summary.other_kernels = {600, 60, 1};
  return summary;
}

inline model::Aggregate sample_aggregate() {
  model::Aggregate aggregate;
  aggregate.last_iteration = 1;
  aggregate.range_source = model::RangeSource::found;
  aggregate.steady = {0, 1, true, ""};
  aggregate.summary = sample_summary();
  aggregate.ops = sample_op_rows();
  aggregate.kernels = {
      {kGemmKernel, kForwardOp, stats_of(2, 800, 400, 400), stats_of(2, 60, 30, 30), true, model::TensorCoreSource::counter,
       sample_counters()},
      {kReluKernel, kBackwardOp, stats_of(1, 600, 600, 600), stats_of(2, 60, 30, 30), false, model::TensorCoreSource::name, {}},
      {kCopyKernel, kCopyOp, stats_of(1, 100, 100, 100), {}, false, model::TensorCoreSource::unknown, {}}};
  const std::vector<model::OpRow>& ops = aggregate.ops;
  aggregate.types = {{"aten::conv2d", 1, true, true, ops[0].cpu, ops[0].gpu, ops[0].overhead, ops[0].idle, ops[0].counters},
                     {"aten::mm", 1, false, false, ops[1].cpu, ops[1].gpu, ops[1].overhead, ops[1].idle, {}}};
  aggregate.groups = {{0, 4, 1, 1, stats_of(2, 401, 200, 201), stats_of(2, 1400, 400, 1000), stats_of(2, 280, 140, 140),
                       stats_of(2, 1200, 600, 600)},
                      {1, 2, 1, 1, stats_of(2, 200, 100, 100), stats_of(2, 800, 400, 400), stats_of(2, 140, 70, 70), {}}};
  return aggregate;
}

inline model::Profile sample_fold() { return {sample_timeline(), sample_fold_of_ops(), sample_aggregate(), {}, {}}; }

// Names as a hostile program could choose them.
inline const std::string kHostileName = "a,\"b\"\r\nc\t\x01\x1b[2J\\ \xff\xfe \xE2\x80\xAE{'x': 1}";

inline model::Profile hostile_fold() {
  model::Profile sample = sample_fold();
  for (model::Op& op : sample.fold.ops) op.id = op.name = op.type = op.data_types = op.input_shapes = kHostileName;
  for (model::Group& group : sample.fold.groups) group.name = kHostileName;
  for (model::Kernel& kernel : sample.timeline.kernels) kernel.name = kernel.long_name = kHostileName;
  for (model::OpTypeRow& row : sample.aggregate.types) row.type = kHostileName;
  sample.fold.key_node = kHostileName;
  sample.timeline.devices[0].record.name = kHostileName;
  return sample;
}

}  // namespace dlkprof::test
