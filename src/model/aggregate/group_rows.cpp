#include <algorithm>

#include "model/aggregate/aggregate_parts.h"
#include "model/aggregate/grouped_indices.h"
#include "model/fold/time_arithmetic.h"

namespace dlkprof::model {
namespace {

// Flattens, iteration by iteration, what the sub-tree of each group did. Everything comes by start, so a union takes no sorting.
class GroupRows {
 public:
  explicit GroupRows(const IterationSlice& slice)
      : slice_(slice), timeline_(slice.timeline), fold_(slice.fold), states_(fold_.groups.size()) {
    for (std::uint32_t group = 0; group < fold_.groups.size(); ++group) {
      rows_.emplace_back().group = group;
      depths_.push_back(depth_of(fold_.groups[group].parent) + 1);
    }
    find_instances();
  }

  std::vector<GroupRow> make(const std::vector<OpRow>& ops) {
    flatten();
    count_leaves(ops);
    std::erase_if(rows_, [](const GroupRow& row) { return row.cpu.n == 0; });
    std::sort(rows_.begin(), rows_.end(),
              [&](const GroupRow& a, const GroupRow& b) { return fold_.groups[a.group].name < fold_.groups[b.group].name; });
    return std::move(rows_);
  }

 private:
  struct State {  // of the iteration at hand
    bool touched = false;
    Flattened cpu, gpu, calls;
  };

  // Of each range the instance that it is or, where it does not count, that of the innermost range around it that does.
  void find_instances() {
    instance_of_range_.assign(timeline_.ranges.size(), kNone);
    for (std::uint32_t i = 0; i < fold_.instances.size(); ++i) {
      if (fold_.instances[i].range != kNone) instance_of_range_[fold_.instances[i].range] = i;
    }
    for (std::size_t range = 0; range < timeline_.ranges.size(); ++range) {
      if (instance_of_range_[range] == kNone) instance_of_range_[range] = instance_at(timeline_.ranges[range].parent);
    }
  }

  void flatten() {
    const std::size_t iterations = fold_.iterations.size();
    const GroupedIndices instances(fold_.instances.size(), iterations,
                                   [&](std::size_t i) { return std::size_t{fold_.instances[i].iteration}; });
    const GroupedIndices activities(timeline_.activities.size(), iterations,
                                    [&](std::size_t i) { return std::size_t{fold_.activity_iteration[i]}; });
    // With the range they were made in, whose time they are taken from.
    const GroupedIndices calls(timeline_.calls.size(), iterations, [&](std::size_t i) {
      const std::uint32_t instance = instance_at(timeline_.calls[i].range);
      return std::size_t{instance == kNone ? kNone : fold_.instances[instance].iteration};
    });
    for (std::uint32_t i = slice_.first_iteration; i <= slice_.last_iteration; ++i) {
      if (!slice_.has(i)) continue;
      for (const std::uint32_t instance : instances[i]) add_instance(fold_.instances[instance]);
      for (const std::uint32_t activity : activities[i]) add_activity(activity);
      for (const std::uint32_t call : calls[i]) add_call(timeline_.calls[call]);
      finish_iteration();
    }
  }

  // Adds a range to the groups that it lies in, less those that the range around it lies in too and so covers already.
  void add_instance(const OpInstance& instance) {
    if (instance.range == kNone) return;
    const Range& range = timeline_.ranges[instance.range];
    std::uint32_t group = innermost(instance);
    std::uint32_t covered = kNone;
    if (const std::uint32_t parent = instance_at(range.parent); parent != kNone) {
      const OpInstance& around = fold_.instances[parent];
      const bool covers = around.iteration == instance.iteration && range.end_ns <= timeline_.ranges[around.range].end_ns;
      if (covers) covered = innermost(around);
    }
    while (group != covered) {
      if (depth_of(group) >= depth_of(covered)) {
        touch(group).cpu.add(range.start_ns, range.end_ns);
        group = fold_.groups[group].parent;
      } else {
        covered = fold_.groups[covered].parent;
      }
    }
  }

  void add_activity(std::uint32_t index) {
    const Activity& activity = timeline_.activities[index];
    if (!is_timed(activity)) return;
    for_each_group(fold_.instances[fold_.activity_instance[index]],
                   [&](std::uint32_t group) { touch(group).gpu.add(activity.start_ns, activity.end_ns); });
  }

  void add_call(const Call& call) {
    for_each_group(fold_.instances[instance_at(call.range)],
                   [&](std::uint32_t group) { touch(group).calls.add(call.start_ns, call.end_ns); });
  }

  void finish_iteration() {
    for (const std::uint32_t group : touched_) {
      State& state = states_[group];
      GroupRow& row = rows_[group];
      row.cpu.add(state.cpu.covered_ns());
      row.overhead.add(elapsed_ns(state.calls.covered_ns(), state.cpu.covered_ns()));
      row.gpu.add(state.gpu.covered_ns());
      row.idle.add(state.gpu.idle_ns());
      state = State();
    }
    touched_.clear();
  }

  void count_leaves(const std::vector<OpRow>& ops) {
    for (const OpRow& row : ops) {
      const Op& op = fold_.ops[row.op];
      const std::uint32_t group = op.own_group != kNone ? op.own_group : op.group;
      if (!op.leaf || group == kNone) continue;
      rows_[group].leaf_instances += row.cpu.n;
      rows_[group].eligible_leaves += op.eligible ? 1 : 0;
      rows_[group].tc_leaves += row.uses_tc ? 1 : 0;
    }
    for (std::size_t group = rows_.size(); group-- > 0;) {
      const std::uint32_t parent = fold_.groups[group].parent;
      if (parent == kNone) continue;
      rows_[parent].leaf_instances += rows_[group].leaf_instances;
      rows_[parent].eligible_leaves += rows_[group].eligible_leaves;
      rows_[parent].tc_leaves += rows_[group].tc_leaves;
    }
  }

  State& touch(std::uint32_t group) {
    State& state = states_[group];
    if (!state.touched) touched_.push_back(group);
    state.touched = true;
    return state;
  }

  template <typename Visit>
  void for_each_group(const OpInstance& instance, Visit visit) {
    for (std::uint32_t group = innermost(instance); group != kNone; group = fold_.groups[group].parent) visit(group);
  }

  [[nodiscard]] std::uint32_t innermost(const OpInstance& instance) const {
    const Op& op = fold_.ops[instance.op];
    return op.own_group != kNone ? op.own_group : op.group;
  }
  [[nodiscard]] std::uint32_t instance_at(std::uint32_t range) const {
    return range == kNone ? kNone : instance_of_range_[range];
  }
  [[nodiscard]] std::uint32_t depth_of(std::uint32_t group) const { return group == kNone ? 0 : depths_[group]; }

  const IterationSlice& slice_;
  const Timeline& timeline_;
  const Fold& fold_;
  std::vector<std::uint32_t> instance_of_range_;
  std::vector<std::uint32_t> depths_;  // of each group, from 1
  std::vector<State> states_;          // of each group
  std::vector<std::uint32_t> touched_;
  std::vector<GroupRow> rows_;
};

}  // namespace

std::vector<GroupRow> make_group_rows(const IterationSlice& slice, const std::vector<OpRow>& ops) {
  if (slice.fold.groups.empty()) return {};
  return GroupRows(slice).make(ops);
}

}  // namespace dlkprof::model
