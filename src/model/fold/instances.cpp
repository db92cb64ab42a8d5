#include "model/fold/instances.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "model/aggregate/grouped_indices.h"
#include "model/fold/captured_ops.h"
#include "model/fold/time_arithmetic.h"

namespace dlkprof::model {
namespace {

class InstanceMaker {
 public:
  InstanceMaker(const Timeline& timeline, const RangeMarkers& markers, const CompiledLaunches& compiled, OpPaths&& paths,
                OpTree& tree, TextTable& texts, OpTable& table)
      : timeline_(timeline),
        markers_(markers),
        compiled_(compiled),
        compiled_paths_(markers, texts, tree),
        paths_(std::move(paths)),
        tree_(tree),
        texts_(texts),
        table_(table),
        captured_ops_(timeline, markers, paths_, tree),
        apart_(asks_nodes() ? timeline.ranges.size() : 0),
        of_range_(asks_nodes() ? apart_ : paths_.node) {}

  Instances make() {
    find_outside();
    merge();
    join_activities();
    join_forward();
    return std::move(made_);
  }

 private:
  [[nodiscard]] bool asks_nodes() const { return !timeline_.graph_nodes.empty() || !compiled_.empty(); }

  // Fills made_.outside, and activity_instance of their works with indices into it.
  void find_outside() {
    made_.activity_instance.assign(timeline_.activities.size(), kNone);
    if (!compiled_.empty()) add_compiled();
    add_captured();
    const GroupedIndices activities(timeline_.activities.size(), timeline_.calls.size(), [&](std::size_t i) {
      const std::uint32_t call = timeline_.activities[i].call;
      return call != kNone && made_.activity_instance[i] == kNone && is_outside(call) ? call : std::size_t{kNone};
    });
    last_outside_.assign(timeline_.kernels.size(), kNone);
    for (std::uint32_t call = 0; call < timeline_.calls.size(); ++call) {
      if (is_outside(call)) add_call(call, activities[call]);
    }
    captured_calls_ = {};
    for (std::uint32_t i = 0; i < timeline_.activities.size(); ++i) {
      const Activity& activity = timeline_.activities[i];
      if (activity.call != kNone) continue;
      made_.activity_instance[i] = static_cast<std::uint32_t>(made_.outside.size());
      made_.outside.push_back({activity.start_ns, activity.end_ns, kNone, activity.kernel, kNone});
    }
    sort_outside();
  }

  [[nodiscard]] bool is_outside(std::uint32_t call) const {
    return counted_range(markers_, paths_, timeline_.calls[call]) == kNone;
  }

  // A call outside of all ranges is an instance for each kernel that it launched.
  void add_call(std::uint32_t index, std::span<const std::uint32_t> activities) {
    const Call& call = timeline_.calls[index];
    const std::size_t before = made_.outside.size();
    for (const std::uint32_t activity : activities) {
      const std::uint32_t kernel = timeline_.activities[activity].kernel;
      std::uint32_t& last = last_outside_[kernel];
      if (last == kNone || last < before) {
        last = static_cast<std::uint32_t>(made_.outside.size());
        made_.outside.push_back({call.start_ns, call.end_ns, index, kernel, kNone, kNone, last == before});
      }
      made_.activity_instance[activity] = last;
    }
    const bool counted = captured_calls_.contains(index);
    if (activities.empty() && !counted) made_.outside.push_back({call.start_ns, call.end_ns, index});
    if (counted && made_.outside.size() > before) made_.outside[before].first = false;
  }

  // A graph launch is an instance of each op that its works were captured in.
  void add_captured() {
    struct Work {
      std::uint32_t call = 0, number = 0, activity = 0;
    };
    std::vector<Work> works;
    for (std::uint32_t i = 0; i < timeline_.activities.size() && !timeline_.graph_nodes.empty(); ++i) {
      const Activity& activity = timeline_.activities[i];
      if (activity.graph_node == kNone || activity.call == kNone || made_.activity_instance[i] != kNone) continue;
      const std::uint32_t launching = counted_range(markers_, paths_, timeline_.calls[activity.call]);
      const std::uint32_t number = captured_ops_.captured_of(activity, launching);
      if (number != kNone) works.push_back({activity.call, number, i});
    }
    std::stable_sort(works.begin(), works.end(),
                     [](const Work& a, const Work& b) { return std::tie(a.call, a.number) < std::tie(b.call, b.number); });
    for (std::size_t i = 0; i < works.size(); ++i) {
      const auto& [call, number, activity] = works[i];
      const bool same_call = i > 0 && works[i - 1].call == call;
      if (!same_call || works[i - 1].number != number) {
        const bool first = is_outside(call) && !same_call;
        if (first) captured_calls_.insert(call);
        made_.outside.push_back(
            {timeline_.calls[call].start_ns, timeline_.calls[call].end_ns, call, kNone, number, kNone, first});
      }
      made_.activity_instance[activity] = static_cast<std::uint32_t>(made_.outside.size() - 1);
    }
  }

