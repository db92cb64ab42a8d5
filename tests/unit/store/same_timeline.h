// Whether two timelines say the same in every field, and if not, where they differ.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "model/timeline/timeline.h"

namespace dlkprof::test {

inline auto fields_of(const model::Process& process) {
  const auto& [pid, parent, start, host, arguments, version, cupti, driver, options, graph_nodes] = process.record;
  const auto& [monotonic, unix_time] = process.clock;
  return std::tuple(pid, parent, start, host, arguments, version, cupti, driver, options, monotonic, unix_time,
                    process.gpu_early_ns, process.gpu_late_ns, process.held_ns, process.graph_launches, process.graph_gpu_ns,
                    process.timing_complete, process.ended, process.damaged_records);
}
inline auto fields_of(const model::Device& device) {
  const auto& [index, name, chip, bus, major, minor, sms, warp, threads_sm, threads_block, blocks, registers_sm, registers_block,
               shared_sm, shared_block, optin, reserved, l2, memory, sm_clock, memory_clock] = device.record;
  return std::tuple(index, name, chip, bus, major, minor, sms, warp, threads_sm, threads_block, blocks, registers_sm,
                    registers_block, shared_sm, shared_block, optin, reserved, l2, memory, sm_clock, memory_clock);
}
inline auto fields_of(const model::Range& range) {
  const auto& [start, end, parent, thread, message, domain, kind, closed, sequence, op_id, bytes] = range;
  return std::tuple(start, end, parent, thread, message, domain, kind, closed, sequence, op_id, bytes);
}
inline auto fields_of(const model::Call& call) {
  const auto& [start, end, range, thread, name] = call;
  return std::tuple(start, end, range, thread, name);
}
inline auto fields_of(const model::Kernel& kernel) {
  const auto& [kind, mangled, name, long_name] = kernel;
  return std::tuple(kind, mangled, name, long_name);
}
inline auto fields_of(const model::Config& config) {
  const auto& [process, key, kernel] = config;
  return std::tuple(process, key, kernel);
}
inline auto fields_of(const model::MetricSet& set) {
  const auto& [id, device, passes, metrics, unavailable] = set.record;
  return std::tuple(set.process, id, device, passes, metrics, unavailable);
}
inline auto fields_of(const model::LoadedFunction& function) {
  const auto& [id, name, registers, shared, local, constant, threads, carveout, binary] = function.record;
  return std::tuple(function.process, id, name, registers, shared, local, constant, threads, carveout, binary);
}
inline auto fields_of(const model::Activity& activity) {
  const auto& [start, end, bytes, launch, call, kernel, config, device, stream, node, graph, replayed, estimated] = activity;
  return std::tuple(start, end, bytes, launch, call, kernel, config, device, stream, node, graph, replayed, estimated);
}
inline auto fields_of(const model::SampledFigure& figure) {
  const auto& [samples, launches, mean, deviation, interval] = figure;
  return std::tuple(samples, launches, mean, deviation, interval);
}
// Metrics by name: their numbers differ, as a database has those of all measurements in one table.
inline auto fields_of(const model::Timeline& timeline, const model::SampleBin& bin) {
  return std::tuple(bin.device, timeline.sampled_metrics.at(bin.metric), bin.start_ns, bin.end_ns, bin.samples, bin.value);
}
inline auto fields_of(const capture::NoticeRecord& notice) {
  const auto& [severity, what, detail, remedy] = notice;
  return std::tuple(severity, what, detail, remedy);
}

template <typename T>
void expect_same_rows(const std::vector<T>& found, const std::vector<T>& wanted, const char* what) {
  ASSERT_EQ(found.size(), wanted.size()) << what;
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(fields_of(found[i]), fields_of(wanted[i])) << what << ' ' << i;
}

inline bool same_values(const std::vector<double>& a, const std::vector<double>& b) {
  const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

inline void expect_same(const model::Timeline& found, const model::Timeline& wanted) {
  expect_same_rows(found.processes, wanted.processes, "process");
  expect_same_rows(found.devices, wanted.devices, "device");
  EXPECT_EQ(found.threads, wanted.threads);
  EXPECT_EQ(found.strings, wanted.strings);
  expect_same_rows(found.ranges, wanted.ranges, "range");
  expect_same_rows(found.calls, wanted.calls, "call");
  expect_same_rows(found.kernels, wanted.kernels, "kernel");
  expect_same_rows(found.configs, wanted.configs, "config");
  expect_same_rows(found.functions, wanted.functions, "function");
  expect_same_rows(found.activities, wanted.activities, "work");
  EXPECT_EQ(found.graph_nodes, wanted.graph_nodes);
  EXPECT_EQ(found.facts, wanted.facts);
  expect_same_rows(found.notices, wanted.notices, "notice");
  ASSERT_EQ(found.measured.size(), wanted.measured.size());
  for (const auto& [config, metrics] : wanted.measured) {
    ASSERT_EQ(found.measured.count(config), 1U);
    ASSERT_EQ(found.measured.at(config).size(), metrics.size());
    for (const auto& [metric, values] : metrics) EXPECT_TRUE(same_values(found.measured.at(config).at(metric), values)) << metric;
  }
  ASSERT_EQ(found.sampled.size(), wanted.sampled.size());
  for (const auto& [config, figures] : wanted.sampled) {
    ASSERT_EQ(found.sampled.count(config), 1U);
    ASSERT_EQ(found.sampled.at(config).size(), figures.size());
    for (const auto& [metric, figure] : figures) {
      EXPECT_EQ(fields_of(found.sampled.at(config).at(metric)), fields_of(figure)) << metric;
    }
  }
  ASSERT_EQ(found.bins.size(), wanted.bins.size());
  for (std::size_t i = 0; i < wanted.bins.size(); ++i) {
    EXPECT_EQ(fields_of(found, found.bins[i]), fields_of(wanted, wanted.bins[i])) << i;
  }
  expect_same_rows(found.metric_sets, wanted.metric_sets, "metric set");
  EXPECT_EQ(found.measured_launches, wanted.measured_launches);
  EXPECT_EQ(found.counts, wanted.counts);
  EXPECT_EQ(found.pc_samples.reasons, wanted.pc_samples.reasons);
  EXPECT_EQ(found.pc_samples.codes, wanted.pc_samples.codes);
  EXPECT_EQ(found.pc_samples.functions, wanted.pc_samples.functions);
  EXPECT_EQ(found.pc_samples.files, wanted.pc_samples.files);
  EXPECT_EQ(found.pc_samples.instructions, wanted.pc_samples.instructions);
  EXPECT_EQ(found.pc_samples.stalls, wanted.pc_samples.stalls);
  EXPECT_EQ(found.pc_samples.totals, wanted.pc_samples.totals);
  EXPECT_EQ(found.pc_samples.sass_metrics, wanted.pc_samples.sass_metrics);
  EXPECT_EQ(found.pc_samples.counts, wanted.pc_samples.counts);
  EXPECT_EQ(found.first_ns, wanted.first_ns);
  EXPECT_EQ(found.last_ns, wanted.last_ns);
}

}  // namespace dlkprof::test
