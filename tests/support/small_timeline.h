// A small timeline with something in every field, and a folding of it, made by hand for the tests of the database.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "model/aggregate/aggregate.h"
#include "model/fold/fold.h"
#include "model/timeline/timeline.h"
#include "support/pc_samples.h"

namespace dlkprof::test {

inline model::Process small_process(std::uint32_t pid) {
  model::Process process;
  process.record = {.pid = pid,
                    .parent_pid = 7,
                    .start_unix_ns = 1'700'000'000'000'000'000,
                    .host = "machine",
                    .arguments = {"python", "train.py", "", "--name=\xE2\x82\xAC"},
                    .dlkprof_version = "0.1.0",
                    .cupti_version = 26,
                    .driver_version = 13000,
                    .options_json = "{}"};
  process.clock = {.monotonic_ns = 5, .unix_ns = 1'700'000'000'000'000'005};
  process.gpu_early_ns = 100;
  process.held_ns = 7;
  process.graph_launches = 3;
  process.graph_gpu_ns = 70;
  process.timing_complete = pid == 41;
  process.ended = true;
  process.damaged_records = 2;
  return process;
}

inline model::Device small_device() {
  return {{.index = 1,
           .name = "NVIDIA H200",
           .chip = "GH100",
           .pci_bus_id = "00000000:1A:00.0",
           .cc_major = 9,
           .cc_minor = 1,
           .sm_count = 132,
           .warp_size = 32,
           .max_threads_per_sm = 2048,
           .max_threads_per_block = 1024,
           .max_blocks_per_sm = 33,
           .registers_per_sm = 65536,
           .registers_per_block = 65537,
           .shared_per_sm = 233472,
           .shared_per_block = 49152,
           .shared_per_block_optin = 232448,
           .shared_reserved_per_block = 1024,
           .l2_bytes = 62914560,
           .memory_bytes = 150754820096,
           .sm_clock_khz = 1980000,
           .memory_clock_khz = 3201000}};
}

// Two steps of one op, a copy outside of every range, a launch that was not timed.
inline model::Timeline small_timeline() {
  using capture::ActivityKind;
  using capture::RangeKind;
  using model::kNone;
  model::Timeline timeline;
  timeline.processes = {small_process(41), small_process(42)};
  timeline.devices = {small_device()};
  timeline.threads = {{0, 41}, {1, 42}};
  timeline.strings = {"",
                      "step",
                      "aten::mm",
                      "gradients",
                      "dom'; --\"",
                      "cuLaunchKernel",
                      "cuMemcpy",
                      std::string("nul\0in it, \xC3\xA4", 14),
                      "aten::mm, seq = , op_id = , sizes = [[4, 8]]"};
  timeline.ranges = {{1000, 2000, kNone, 0, 1, 0, RangeKind::push_pop, true},
                     {1100, 1500, 0, 0, 2, 4, RangeKind::start_end, true},
                     {3000, 4000, kNone, 0, 1, 0, RangeKind::push_pop, false},
                     {3100, 3500, 2, 0, 8, 0, RangeKind::push_pop, true, 7, 9},
                     {3200, 3200, 3, 0, 7, 0, RangeKind::mark, true}};
  timeline.calls = {{500, 600, kNone, 1, 6}, {1200, 1300, 1, 0, 5}, {3150, 3190, 3, 0, 5}, {3300, 3400, 3, 0, 5}};
  timeline.kernels = {{ActivityKind::copy, "", "[CUDA memcpy HtoD]", "[CUDA memcpy HtoD]"},
                      {ActivityKind::kernel, "_Z4gemmv", "gemm", "void ns::gemm<int>()"},
                      {ActivityKind::set, "", "[CUDA memset]", "[CUDA memset]"}};
  timeline.configs = {{0, {1, 3, {4, 5, 6}, {64, 2, 1}, {2, 1, 1}, 8192}, 1}, {1, {0, 0, {1, 1, 1}, {32, 1, 1}, {}, 0}}};
  timeline.functions = {{0, {3, "", 64, 1024, 16, 352, 256, -1, 90}}, {1, {5, "", 255, 0, 0, 0, 1024, 50, 80}}};
  timeline.activities = {{.start_ns = 700, .end_ns = 800, .bytes = 4096, .call = 0, .kernel = 0},
                         {.start_ns = 1400, .end_ns = 1900, .launch_index = 0, .call = 1, .kernel = 1, .config = 0, .stream = 7},
                         {.launch_index = 1, .call = 2, .kernel = 1, .config = 0, .stream = 7},
                         {.start_ns = 3450,
                          .end_ns = 3950,
                          .launch_index = 2,
                          .call = 3,
                          .kernel = 1,
                          .config = 0,
                          .stream = 7,
                          .graph_node = 1,
                          .in_graph = true,
                          .replayed = true,
                          .estimated = true}};
  timeline.graph_nodes = {{kNone, kNone, 0, false}, {1, 0, 3, true}};
  timeline.facts = {{"pytorch", "cudnn.benchmark", "false"}, {"pytorch", "version", "2.11"}};
  timeline.notices = {{capture::Severity::warning, "what", "detail", "remedy"}, {capture::Severity::info, "so", "", ""}};
  timeline.measured[0] = {{"sm__cycles_active.avg", {1.5, 2.5}}, {"tensor.pct", {std::numeric_limits<double>::quiet_NaN()}}};
  timeline.measured[1] = {{"tensor.pct", {-1e300, std::numeric_limits<double>::infinity(), 0.0}}};
  timeline.metric_sets = {{0, {7, 1, 10, {"sm__cycles_active.avg", "tensor.pct"}, {}}},
                          {1, {1, 0, 1, {"tensor.pct"}, {"none.sum"}}}};
  using capture::CacheControl;
  using capture::ReplayMode;
  timeline.measured_launches[0] = {{5, 2, 0, 10, ReplayMode::kernel, CacheControl::none, 1'700'000'000'000'000'100, 21'000'000},
                                   {8, 4, 0, 10, ReplayMode::kernel, CacheControl::none, 1'700'000'000'000'000'200, 22'000'000}};
  timeline.measured_launches[1] = {{1, 0, 1, 1, ReplayMode::iteration, CacheControl::none, 3, 4},
                                   {2, 1, 1, 1, ReplayMode::iteration, CacheControl::none, 5, 6},
                                   {3, 2, 1, 4, ReplayMode::kernel, CacheControl::all, 7, 8}};
  timeline.counts = {{0, 0, 1, 1, 9, 8, 2, 0, 0, 7, 700, capture::SkipReason::none},
                     {0, kNone, 1, 1, 12, 0, 0, 12, 0, 5, 300, capture::SkipReason::none},
                     {1, 1, kNone, 0, 4, 4, 3, 0, 0, 0, 0, capture::SkipReason::none},
                     {1, kNone, kNone, 0, 2, 2, 0, 0, 2, 0, 0, capture::SkipReason::cooperative}};
  timeline.pc_samples = counted_pc_samples();
  timeline.first_ns = 500;
  timeline.last_ns = 4000;
  return timeline;
}

inline model::Stats stats_of(const std::vector<std::int64_t>& values) {
  model::Stats stats;
  for (const std::int64_t value : values) {
    stats.least = stats.n == 0 ? value : std::min(stats.least, value);
    stats.most = stats.n == 0 ? value : std::max(stats.most, value);
    stats.total += value;
    ++stats.n;
  }
  return stats;
}

// What folding small_timeline() may give.
inline model::Fold small_fold() {
  using model::kNone;
  model::Fold fold;
  fold.ops = {
      {"memcpy_1", "unassociated_[CUDA memcpy HtoD]", "[CUDA memcpy HtoD]", model::Direction::none, model::Framework::none},
      {"aten::mm_fprop_1", "/step/aten::mm", "aten::mm", model::Direction::fprop, model::Framework::pytorch, "fp16",
       "[[4, 4], [4, 4]]", "", "aten.mm", "net.py:7 in forward", 0, true, true}};
  fold.groups = {{"/step", kNone}, {"/step/inner", 0}};
  fold.instances = {{.op = 0}, {.op = 1, .range = 1, .iteration = 0}, {.op = 1, .range = 3, .iteration = 1}};
  fold.call_ns = {100, 100, 140};
  fold.activity_instance = {0, 1, 2, 2};
  fold.activity_iteration = {0, 0, 1, 1};
  fold.iterations = {{500, 1999}, {2000, 4000, 0}};
  fold.kinds = {{"decode"}};
  fold.key_nodes_found = 1;
  fold.key_node = "/step";
  fold.key_node_source = model::KeyNodeSource::framework;
  return fold;
}

inline model::Aggregate small_aggregate() {
  model::Aggregate made;
  made.first_iteration = 0;
  made.last_iteration = 1;
  made.range_source = model::RangeSource::found;
  made.steady = {1, 1, true, ""};
  model::OpRow mm{.op = 1, .cpu = stats_of({400, 400}), .gpu = stats_of({500, 500}), .overhead = stats_of({300, 260})};
  mm.idle = stats_of({0, 0});
  mm.mapped = stats_of({500, 500});
  mm.uses_tc = true;
  mm.tc_source = model::TensorCoreSource::counter;
  mm.tc_gpu_ns = 1000;
  mm.tc_kernels = {1};
  mm.others = {0, 2};
  mm.counters = {.values = {{"sm__cycles_active.avg", 2.0}, {"tensor.pct", 50.5}, {"dram__bytes.sum", 300}},
                 .counts = {{"dram__bytes.sum", {100, 1, 3}}},
                 .unreliable = {"lts__t_sector_hit_rate.pct", "tensor.pct"},
                 .samples = 2,
                 .covered_ns = 1000,
                 .replay_modes = 2,
                 .cache_controls = 1};
  model::OpRow copy{.op = 0, .cpu = stats_of({100}), .gpu = stats_of({100}), .overhead = stats_of({0}), .idle = stats_of({0})};
  copy.others = {0};
  made.ops = {mm, copy};
  made.kernels = {{1, 1, stats_of({500, 500}), stats_of({100, 40, 100}), true, model::TensorCoreSource::name, mm.counters},
                  {0, 0, stats_of({100}), stats_of({100}), false, model::TensorCoreSource::unknown, {}}};
  made.types = {{"aten::mm", 1, true, true, mm.cpu, mm.gpu, mm.overhead, mm.idle, mm.counters},
                {"[CUDA memcpy HtoD]", 1, false, false, copy.cpu, copy.gpu, copy.overhead, copy.idle, {}}};
  made.groups = {{0, 2, 1, 1, stats_of({400, 410}), stats_of({500, 510}), stats_of({300, 260}), stats_of({1, 2})}};
  made.kinds = {{0, 1, 2001, 500, 2001, 2001, 0, "The GPU idles."}};
  made.summary.wall_ns = 3501;
  made.summary.tc_utilization = 90.5;
  made.summary.share = {31, 28, 2, 1, 3, 4, 5, 6};
  made.summary.total_iterations = 2;
  made.summary.aggregated_iterations = 2;
  made.summary.stop_iteration = 1;
  made.summary.mean_iteration_ns = 1750.5;
  made.summary.iteration_deviation_ns = 353.5;
  made.summary.all_ops = {1100, 900, 2};
  made.summary.other_kernels = {7, std::nullopt, 9};
  made.summary.median_iteration_ns = 1700;
  made.summary.before = {2, 300, 40};
  made.summary.after = {1, 500, 60};
  return made;
}

}  // namespace dlkprof::test
