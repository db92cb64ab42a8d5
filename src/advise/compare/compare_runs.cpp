#include "advise/compare/compare_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace dlkprof::advise {
namespace {

// Pairs the ops of two runs: by name, direction and type, then by name and direction where that leaves one on either side, as
// frameworks may call what they do for an op by another name at other shapes.
class Matcher {
 public:
  Matcher(const RunFigures& base, const RunFigures& other) {
    for (const OpFigures& op : base.ops) add(op, &OpPair::base);
    for (const OpFigures& op : other.ops) add(op, &OpPair::other);
  }

  std::vector<OpPair> match() {
    std::map<Name, std::vector<OpPair*>> left;
    for (auto& [key, pair] : pairs_) {
      if (pair.base == nullptr || pair.other == nullptr) left[std::get<0>(key)].push_back(&pair);
    }
    for (auto& [name, some] : left) join(some);
    std::vector<OpPair> found;
    for (const auto& [key, pair] : pairs_) {
      if (pair.base != nullptr || pair.other != nullptr) found.push_back(pair);
    }
    return found;
  }

 private:
  using Name = std::pair<std::string_view, model::Direction>;

  void add(const OpFigures& op, const OpFigures* OpPair::*side) { pairs_[{Name(op.name, op.direction), op.type}].*side = &op; }

  static void join(const std::vector<OpPair*>& some) {
    if (some.size() != 2) return;
    OpPair* base = some[0]->base != nullptr ? some[0] : some[1];
    OpPair* other = base == some[0] ? some[1] : some[0];
    if (base->base == nullptr || other->other == nullptr) return;
    base->other = other->other;
    other->other = nullptr;
  }

  std::map<std::tuple<Name, std::string_view>, OpPair> pairs_;
};

// Of times an iteration with `a` and `b` samples.
std::optional<double> exponent_of(const Change& change, const std::optional<double>& batch_ratio) {
  if (!batch_ratio || *batch_ratio == 1 || !change.ratio || !(*change.ratio > 0)) return std::nullopt;
  return std::log(*change.ratio) / std::log(*batch_ratio);
}

Change medians(const Spread& base, const Spread& other) {
  Change change{base.median, other.median, std::nullopt, std::nullopt, ChangeVerdict::untested};
  if (base.median > 0) change.ratio = other.median / base.median;
  return change;
}

void judge(Change& change, const std::optional<double>& p) {
  change.p = p;
  if (!p) return;
  const bool changed = *p < kSignificance && change.base_ns != change.other_ns;
  change.verdict = !changed                           ? ChangeVerdict::no_change
                   : change.other_ns < change.base_ns ? ChangeVerdict::faster
                                                      : ChangeVerdict::slower;
}

bool same_kernels(const OpFigures& base, const OpFigures& other) {
  const auto names = [](const OpFigures& op) {
    std::set<std::string_view> all;
    for (const KernelFigures& kernel : op.kernels) all.insert(kernel.long_name);
    return all;
  };
  return names(base) == names(other);
}

bool is_regular(const OpPair& pair) {
  return (pair.base != nullptr && pair.base->is_regular()) || (pair.other != nullptr && pair.other->is_regular());
}

void judge_ops(Comparison& made, bool tested) {
  std::vector<std::optional<double>> ps;
  for (const OpPair& pair : made.ops) {
    const bool both = pair.base != nullptr && pair.other != nullptr && pair.base->is_regular() && pair.other->is_regular();
    ps.push_back(both && tested ? mann_whitney(pair.base->gpu_ns, pair.other->gpu_ns) : std::nullopt);
  }
  correct_for_many(ps);
  for (std::size_t i = 0; i < ps.size(); ++i) {
    OpPair& pair = made.ops[i];
    if (pair.base == nullptr || pair.other == nullptr) continue;
    pair.change = medians(pair.base->gpu, pair.other->gpu);
    judge(pair.change, ps[i]);
    pair.exponent = exponent_of(pair.change, made.batch_ratio);
    pair.scaling = scaling_of(pair.exponent);
    pair.same_kernels = same_kernels(*pair.base, *pair.other);
  }
}

double most_ns(const OpPair& pair) {
  const auto median = [](const OpFigures* op) { return op == nullptr ? 0 : op->gpu.median; };
  return std::max(median(pair.base), median(pair.other));
}

}  // namespace

Scaling scaling_of(const std::optional<double>& exponent) {
  if (!exponent) return Scaling::unknown;
  if (*exponent <= kFlatExponent) return Scaling::fixed;
  if (*exponent < 1 - kFlatExponent) return Scaling::sublinear;
  return *exponent <= 1 + kFlatExponent ? Scaling::linear : Scaling::superlinear;
}

namespace {

// The rank test, corrected for the number of kinds.
std::vector<KindPair> compare_kinds(const RunFigures& base, const RunFigures& other) {
  std::vector<KindPair> pairs;
  std::vector<std::optional<double>> iteration_ps, gpu_ps;
  for (const KindFigures& one : base.kinds) {
    const KindFigures* found = other.find_kind(one.name);
    if (found == nullptr) continue;
    pairs.push_back({one.name, medians(one.iteration, found->iteration), medians(one.gpu, found->gpu)});
    iteration_ps.push_back(mann_whitney(one.iteration_ns, found->iteration_ns));
    gpu_ps.push_back(mann_whitney(one.gpu_ns, found->gpu_ns));
  }
  correct_for_many(iteration_ps);
  correct_for_many(gpu_ps);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    judge(pairs[i].iteration, iteration_ps[i]);
    judge(pairs[i].gpu, gpu_ps[i]);
  }
  return pairs;
}

}  // namespace

Comparison compare(const RunFigures& base, const RunFigures& other) {
  Comparison made{.base = &base, .other = &other};
  if (base.batch_size && other.batch_size)
    made.batch_ratio = static_cast<double>(*other.batch_size) / static_cast<double>(*base.batch_size);
  const bool tested = base.has_iterations && other.has_iterations;
  made.kinds = compare_kinds(base, other);
  made.iteration = medians(base.iteration, other.iteration);
  judge(made.iteration, tested ? mann_whitney(base.iteration_ns, other.iteration_ns) : std::nullopt);
  made.iteration_exponent = exponent_of(made.iteration, made.batch_ratio);
  made.gpu = medians(base.gpu, other.gpu);
  judge(made.gpu, tested ? mann_whitney(base.gpu_ns, other.gpu_ns) : std::nullopt);
  made.ops = Matcher(base, other).match();
  made.rare = static_cast<std::size_t>(std::erase_if(made.ops, [](const OpPair& pair) { return !is_regular(pair); }));
  std::stable_sort(made.ops.begin(), made.ops.end(), [](const OpPair& a, const OpPair& b) { return most_ns(a) > most_ns(b); });
  judge_ops(made, tested);
  return made;
}

ComparedRuns compare_all(std::vector<RunFigures> runs) {
  ComparedRuns all{std::move(runs), {}};
  for (std::size_t i = 1; i < all.runs.size(); ++i) all.pairs.push_back(compare(all.runs.front(), all.runs[i]));
  return all;
}

std::vector<std::string> unique_labels(std::vector<std::string> labels) {
  std::set<std::string> taken(labels.begin(), labels.end());
  std::set<std::string> seen;
  for (std::string& label : labels) {
    if (seen.insert(label).second) continue;
    std::string next;
    for (int number = 2; next.empty() || taken.contains(next); ++number) next = fmt::format("{} ({})", label, number);
    taken.insert(next);
    label = next;
    seen.insert(next);
  }
  return labels;
}

}  // namespace dlkprof::advise
