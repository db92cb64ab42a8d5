#include "report/compare_sentences.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "report/fields.h"
#include "report/layout.h"

namespace dlkprof::report {
namespace {

using advise::Comparison;
using advise::OpFigures;
using advise::OpPair;
using advise::RunFigures;
using advise::Scaling;
using advise::Verdict;

using Sentences = std::vector<std::string>;

constexpr std::size_t kRunLabelWidth = 40;
constexpr std::size_t kMostNameWidth = 120;
constexpr std::size_t kOpsNamed = 6;  // as many as a reader takes in
constexpr std::size_t kKernelNameWidth = 60;
constexpr double kHalfIdle = 0.5;  // of an iteration: the GPU waits for longer than it works
constexpr double kFewSms = 0.1;    // of the SMs: less is not worth a word

std::string label(const RunFigures& run) { return printable(run.label, kRunLabelWidth); }

std::string listed(const std::vector<std::string>& texts) {
  return texts.empty() ? "none" : printable(fmt::format("{}", fmt::join(texts, ", ")), kMostNameWidth);
}

std::string chance(const std::optional<double>& p) {
  if (!p) return "";
  return *p < 0.001 ? "p < 0.001" : fmt::format("p = {:.3f}", *p);
}

std::string name_of(const OpFigures& op) {
  std::string text = printable(op.type, kMostNameWidth);
  if (op.direction != model::Direction::none) text += fmt::format(" ({})", direction(op.direction));
  // The end of a long path says more than its beginning; so it is cut before it is made printable.
  constexpr std::size_t kPath = 100;
  const bool is_long = op.name.size() > kPath;
  const std::string end = is_long ? op.name.substr(op.name.size() - kPath) : op.name;
  return text + " of " + (is_long ? "..." : "") + printable(end, kMostNameWidth);
}

std::string key_node_of(const RunFigures& run) {
  return run.key_node.empty() ? "what the launches repeat" : printable(run.key_node, kMostNameWidth);
}

// Frameworks tell the batch of their own process.
void say_processes(const RunFigures& run, Sentences& said) {
  if (run.processes < 2 || !run.batch_size || !run.batch_size_recorded) return;
  said.push_back(
      fmt::format("{} has {} processes, and {} is taken for the batch size of all of them together: give --batch_sizes "
                  "where it is not.",
                  label(run), run.processes, *run.batch_size));
}

void say_obstacles(const Comparison& of, Sentences& said) {
  for (const RunFigures* run : {of.base, of.other}) {
    if (!run->has_iterations) {
      said.push_back(
          fmt::format("In {} no whole iterations were found: its figures are of the whole run. --key_node names the op "
                      "that ends an iteration.",
                      label(*run)));
    } else if (run->iteration.n < advise::kLeastValues) {
      said.push_back(
          fmt::format("{} has {} whole iterations, and telling a change from noise takes {}: ratios are shown, and "
                      "not judged.",
                      label(*run), run->iteration.n, advise::kLeastValues));
    }
    if (!run->batch_size) {
      said.push_back(
          fmt::format("The batch size of {} is not known, so nothing is said of samples: give --batch_sizes.", label(*run)));
    }
    say_processes(*run, said);
  }
  if (of.base->has_iterations && of.other->has_iterations && of.base->key_node != of.other->key_node) {
    said.push_back(fmt::format("Iterations end with {} in {} and with {} in {}: they may not be the same step.",
                               key_node_of(*of.base), label(*of.base), key_node_of(*of.other), label(*of.other)));
  }
  if (of.base->gpus != of.other->gpus) {
    said.push_back(fmt::format("The GPUs differ: {} has {}, {} has {}.", label(*of.base), listed(of.base->gpus), label(*of.other),
                               listed(of.other->gpus)));
  }
  if (of.base->frameworks != of.other->frameworks) {
    said.push_back(fmt::format("The frameworks differ: {} has {}, {} has {}.", label(*of.base), listed(of.base->frameworks),
                               label(*of.other), listed(of.other->frameworks)));
  }
}

std::string at_samples(const Comparison& of) {
  return of.batch_ratio && *of.batch_ratio != 1 ? fmt::format(" at {} the samples", times_text(*of.batch_ratio)) : "";
}

void say_times(const Comparison& of, Sentences& said) {
  const auto& [base_ns, other_ns, ratio, p, verdict] = of.iteration;
  if (!ratio) return;
  const std::string times =
      fmt::format("{} with {} and {} with {}", time_text_of(base_ns), label(*of.base), time_text_of(other_ns), label(*of.other));
  if (verdict == Verdict::no_change) {
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
                               label(*of.base), humanize(std::round(*after), "").value, label(*of.other),
                               times_text(*after / *before)));
  }
}