  // Each launch of compiled code that has no range of its own is an instance, and so is each part of a graph launch.
  void add_compiled() {
    std::map<std::tuple<std::uint32_t, const CompiledLaunch*, std::uint32_t>, std::uint32_t> known;  // index into made_.outside
    for (std::uint32_t i = 0; i < timeline_.activities.size(); ++i) {
      const Activity& activity = timeline_.activities[i];
      const CompiledLaunches::Unit* unit = compiled_unit_of(activity);
      if (unit == nullptr) continue;
      const std::uint32_t range = activity.in_graph ? timeline_.graph_nodes[activity.graph_node].range : kNone;
      const auto [outside, is_new] =
          known.try_emplace({activity.call, unit->launch, range}, static_cast<std::uint32_t>(made_.outside.size()));
      if (is_new) {
        const Call& call = timeline_.calls[activity.call];
        made_.outside.push_back({.start_ns = call.start_ns,
                                 .end_ns = call.end_ns,
                                 .call = activity.call,
                                 .kernel = activity.kernel,
                                 .first = !activity.in_graph,
                                 .unit = unit,
                                 .node = activity.in_graph ? activity.graph_node : kNone});
      }
      made_.activity_instance[i] = outside->second;
    }
  }

  // Null where a work is that of a range, or not known to be of compiled code.
  [[nodiscard]] const CompiledLaunches::Unit* compiled_unit_of(const Activity& activity) const {
    if (activity.call == kNone) return nullptr;
    if (!activity.in_graph) return compiled_.of_call(activity.call);
    if (activity.graph_node == kNone || launching_graph_range(activity.call) == kNone) return nullptr;
    return compiled_.of_node(activity.graph_node);
  }
  [[nodiscard]] std::uint32_t launching_graph_range(std::uint32_t call) const {
    const std::uint32_t range = counted_range(markers_, paths_, timeline_.calls[call]);
    return range == kNone ? kNone : compiled_.graph_range_of(range);
  }

  void sort_outside() {
    std::vector<std::uint32_t> order(made_.outside.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return made_.outside[a].start_ns < made_.outside[b].start_ns; });
    std::vector<std::uint32_t> position(order.size());
    std::vector<Outside> sorted;
    sorted.reserve(order.size());
    for (const std::uint32_t i : order) {
      position[i] = static_cast<std::uint32_t>(sorted.size());
      sorted.push_back(made_.outside[i]);
    }
    made_.outside = std::move(sorted);
    for (std::uint32_t& outside : made_.activity_instance) outside = outside == kNone ? kNone : position[outside];
  }

  void merge() {
    made_.all.reserve(timeline_.ranges.size() + made_.outside.size());
    auto outside = made_.outside.begin();
    for (std::uint32_t range = 0; range < timeline_.ranges.size(); ++range) {
      while (outside != made_.outside.end() && outside->start_ns < timeline_.ranges[range].start_ns) add_outside(*outside++);
      if (markers_.counts(range)) {
        add_range(range);
      } else {
        of_range_[range] = kNone;
      }
    }
    while (outside != made_.outside.end()) add_outside(*outside++);
  }

  void add_range(std::uint32_t index) {
    const Signature& signature = markers_.signature(index);
    OpInstance instance;
    instance.op = table_.find({paths_.node[index], signature.type, paths_.direction[index], signature.framework}, index);
    instance.range = index;
    if (const std::uint32_t parent = paths_.parent_of(timeline_.ranges, index); parent != kNone) {
      const std::uint32_t around = made_.all[of_range_[parent]].op;
      table_.set_not_leaf(around);
      table_.inherit_origin(instance.op, around);
    }
    if (const CompiledLaunches::Unit* unit = compiled_.of_range(index)) {
      table_.set_origin(instance.op, {unit->graph, unit->launch, compiled_paths_.module_of(*unit, paths_.so_far())});
    }
    of_range_[index] = static_cast<std::uint32_t>(made_.all.size());
    made_.all.push_back(instance);
  }

