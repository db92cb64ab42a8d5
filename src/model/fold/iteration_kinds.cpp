#include "model/fold/iteration_kinds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "model/aggregate/grouped_indices.h"
#include "model/fold/time_arithmetic.h"

namespace dlkprof::model {
namespace {

// Of one kernel in one iteration.
struct LaunchedKernel {
  std::uint32_t kernel = 0;
  double count = 0, blocks = 0;  // launches; blocks of their grids together, 0 of copies
};
using LaunchedWork = std::vector<LaunchedKernel>;  // of an iteration, each kernel once

// Collects the work of iterations, one after another.
class WorkReader {
 public:
  explicit WorkReader(const Timeline& timeline) : timeline_(timeline), of_kernel_(timeline.kernels.size()) {}

  // The next call takes the place of what this one gives.
  const LaunchedWork& read(std::span<const std::uint32_t> activities) {
    work_.clear();
    ++stamp_;
    for (const std::uint32_t index : activities) {
      const Activity& activity = timeline_.activities[index];
      Place& place = of_kernel_[activity.kernel];
      if (std::exchange(place.stamp, stamp_) != stamp_) {
        place.at = work_.size();
        work_.push_back({activity.kernel});
      }
      LaunchedKernel& launched = work_[place.at];
      launched.count += 1;
      if (activity.config == kNone) continue;
      const capture::Dim3& grid = timeline_.configs[activity.config].key.grid;
      launched.blocks += double{1} * grid.x * grid.y * grid.z;
    }
    return work_;
  }

 private:
  struct Place {
    std::uint64_t stamp = 0;
    std::size_t at = 0;
  };
  const Timeline& timeline_;
  std::vector<Place> of_kernel_;
  std::uint64_t stamp_ = 0;
  LaunchedWork work_;
};

bool alike_grids(const LaunchedKernel& a, const LaunchedKernel& b) {
  if (a.blocks <= 0 || b.blocks <= 0) return true;  // not known
  const double times = (a.blocks / a.count) / (b.blocks / b.count);
  return times <= kGridTimes && times >= 1 / kGridTimes;
}

// All bits of a number, mixed: the last step of MurmurHash3.
std::uint64_t mixed(std::uint64_t bits) {
  for (const std::uint64_t factor : {0xff51afd7ed558ccdULL, 0xc4ceb9fe1a85ec53ULL}) bits = (bits ^ bits >> 33U) * factor;
  return bits ^ bits >> 33U;
}

// Iterations that are like the first of them.
class AlikeGroup {
 public:
  AlikeGroup(const LaunchedWork& first, std::size_t kernels, TokenUse tokens) : tokens_(tokens), of_kernel_(kernels) {
    for (const LaunchedKernel& launched : first) {
      of_kernel_[launched.kernel] = launched;
      launches_ += launched.count;
    }
  }
  [[nodiscard]] TokenUse tokens() const { return tokens_; }
  // From 0 to 1.
  [[nodiscard]] double likeness(const LaunchedWork& work) const {
    double common = 0, launches = 0;
    for (const LaunchedKernel& launched : work) {
      launches += launched.count;
      const LaunchedKernel& own = of_kernel_[launched.kernel];
      if (own.count > 0 && alike_grids(own, launched)) common += std::min(own.count, launched.count);
    }
    const double all = launches + launches_ - common;
    return all > 0 ? common / all : 1;
  }

 private:
  TokenUse tokens_;
  double launches_ = 0;
  std::vector<LaunchedKernel> of_kernel_;
};

class KindFinder {
 public:
  KindFinder(const Timeline& timeline, Fold& fold)
      : timeline_(timeline),
        fold_(fold),
        reader_(timeline),
        work_of_(timeline.activities.size(), fold.iterations.size(),
                 [&fold](std::size_t i) { return std::size_t{fold.activity_iteration[i]}; }),
        group_of_(fold.iterations.size(), kNone) {}

  void find(const std::vector<TokenUse>& tokens) {
    for (const std::uint32_t i : by_frequency()) group_of_[i] = group_at(i, tokens.empty() ? TokenUse::unknown : tokens[i]);
    if (groups_.size() < 2) return;
    choose_kinds();
    if (std::count(is_kind_.begin(), is_kind_.end(), true) < 2) return;
    for (std::size_t i = 1; i + 1 < group_of_.size(); ++i) {
      if (group_of_[i] == kNone || !is_kind_[group_of_[i]]) group_of_[i] = nearest(i);
    }
    number();
  }

 private:
  // Whole iterations, those first whose exact work is most frequent: so that groups begin with what is typical of them, and not
  // with warm-up.
  std::vector<std::uint32_t> by_frequency() {
    std::vector<std::uint64_t> works(group_of_.size());
    std::unordered_map<std::uint64_t, std::size_t> counts;
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 1; i + 1 < group_of_.size(); ++i) {
      for (const LaunchedKernel& launched : reader_.read(work_of_[i]))  // in any order
        works[i] += mixed(std::uint64_t{launched.kernel} << 32U | static_cast<std::uint32_t>(launched.count));
      ++counts[works[i]];
      order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return counts.at(works[a]) > counts.at(works[b]); });
    return order;
  }