void say_gpu(const Comparison& of, Sentences& said) {
  if (of.base->utilization && of.other->utilization) {
    const double before = of.base->utilization->median;
    const double after = of.other->utilization->median;
    std::string text = fmt::format("The GPU works for {} of an iteration with {} and for {} with {}", share_text_of(before),
                                   label(*of.base), share_text_of(after), label(*of.other));
    if (std::min(before, after) < kHalfIdle) {
      text += fmt::format(": with {} the GPU waits for longer than it works, so the CPU sets the time of an iteration",
                          std::max(before, after) < kHalfIdle ? "both" : label(before < after ? *of.base : *of.other));
    }
    said.push_back(text + ".");
  }
  if (of.gpu.ratio) {
    said.push_back(fmt::format("GPU time is {} an iteration with {} and {} with {}: {}{}{}.", time_text_of(of.gpu.base_ns),
                               label(*of.base), time_text_of(of.gpu.other_ns), label(*of.other), times_text(*of.gpu.ratio),
                               at_samples(of), of.gpu.verdict == Verdict::no_change ? ", which their spread explains" : ""));
  }
}

void say_fill(const Comparison& of, Sentences& said) {
  const advise::Fill& before = of.base->fill;
  const advise::Fill& after = of.other->fill;
  if (before.below_one_wave && after.below_one_wave) {
    said.push_back(fmt::format("Kernels that fill less than one wave of the GPU take {} of the GPU time with {} and {} with {}.",
                               share_text_of(*before.below_one_wave), label(*of.base), share_text_of(*after.below_one_wave),
                               label(*of.other)));
  }
  if (before.idle_sms && after.idle_sms) {
    said.push_back(fmt::format("Weighted by GPU time, {} of the SMs get no block with {} and {} with {}.",
                               share_text_of(*before.idle_sms), label(*of.base), share_text_of(*after.idle_sms),
                               label(*of.other)));
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
                                 !before.share && !after.share ? "either" : label(before.share ? *of.other : *of.base)));
    return;
  }
  parts.front() = static_cast<char>(parts.front() - 'a' + 'A');
  said.push_back(fmt::format("{} with {} and {}, of the {} and {} of the kernels' GPU time that were measured.", parts,
                             label(*of.base), label(*of.other), share_text_of(*before.share), share_text_of(*after.share)));
}

struct Count {
  std::size_t ops = 0;
  double base_ns = 0, other_ns = 0;
};

template <typename Takes>
Count count_ops(const Comparison& of, Takes takes) {
  Count count;
  for (const OpPair& pair : of.ops) {
    if (pair.base == nullptr || pair.other == nullptr || !takes(pair)) continue;
    ++count.ops;
    count.base_ns += pair.change.base_ns;
    count.other_ns += pair.change.other_ns;
  }
  return count;
}

void say_scaling(const Comparison& of, Sentences& said) {
  struct Kind {
    Scaling scaling;
    const char* words;
  };
  static constexpr std::array kKinds{Kind{Scaling::fixed, "a fixed cost (time an iteration is flat)"},
                                     Kind{Scaling::sublinear, "cheaper a sample at the larger batch"},
                                     Kind{Scaling::linear, "in step with the batch (time a sample is flat)"},
                                     Kind{Scaling::superlinear, "dearer a sample at the larger batch"}};
  const Count all = count_ops(of, [](const OpPair& pair) { return pair.scaling != Scaling::unknown; });
  if (all.ops == 0) return;
  std::string text = "How ops go with the batch: ";
  const char* separator = "";
  for (const auto& [scaling, words] : kKinds) {
    const Count some = count_ops(of, [scaling = scaling](const OpPair& pair) { return pair.scaling == scaling; });
    if (some.ops == 0) continue;
    const double base = all.base_ns > 0 ? some.base_ns / all.base_ns : 0;
    const double other = all.other_ns > 0 ? some.other_ns / all.other_ns : 0;
    text += fmt::format("{}{}: {}, with {} of the GPU time with {} and {} with {}", separator, words, some.ops,
                        share_text_of(base), label(*of.base), share_text_of(other), label(*of.other));
    separator = "; ";
  }
  said.push_back(text + ".");
}

void say_verdicts(const Comparison& of, Sentences& said) {
  const auto with = [&of](Verdict verdict) {
    return count_ops(of, [verdict](const OpPair& pair) { return pair.change.verdict == verdict; }).ops;
  };
  const std::size_t faster = with(Verdict::faster);
  const std::size_t slower = with(Verdict::slower);
  const std::size_t same = with(Verdict::no_change);
  if (faster + slower + same == 0) return;
  said.push_back(
      fmt::format("Ops that take more GPU time an iteration with {}: {}; less: {}; different by no more than the spread of the "
                  "iterations explains: {}.",
                  label(*of.other), slower, faster, same));
}

