// What a profile comes down to, for one screen: what holds the steady iteration back, where its GPU time goes, and how much of
// that was measured. Figures only; the words are the report's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "advise/rules.h"
#include "advise/verdict.h"
#include "model/aggregate/op_groups.h"
#include "model/profile.h"

namespace dlkprof::advise {

struct OverviewRow {
  std::string name, type;  // of the group; of a kernel its name. Not printable yet
  std::string whole_name;  // of a kernel, as in C++; else empty
  model::Direction direction = model::Direction::none;
  std::int64_t gpu_ns = 0;     // in all iterations aggregated
  double percent = 0;          // of all GPU time
  std::int64_t copies_ns = 0;  // of its GPU time, in copies and sets, which have no counters
  // Of the GPU time of its kernels, in launch configurations that were measured: what the figures of counters stand for.
  double measured_percent = 0;
  Judgement judgement;
  std::int64_t tensor_ns = 0;  // of its GPU time, in kernels that use tensor cores
  bool uses_tc = false;
  model::TensorCoreSource tc_source = model::TensorCoreSource::unknown;
  std::optional<double> occupancy;  // achieved, %
  std::string stall;                // by PC samples of its longest kernel; empty where there are none
  double stall_percent = 0;
};

// What a screen's verdict is about.
enum class Verdicts : std::uint8_t {
  nothing,       // no GPU time is known
  lost,          // that of what was launched last is not
  launch_bound,  // the GPU idles, mostly before launches
  idle,          // it idles for other reasons
  idle_unsure,   // it idles, and clocks of CPU and GPU are too far apart to say why
  busy,          // what its kernels do counts
};

struct Overview {
  bool has_times = false;         // a timeline: ranges of time rather than counts of launches
  bool has_ops = false;           // rows are groups of ops, else kernels
  bool has_iterations = false;    // of a key node that was found
  bool per_iteration = false;     // these are of one kind, so that figures per iteration are of use
  std::vector<OverviewRow> rows;  // by GPU time, falling
  Verdicts verdict = Verdicts::nothing;
  bool undisturbed = false;         // what follows is of iterations without the profiler
  double idle_percent = 0;          // of the wall clock
  double waited_percent = 0;        // of the idle time: before launches that the GPU waited for
  std::int64_t gpu_ns = 0;          // of all rows
  double gpu_ns_per_iteration = 0;  // without per_iteration: of all
  double measured_percent = 0;      // of the GPU time of kernels, in launch configurations that were measured
  double copies_percent = 0;        // of the GPU time, in copies and sets
  double tensor_percent = 0;        // of the GPU time, in kernels that use tensor cores
  bool tensor_by_name = false;      // more of that is known by names than by counters
  // Of the GPU time: in rows that a verdict names. `known_percent` is their sum.
  std::optional<Verdict> most;  // what bounds the most
  double most_percent = 0, known_percent = 0;
  std::uint64_t launches_measured = 0;
  bool sampled = false, pc_sampled = false, instructions_counted = false;
  std::int64_t clock_ns = 0;  // times of GPU and CPU may be so far apart
  Findings findings;          // those with an estimated gain that can be seen
};

// What holds back each of the groups that group_ops() made `by`.
[[nodiscard]] std::vector<Judgement> judge_groups(const EvidenceTable& evidence, std::span<const model::OpGroupRow> groups,
                                                  model::By by);

[[nodiscard]] Overview overview_of(const model::Profile& profile);

}  // namespace dlkprof::advise
