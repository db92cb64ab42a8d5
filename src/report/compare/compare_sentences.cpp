#include "report/compare/compare_sentences.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "report/compare/compare_words.h"
#include "report/format/layout.h"

namespace dlkprof::report {
namespace {

using advise::ChangeVerdict;
using advise::Comparison;
using advise::RunFigures;

using Sentences = std::vector<std::string>;

constexpr double kHalfIdle = 0.5;  // of an iteration: the GPU waits for longer than it works

std::string listed(const std::vector<std::string>& texts) {
  return texts.empty() ? "none" : printable(fmt::format("{}", fmt::join(texts, ", ")), kWordsWidth);
}

std::string chance(const std::optional<double>& p) {
  if (!p) return "";
  return *p < 0.001 ? "p < 0.001" : fmt::format("p = {:.3f}", *p);
}

std::string key_node_of(const RunFigures& run) {
  return run.key_node.empty() ? "what the launches repeat" : printable(run.key_node, kWordsWidth);
}

// Frameworks tell the batch of their own process.
void say_processes(const RunFigures& run, Sentences& said) {
  if (run.processes < 2 || !run.batch_size || !run.batch_size_recorded) return;
  said.push_back(
      fmt::format("{} has {} processes, and {} is taken for the batch size of all of them together: give --batch_sizes "
                  "where it is not.",
                  run_label(run), run.processes, *run.batch_size));
}

void say_obstacles(const Comparison& of, Sentences& said) {
  for (const RunFigures* run : {of.base, of.other}) {
    if (!run->has_iterations) {
      said.push_back(
          fmt::format("In {} no whole iterations were found: its figures are of the whole run. --key_node names the op "
                      "that ends an iteration.",
                      run_label(*run)));
    } else if (run->iteration.n < advise::kLeastValues) {
      said.push_back(
          fmt::format("{} has {} whole iterations, and telling a change from noise takes {}: ratios are shown, and "
                      "not judged.",
                      run_label(*run), run->iteration.n, advise::kLeastValues));
    }
    if (!run->batch_size) {
      said.push_back(
          fmt::format("The batch size of {} is not known, so nothing is said of samples: give --batch_sizes.", run_label(*run)));
    }
    say_processes(*run, said);
  }
  if (of.base->has_iterations && of.other->has_iterations && of.base->key_node != of.other->key_node) {
    said.push_back(fmt::format("Iterations end with {} in {} and with {} in {}: they may not be the same step.",
                               key_node_of(*of.base), run_label(*of.base), key_node_of(*of.other), run_label(*of.other)));
  }
  if (of.base->gpus != of.other->gpus) {
    said.push_back(fmt::format("The GPUs differ: {} has {}, {} has {}.", run_label(*of.base), listed(of.base->gpus),
                               run_label(*of.other), listed(of.other->gpus)));
  }
  if (of.base->frameworks != of.other->frameworks) {
    said.push_back(fmt::format("The frameworks differ: {} has {}, {} has {}.", run_label(*of.base), listed(of.base->frameworks),
                               run_label(*of.other), listed(of.other->frameworks)));
  }
}

// A sentence for each kind that both have.
void say_kinds(const Comparison& of, Sentences& said) {
  for (const advise::KindPair& kind : of.kinds) {
    const auto& [base_ns, other_ns, ratio, p, verdict] = kind.iteration;
    if (!ratio) continue;
    const std::string change =
        verdict == ChangeVerdict::no_change ? "the spread of these iterations explains the difference" : times_text(*ratio);
    said.push_back(fmt::format("An iteration of the kind {} takes {} with {} and {} with {}: {}{}; its GPU time is {} and {}.",
                               printable(kind.name, kWordsWidth), time_text_of(base_ns), run_label(*of.base),
                               time_text_of(other_ns), run_label(*of.other), change, p ? " (" + chance(p) + ")" : "",
                               time_text_of(kind.gpu.base_ns), time_text_of(kind.gpu.other_ns)));
  }
  if (of.kinds.empty()) {
    said.push_back(
        fmt::format("{} has iterations of several kinds, and the other run has not the same: their lengths are not compared.",
                    run_label(of.base->kinds.empty() ? *of.other : *of.base)));
  } else {
    said.push_back("Ops are compared over iterations of all kinds: --iter_kind compares one.");
  }
}

void say_times(const Comparison& of, Sentences& said) {
  if (of.is_mixed()) return say_kinds(of, said);
  const auto& [base_ns, other_ns, ratio, p, verdict] = of.iteration;
  if (!ratio) return;
  const std::string times = fmt::format("{} with {} and {} with {}", time_text_of(base_ns), run_label(*of.base),
                                        time_text_of(other_ns), run_label(*of.other));
  if (verdict == ChangeVerdict::no_change) {
    said.push_back(
        fmt::format("An iteration takes {}: the spread of the iterations explains the difference ({}).", times, chance(p)));
  } else {
    said.push_back(fmt::format("An iteration takes {}: {}{}{}.", times, times_text(*ratio), at_samples(of),
                               p ? " (" + chance(p) + ")" : ""));
  }
  const auto before = of.base->samples_per_second();
  const auto after = of.other->samples_per_second();
  if (before && after) {
    said.push_back(fmt::format("Throughput is {} samples/s with {} and {} with {}: {}.", humanize(std::round(*before), "").value,
                               run_label(*of.base), humanize(std::round(*after), "").value, run_label(*of.other),
                               times_text(*after / *before)));
  }
}

void say_gpu(const Comparison& of, Sentences& said) {
  if (of.base->utilization && of.other->utilization) {
    const double before = of.base->utilization->median;
    const double after = of.other->utilization->median;
    std::string text = fmt::format("The GPU works for a median of {} of an iteration with {} and of {} with {}",
                                   share_text_of(before), run_label(*of.base), share_text_of(after), run_label(*of.other));
    if (std::min(before, after) < kHalfIdle) {
      text += fmt::format(": with {} the GPU waits for longer than it works, so the CPU sets the time of an iteration",
                          std::max(before, after) < kHalfIdle ? "both" : run_label(before < after ? *of.base : *of.other));
    }
    said.push_back(text + ".");
  }
  if (of.gpu.ratio && !of.is_mixed()) {
    said.push_back(fmt::format("GPU time per iteration is {} with {} and {} with {}: {}{}{}.", time_text_of(of.gpu.base_ns),
                               run_label(*of.base), time_text_of(of.gpu.other_ns), run_label(*of.other),
                               times_text(*of.gpu.ratio), at_samples(of),
                               of.gpu.verdict == ChangeVerdict::no_change ? ", which their spread explains" : ""));
  }
}

void say_fill(const Comparison& of, Sentences& said) {
  const advise::Fill& before = of.base->fill;
  const advise::Fill& after = of.other->fill;
  if (before.below_one_wave && after.below_one_wave) {
    said.push_back(fmt::format("Kernels that fill less than one wave of the GPU take {} of the GPU time with {} and {} with {}.",
                               share_text_of(*before.below_one_wave), run_label(*of.base), share_text_of(*after.below_one_wave),
                               run_label(*of.other)));
  }
  if (before.idle_sms && after.idle_sms) {
    said.push_back(fmt::format("Weighted by GPU time, {} of the SMs get no block with {} and {} with {}.",
                               share_text_of(*before.idle_sms), run_label(*of.base), share_text_of(*after.idle_sms),
                               run_label(*of.other)));
  }
}

void say_hardware(const Comparison& of, Sentences& said) {
  const advise::Measured& before = of.base->measured;
  const advise::Measured& after = of.other->measured;
  std::string parts;
  const auto add = [&parts](const char* what, const std::optional<double>& a, const std::optional<double>& b) {
    if (a && b) parts += fmt::format("{}{} is {:.1f} and {:.1f} %", parts.empty() ? "" : ", ", what, *a, *b);
  };
  add("achieved occupancy", before.occupancy, after.occupancy);
  add("tensor pipe use", before.tensor_pipe, after.tensor_pipe);
  add("DRAM throughput", before.dram_throughput, after.dram_throughput);
  if (parts.empty() || !before.share || !after.share) {
    if (!before.share || !after.share)
      said.push_back(fmt::format("Counters are missing: none were measured with {}.",
                                 !before.share && !after.share ? "either" : run_label(before.share ? *of.other : *of.base)));
    return;
  }
  parts.front() = static_cast<char>(parts.front() - 'a' + 'A');
  said.push_back(fmt::format("{} with {} and {}, of the {} and {} of the kernels' GPU time that were measured.", parts,
                             run_label(*of.base), run_label(*of.other), share_text_of(*before.share),
                             share_text_of(*after.share)));
}

}  // namespace

std::vector<std::string> compare_sentences(const Comparison& comparison) {
  Sentences said;
  say_obstacles(comparison, said);
  say_times(comparison, said);
  say_gpu(comparison, said);
  say_fill(comparison, said);
  say_hardware(comparison, said);
  for (std::string& sentence : compare_op_sentences(comparison)) said.push_back(std::move(sentence));
  return said;
}

}  // namespace dlkprof::report
