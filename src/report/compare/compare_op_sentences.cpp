#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "report/compare/compare_sentences.h"
#include "report/compare/compare_words.h"

namespace dlkprof::report {
namespace {

using advise::ChangeVerdict;
using advise::Comparison;
using advise::OpPair;
using advise::Scaling;

using OpSentences = std::vector<std::string>;

constexpr std::size_t kOpsNamed = 6;  // as many as a reader takes in
constexpr std::size_t kKernelNameWidth = 60;
constexpr double kFewSms = 0.1;  // of the SMs: less is not worth a word

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

void say_scaling(const Comparison& of, OpSentences& said) {
  struct Kind {
    Scaling scaling;
    const char* words;
  };
  static constexpr std::array kKinds{Kind{Scaling::fixed, "at a fixed cost (same time per iteration)"},
                                     Kind{Scaling::sublinear, "cheaper per sample at the larger batch"},
                                     Kind{Scaling::linear, "in step with the batch (same time per sample)"},
                                     Kind{Scaling::superlinear, "dearer per sample at the larger batch"}};
  const Count all = count_ops(of, [](const OpPair& pair) { return pair.scaling != Scaling::unknown; });
  if (all.ops == 0) return;
  std::string text = "How ops scale with the batch: ";
  const char* separator = "";
  for (const auto& [scaling, words] : kKinds) {
    const Count some = count_ops(of, [scaling = scaling](const OpPair& pair) { return pair.scaling == scaling; });
    if (some.ops == 0) continue;
    const double base = all.base_ns > 0 ? some.base_ns / all.base_ns : 0;
    const double other = all.other_ns > 0 ? some.other_ns / all.other_ns : 0;
    text += fmt::format("{}{} {}, {} of the GPU time with {} and {} with {}", separator, some.ops, words, share_text_of(base),
                        run_label(*of.base), share_text_of(other), run_label(*of.other));
    separator = "; ";
  }
  said.push_back(text + ".");
}

void say_verdicts(const Comparison& of, OpSentences& said) {
  const auto with = [&of](ChangeVerdict verdict) {
    return count_ops(of, [verdict](const OpPair& pair) { return pair.change.verdict == verdict; }).ops;
  };
  const std::size_t faster = with(ChangeVerdict::faster);
  const std::size_t slower = with(ChangeVerdict::slower);
  const std::size_t same = with(ChangeVerdict::no_change);
  if (faster + slower + same == 0) return;
  said.push_back(fmt::format(
      "GPU time per iteration with {} is higher for {} of {} ops and lower for {}; for {} the spread of the iterations "
      "explains the difference.",
      run_label(*of.other), slower, slower + faster + same, faster, same));
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
                        run_label(*of.base), share_text_of(1 - *after), run_label(*of.other));
  }
  if (pair.base->measured.occupancy && pair.other->measured.occupancy) {
    text += fmt::format("; achieved occupancy is {:.1f} and {:.1f} %", *pair.base->measured.occupancy,
                        *pair.other->measured.occupancy);
  }
  return text + kernels_text(pair);
}

// Those that explain most of the difference in GPU time.
void say_ops(const Comparison& of, OpSentences& said) {
  std::vector<const OpPair*> changed;
  for (const OpPair& pair : of.ops) {
    const bool counts = pair.change.verdict == ChangeVerdict::faster || pair.change.verdict == ChangeVerdict::slower;
    if (counts && pair.change.ratio) changed.push_back(&pair);
  }
  const auto difference = [](const OpPair* pair) { return std::abs(pair->change.other_ns - pair->change.base_ns); };
  std::stable_sort(changed.begin(), changed.end(),
                   [&](const OpPair* a, const OpPair* b) { return difference(a) > difference(b); });
  changed.resize(std::min(changed.size(), kOpsNamed));
  for (const OpPair* pair : changed) {
    said.push_back(fmt::format("{} takes {} the GPU time{} ({}, was {}){}.", op_words(pair->either()),
                               times_text(*pair->change.ratio), at_samples(of), time_text_of(pair->change.other_ns),
                               time_text_of(pair->change.base_ns), reasons(of, *pair)));
  }
}

void say_one_sided(const Comparison& of, OpSentences& said) {
  for (const auto& [run, side] : {std::pair{of.base, &OpPair::other}, std::pair{of.other, &OpPair::base}}) {
    std::vector<const OpPair*> some;
    for (const OpPair& pair : of.ops) {
      if (pair.*side == nullptr) some.push_back(&pair);
    }
    if (some.empty()) continue;
    double gpu_ns = 0;
    for (const OpPair* pair : some) gpu_ns += pair->either().gpu.median;
    const std::string more = some.size() > 1 ? fmt::format(" and {} more", some.size() - 1) : "";
    said.push_back(fmt::format("Only {} has {}{}: {} per iteration.", run_label(*run), op_words(some.front()->either()), more,
                               time_text_of(gpu_ns)));
  }
  const auto is_common = [](const OpPair& pair) { return pair.base != nullptr && pair.other != nullptr; };
  if (!of.ops.empty() && std::none_of(of.ops.begin(), of.ops.end(), is_common))
    said.emplace_back("The runs have no op in common: only the whole can be compared.");
}

}  // namespace

std::vector<std::string> compare_op_sentences(const Comparison& comparison) {
  OpSentences said;
  say_scaling(comparison, said);
  say_verdicts(comparison, said);
  say_ops(comparison, said);
  say_one_sided(comparison, said);
  return said;
}

}  // namespace dlkprof::report