// Of the kernels that take longest, where they are not the same.
std::string kernels_text(const OpPair& pair) {
  if (pair.base->kernels.empty() || pair.other->kernels.empty()) return "";
  const advise::KernelFigures& before = pair.base->kernels.front();
  const advise::KernelFigures& after = pair.other->kernels.front();
  if (before.long_name == after.long_name) return "";
  if (before.name == after.name) return fmt::format("; it runs another variant of {}", printable(after.name, kKernelNameWidth));
  return fmt::format("; its longest kernel is {}, was {}", printable(after.name, kKernelNameWidth),
                     printable(before.name, kKernelNameWidth));
}

std::string reasons(const Comparison& of, const OpPair& pair) {
  std::string text;
  const auto before = pair.base->fill.idle_sms;
  const auto after = pair.other->fill.idle_sms;
  if (before && after && std::abs(*before - *after) >= kFewSms) {
    text += fmt::format("; its grids give a block to {} of the SMs with {} and to {} with {}", share_text_of(1 - *before),
                        label(*of.base), share_text_of(1 - *after), label(*of.other));
  }
  if (pair.base->measured.occupancy && pair.other->measured.occupancy) {
    text += fmt::format("; achieved occupancy is {:.1f} and {:.1f} %", *pair.base->measured.occupancy,
                        *pair.other->measured.occupancy);
  }
  return text + kernels_text(pair);
}

// Those that explain most of the difference in GPU time.
void say_ops(const Comparison& of, Sentences& said) {
  std::vector<const OpPair*> changed;
  for (const OpPair& pair : of.ops) {
    const bool counts = pair.change.verdict == Verdict::faster || pair.change.verdict == Verdict::slower;
    if (counts && pair.change.ratio) changed.push_back(&pair);
  }
  const auto difference = [](const OpPair* pair) { return std::abs(pair->change.other_ns - pair->change.base_ns); };
  std::stable_sort(changed.begin(), changed.end(),
                   [&](const OpPair* a, const OpPair* b) { return difference(a) > difference(b); });
  changed.resize(std::min(changed.size(), kOpsNamed));
  for (const OpPair* pair : changed) {
    said.push_back(fmt::format("{} takes {} the GPU time{} ({}, was {}){}.", name_of(pair->either()),
                               times_text(*pair->change.ratio), at_samples(of), time_text_of(pair->change.other_ns),
                               time_text_of(pair->change.base_ns), reasons(of, *pair)));
  }
}

void say_one_sided(const Comparison& of, Sentences& said) {
  for (const auto& [run, side] : {std::pair{of.base, &OpPair::other}, std::pair{of.other, &OpPair::base}}) {
    std::vector<const OpPair*> some;
    for (const OpPair& pair : of.ops) {
      if (pair.*side == nullptr) some.push_back(&pair);
    }
    if (some.empty()) continue;
    double gpu_ns = 0;
    for (const OpPair* pair : some) gpu_ns += pair->either().gpu.median;
    const std::string more = some.size() > 1 ? fmt::format(" and {} more", some.size() - 1) : "";
    said.push_back(fmt::format("Only {} has {}{}: {} an iteration.", label(*run), name_of(some.front()->either()), more,
                               time_text_of(gpu_ns)));
  }
  const auto is_common = [](const OpPair& pair) { return pair.base != nullptr && pair.other != nullptr; };
  if (!of.ops.empty() && std::none_of(of.ops.begin(), of.ops.end(), is_common))
    said.emplace_back("The runs have no op in common: only the whole can be compared.");
}

}  // namespace

std::string times_text(double ratio) {
  if (ratio >= 100) return humanize(std::round(ratio), "").value + "x";
  return ratio >= 10 ? fmt::format("{:.1f}x", ratio) : fmt::format("{:.3g}x", ratio);
}

std::string share_text_of(double share) {
  const double percent = 100 * share;
  return percent > 0 && percent < 0.1 ? "below 0.1 %" : fmt::format("{:.1f} %", percent);
}

std::string time_text_of(double ns) {
  const Quantity quantity = humanize(std::round(ns), "ns");
  return quantity.value + " " + quantity.unit;
}

std::vector<std::string> compare_sentences(const Comparison& comparison) {
  Sentences said;
  say_obstacles(comparison, said);
  say_times(comparison, said);
  say_gpu(comparison, said);
  say_fill(comparison, said);
  say_hardware(comparison, said);
  say_scaling(comparison, said);
  say_verdicts(comparison, said);
  say_ops(comparison, said);
  say_one_sided(comparison, said);
  return said;
}

}  // namespace dlkprof::report