  // kNone: too many groups are there already, or nothing was launched.
  std::uint32_t group_at(std::size_t iteration, TokenUse tokens) {
    const LaunchedWork& work = reader_.read(work_of_[iteration]);
    if (work.empty()) return kNone;
    const bool told = tokens == TokenUse::one || tokens == TokenUse::many;
    for (std::uint32_t i = 0; i < groups_.size(); ++i) {
      if (told ? groups_[i].tokens() == tokens : groups_[i].tokens() == TokenUse::unknown && groups_[i].likeness(work) >= kAlike)
        return i;
    }
    // Room is kept for the two that shapes tell.
    const auto told_groups = std::count_if(groups_.begin(), groups_.end(),
                                           [](const AlikeGroup& group) { return group.tokens() != TokenUse::unknown; });
    if (!told && groups_.size() - static_cast<std::size_t>(told_groups) >= kMostKinds - 2) return kNone;
    groups_.emplace_back(work, timeline_.kernels.size(), told ? tokens : TokenUse::unknown);
    return static_cast<std::uint32_t>(groups_.size() - 1);
  }

  // What shapes tell, what is most frequent, and what the loop comes back to.
  void choose_kinds() {
    std::vector<std::size_t> counts(groups_.size()), stretches(groups_.size());
    for (std::size_t i = 1; i + 1 < group_of_.size(); ++i) {
      if (group_of_[i] == kNone) continue;
      ++counts[group_of_[i]];
      if (group_of_[i - 1] != group_of_[i]) ++stretches[group_of_[i]];
    }
    const auto most = static_cast<std::size_t>(std::max_element(counts.begin(), counts.end()) - counts.begin());
    for (std::size_t i = 0; i < groups_.size(); ++i)
      is_kind_.push_back(i == most || groups_[i].tokens() != TokenUse::unknown || stretches[i] >= kLeastStretches);
  }

  std::uint32_t nearest(std::size_t iteration) {
    const LaunchedWork& work = reader_.read(work_of_[iteration]);
    std::uint32_t best = kNone;
    double most = -1;
    for (std::uint32_t i = 0; i < groups_.size(); ++i) {
      if (!is_kind_[i]) continue;
      const double likeness = groups_[i].likeness(work);
      if (likeness > most) best = i;
      most = std::max(most, likeness);
    }
    return best;
  }

  // By GPU time, falling; equals as they came.
  void number() {
    std::vector<std::int64_t> gpu_times(groups_.size());
    for (std::size_t i = 0; i < timeline_.activities.size(); ++i) {
      const std::uint32_t group = group_of_[fold_.activity_iteration[i]];
      if (group != kNone) add_ns(gpu_times[group], gpu_ns(timeline_.activities[i]));
    }
    std::vector<std::uint32_t> order(groups_.size()), number_of(groups_.size(), kNone);
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return gpu_times[a] > gpu_times[b]; });
    for (const std::uint32_t group : order) {
      if (!is_kind_[group]) continue;
      number_of[group] = static_cast<std::uint32_t>(fold_.kinds.size());
      const TokenUse tokens = groups_[group].tokens();
      fold_.kinds.push_back({tokens == TokenUse::one    ? "decode"
                             : tokens == TokenUse::many ? "prefill"
                                                        : "kind " + std::to_string(fold_.kinds.size() + 1)});
    }
    for (std::size_t i = 1; i + 1 < group_of_.size(); ++i) fold_.iterations[i].kind = number_of[group_of_[i]];
  }

  const Timeline& timeline_;
  Fold& fold_;
  WorkReader reader_;
  GroupedIndices work_of_;
  std::vector<std::uint32_t> group_of_;  // of each iteration: index into groups_; kNone: none yet
  std::vector<AlikeGroup> groups_;
  std::vector<bool> is_kind_;  // of each group
};

// Of each iteration; empty where they do not show a generating loop.
std::vector<TokenUse> tokens_of_iterations(const std::vector<TokenUse>& token_uses, const Fold& fold) {
  std::vector<TokenUse> tokens;
  if (token_uses.empty()) return tokens;
  tokens.assign(fold.iterations.size(), TokenUse::unknown);
  for (const OpInstance& instance : fold.instances) {
    if (instance.range != kNone) tokens[instance.iteration] = tokens[instance.iteration] + token_uses[instance.range];
  }
  if (!shows_generation(tokens)) tokens.clear();
  return tokens;
}

}  // namespace

void find_iteration_kinds(const Timeline& timeline, const std::vector<TokenUse>& token_uses, Fold& fold) {
  constexpr std::size_t kLeastWhole = 2;
  if (fold.key_nodes_found == 0 || fold.iterations.size() < kLeastWhole + 2) return;
  KindFinder(timeline, fold).find(tokens_of_iterations(token_uses, fold));
}

}  // namespace dlkprof::model