  void add_outside(Outside& outside) {
    if (outside.captured != kNone) return add_captured(outside);
    if (outside.unit != nullptr) return add_compiled(outside, *outside.unit);
    const std::string& name =
        outside.kernel != kNone ? timeline_.kernels[outside.kernel].name : timeline_.strings[timeline_.calls[outside.call].name];
    OpInstance instance;
    instance.op = table_.find({tree_.stray(std::string(kUnassociated) + name), texts_.intern(name)}, kNone);
    outside.instance = static_cast<std::uint32_t>(made_.all.size());
    made_.all.push_back(instance);
  }

  void add_captured(Outside& outside) {
    const std::uint32_t launching = counted_range(markers_, paths_, timeline_.calls[outside.call]);
    const std::uint32_t range = captured_ops_.captured(outside.captured).range;
    const Signature& signature = markers_.signature(range);
    OpInstance instance;
    instance.op = table_.find({captured_ops_.node_below(launching, outside.captured), signature.type,
                               captured_ops_.direction_of(launching, outside.captured), signature.framework},
                              range);
    if (!captured_ops_.is_leaf(outside.captured)) table_.set_not_leaf(instance.op);
    if (launching != kNone) table_.set_not_leaf(made_.all[of_range_[launching]].op);
    outside.instance = static_cast<std::uint32_t>(made_.all.size());
    if (const std::uint32_t forward = paths_.forward[range]; forward == kNone) {
      for (const std::uint32_t step : captured_ops_.path_of(outside.captured)) of_captured_range_[step] = outside.instance;
    } else if (const auto latest = of_captured_range_.find(forward); latest != of_captured_range_.end()) {
      instance.forward = latest->second;
    }
    made_.all.push_back(instance);
  }

  void add_compiled(Outside& outside, const CompiledLaunches::Unit& unit) {
    const std::uint32_t graph_range = outside.node != kNone ? launching_graph_range(outside.call) : unit.graph_range;
    const bool is_backward = paths_.forward[graph_range] != kNone;
    const std::uint32_t module = compiled_paths_.module_of(unit, graph_range, paths_.so_far());
    OpKey key{.direction = is_backward ? Direction::bprop : paths_.direction[graph_range], .framework = Framework::pytorch};
    if (unit.range == kNone) {
      key.type = texts_.intern(timeline_.kernels[outside.kernel].name);
      key.node = tree_.child(module, key.type, unit.repetition);
    } else {
      const std::uint32_t captured = timeline_.graph_nodes[outside.node].range;
      key.type = markers_.signature(captured).type;
      key.node = tree_.child(module, markers_.signature(unit.range).name, unit.repetition);
      if (!is_backward) key.node = node_within(key.node, unit.range, captured);
    }
    OpInstance instance{.op = table_.find(key, unit.range)};
    table_.set_origin(instance.op, {unit.graph, unit.launch, module});
    table_.set_not_leaf(made_.all[of_range_[graph_range]].op);
    outside.instance = static_cast<std::uint32_t>(made_.all.size());
    made_.all.push_back(instance);
  }

  // Below the node of a range, that of another within it.
  [[nodiscard]] std::uint32_t node_within(std::uint32_t node, std::uint32_t range, std::uint32_t inner) {
    std::vector<std::uint32_t> steps;
    for (; inner != range && inner != kNone && steps.size() < kMaxOpDepth; inner = paths_.named_parent[inner]) {
      steps.push_back(inner);
    }
    for (; !steps.empty(); steps.pop_back()) node = tree_.grafted(node, paths_.node[steps.back()]);
    return node;
  }

  void join_activities() {
    for (std::size_t i = 0; i < timeline_.activities.size(); ++i) {
      std::uint32_t& instance = made_.activity_instance[i];
      instance = instance != kNone ? made_.outside[instance].instance
                                   : of_range_[counted_range(markers_, paths_, timeline_.calls[timeline_.activities[i].call])];
    }
  }

