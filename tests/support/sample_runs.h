// Figures of two runs that a comparison may be of, made by hand: batch sizes 4 and 512.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "advise/compare/compare_runs.h"
#include "advise/run_figures.h"

namespace dlkprof::test {

// 20 times that spread by 2 % around `ns`.
inline std::vector<double> sample_times(double ns) {
  std::vector<double> values;
  for (int i = 0; i < 20; ++i) values.push_back(ns * (1 + 0.004 * ((7 * i) % 11 - 5)));
  return values;
}

inline advise::OpFigures sample_op_figures(const std::string& name, double gpu_ns, const std::string& kernel) {
  advise::OpFigures op;
  op.name = name;
  op.type = "aten::convolution_backward";
  op.direction = model::Direction::bprop;
  op.gpu_ns = sample_times(gpu_ns);
  op.gpu = advise::spread_of(op.gpu_ns);
  op.mean_gpu_ns = op.gpu.median;
  op.occurs = op.gpu_ns.size();
  op.kernels = {{.name = kernel, .long_name = kernel + "<float>", .launches = 2, .gpu_ns = gpu_ns}};
  return op;
}

inline advise::RunFigures sample_run_figures(const std::string& label, std::uint64_t batch_size, double iteration_ns,
                                             std::vector<advise::OpFigures> ops) {
  advise::RunFigures run;
  run.label = label;
  run.gpus = {"NVIDIA H200"};
  run.frameworks = {"PyTorch"};
  run.processes = 1;
  run.key_node = "zero_grad";
  run.has_iterations = true;
  run.first = 1;
  run.last = 20;
  run.batch_size = batch_size;
  run.iteration_ns = sample_times(iteration_ns);
  run.iteration = advise::spread_of(run.iteration_ns);
  for (const advise::OpFigures& op : ops) {
    run.gpu_ns.resize(op.gpu_ns.size());
    for (std::size_t i = 0; i < op.gpu_ns.size(); ++i) run.gpu_ns[i] += op.gpu_ns[i];
  }
  run.gpu = advise::spread_of(run.gpu_ns);
  run.kernels = run.launches = advise::spread_of({70, 70, 70});
  run.copies = advise::spread_of({1, 1, 1});
  run.utilization = advise::spread_of({run.gpu.median / iteration_ns});
  run.tensor_core_share = 0.25;
  run.ops = std::move(ops);
  return run;
}

inline std::vector<advise::RunFigures> sample_runs() {
  advise::OpFigures small = sample_op_figures("/net/conv1", 10'000, "wgrad_small");
  small.fill = {.idle_sms = 0.88, .below_one_wave = 1.0, .waves = 0.06};
  small.measured = {.occupancy = 9.5, .tensor_pipe = 3, .dram_rate = 1e11, .dram_throughput = 2.5, .share = 1.0};
  advise::OpFigures large = sample_op_figures("/net/conv1", 300'000, "wgrad_large");
  large.fill = {.idle_sms = 0.0, .below_one_wave = 0.0, .waves = 7};
  large.measured = {.occupancy = 30.5, .tensor_pipe = 20, .dram_rate = 9e11, .dram_throughput = 19.5, .share = 1.0};
  small.kernels.front().fill = small.fill;
  large.kernels.front().fill = large.fill;
  advise::RunFigures base = sample_run_figures("b4", 4, 4'800'000, {small, sample_op_figures("/opt", 5'000, "adam")});
  advise::RunFigures other = sample_run_figures("b512", 512, 4'000'000, {large, sample_op_figures("/opt", 5'050, "adam")});
  base.fill = small.fill;
  base.measured = small.measured;
  other.fill = large.fill;
  other.measured = large.measured;
  return {base, other};
}

}  // namespace dlkprof::test