  // At the end, since what an engine does around a backward range may begin before the forward range on another thread.
  void join_forward() {
    for (OpInstance& instance : made_.all) {
      if (instance.range == kNone) continue;
      const std::uint32_t forward = paths_.forward[instance.range];
      if (forward != kNone) instance.forward = of_range_[forward];
    }
    for (const Outside& outside : made_.outside) {
      if (outside.unit == nullptr) continue;
      const std::uint32_t forward = paths_.forward[launching_graph_range(outside.call)];
      if (forward != kNone) made_.all[outside.instance].forward = of_range_[forward];
    }
  }

  const Timeline& timeline_;
  const RangeMarkers& markers_;
  const CompiledLaunches& compiled_;
  CompiledPaths compiled_paths_;
  OpPaths paths_;
  OpTree& tree_;
  TextTable& texts_;
  OpTable& table_;
  CapturedOps captured_ops_;
  Instances made_;
  // Of each range, index into made_.all; kNone where it does not count. In the place of its node, unless ops in graphs ask for
  // nodes later.
  std::vector<std::uint32_t> apart_;
  std::vector<std::uint32_t>& of_range_;
  std::vector<std::uint32_t> last_outside_;                             // of each kernel, index into made_.outside
  std::unordered_set<std::uint32_t> captured_calls_;                    // calls outside of all ranges, with captured works
  std::unordered_map<std::uint32_t, std::uint32_t> of_captured_range_;  // the latest of each range, index into made_.all
};

// How long a thread was inside CUDA calls until any instant.
class CallClock {
 public:
  // Calls come by start.
  void add(std::int64_t start, std::int64_t end) {
    if (end <= start) return;
    if (!spans_.empty() && start <= spans_.back().end) {
      spans_.back().end = std::max(spans_.back().end, end);
    } else {
      const std::int64_t before = spans_.empty() ? 0 : spans_.back().before;
      const std::int64_t last = spans_.empty() ? 0 : elapsed_ns(spans_.back().start, spans_.back().end);
      spans_.push_back({start, end, before});
      add_ns(spans_.back().before, last);
    }
  }

  // Time in calls from `start` to `end`. Questions come by rising start, which saves most of the searching.
  std::int64_t between(std::int64_t start, std::int64_t end) {
    while (at_ < spans_.size() && spans_[at_].end <= start) ++at_;
    std::size_t step = 1;
    while (at_ + step < spans_.size() && spans_[at_ + step].start < end) step *= 2;
    const auto first = spans_.begin() + static_cast<std::ptrdiff_t>(at_);
    const auto limit = spans_.begin() + static_cast<std::ptrdiff_t>(std::min(at_ + step + 1, spans_.size()));
    const auto behind = std::partition_point(first, limit, [&](const Span& span) { return span.start < end; });
    if (behind == first) return 0;
    const auto last = behind - 1;
    const std::int64_t whole = last->before - first->before;
    const std::int64_t until = elapsed_ns(last->start, std::min(last->end, end));
    return elapsed_ns(elapsed_ns(first->start, start), whole + until);
  }

 private:
  struct Span {
    std::int64_t start = 0, end = 0;
    std::int64_t before = 0;  // length of all before this one
  };
  std::vector<Span> spans_;
  std::size_t at_ = 0;
};

}  // namespace

Instances make_instances(const Timeline& timeline, const RangeMarkers& markers, const CompiledLaunches& compiled, OpPaths paths,
                         OpTree& tree, TextTable& texts, OpTable& table) {
  return InstanceMaker(timeline, markers, compiled, std::move(paths), tree, texts, table).make();
}

std::vector<std::int64_t> measure_calls(const Timeline& timeline, const Instances& instances) {
  std::vector<std::int64_t> call_ns(instances.all.size());
  std::vector<CallClock> clocks(timeline.threads.size());
  for (const Call& call : timeline.calls) clocks[call.thread].add(call.start_ns, call.end_ns);
  for (std::size_t i = 0; i < call_ns.size(); ++i) {
    if (instances.all[i].range == kNone) continue;
    const Range& range = timeline.ranges[instances.all[i].range];
    call_ns[i] = clocks[range.thread].between(range.start_ns, range.end_ns);
  }
  for (const Outside& outside : instances.outside) {
    if (outside.call != kNone && outside.first) call_ns[outside.instance] = elapsed_ns(outside.start_ns, outside.end_ns);
  }
  return call_ns;
}

}  // namespace dlkprof::model
