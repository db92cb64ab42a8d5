#include "model/fold/fold.h"

#include <optional>
#include <utility>

#include "model/aggregate/tensor_core_use.h"
#include "model/fold/asked_key_node.h"
#include "model/fold/compiled_launches.h"
#include "model/fold/instances.h"
#include "model/fold/iteration_kinds.h"
#include "model/fold/iterations.h"
#include "model/fold/key_node.h"
#include "model/fold/lost_times.h"
#include "model/fold/op_paths.h"
#include "model/fold/op_table.h"
#include "model/fold/op_tree.h"
#include "model/fold/places.h"
#include "model/fold/time_arithmetic.h"
#include "model/fold/token_lengths.h"
#include "model/markers/range_markers.h"
#include "model/timeline/text_table.h"

namespace dlkprof::model {
namespace {

// Whatever name a kernel has that uses tensor cores, the op that launched it can use them.
void make_eligible_by_use(const Timeline& timeline, const Instances& instances, std::vector<Op>& ops) {
  const TensorCoreTable tensor_cores(timeline);
  for (std::size_t i = 0; i < timeline.activities.size(); ++i) {
    if (tensor_cores.of(timeline.activities[i]).uses) ops[instances.all[instances.activity_instance[i]].op].eligible = true;
  }
}

std::vector<std::string> find_marker_names(const RangeMarkers& markers, const TextTable& texts, const Instances& instances,
                                           std::size_t ops) {
  std::vector<std::string> names(ops);
  for (const OpInstance& instance : instances.all) {
    if (instance.range != kNone && names[instance.op].empty()) names[instance.op] = texts[markers.signature(instance.range).name];
  }
  return names;
}

void set_iterations(const Timeline& timeline, const IterationSplit& split, Instances& instances, Fold& fold) {
  auto outside = instances.outside.begin();
  for (OpInstance& instance : instances.all) {
    instance.iteration = split.at(instance.range == kNone ? (outside++)->start_ns : timeline.ranges[instance.range].start_ns);
  }
  fold.activity_iteration.reserve(timeline.activities.size());
  for (const Activity& activity : timeline.activities) {
    fold.activity_iteration.push_back(
        split.at(activity.call == kNone ? activity.start_ns : timeline.calls[activity.call].start_ns));
  }
  fold.iterations = split.intervals(timeline);
}

Fold fold_with(const Timeline& timeline, const FoldOptions& options, bool call_times) {
  Fold fold;
  TextTable texts;
  const RangeMarkers markers(timeline, options.domains, texts);
  KeyNode key_node = find_key_node(timeline, markers, texts);
  OpTree tree(texts);
  OpTable table;
  const CompiledLaunches compiled(timeline, markers, texts);
  Instances instances;
  {
    // Names and ids go by the default key node whichever is asked for, so that one found in a report can be asked for next.
    OpPaths paths = find_op_paths(timeline, markers, IterationSplit(key_node.stops), compiled, texts, tree);
    instances = make_instances(timeline, markers, compiled, std::move(paths), tree, texts, table);
  }
  if (call_times) fold.call_ns = measure_calls(timeline, instances);
  table.describe(timeline, tree, texts, fold);
  make_eligible_by_use(timeline, instances, fold.ops);

  if (!options.key_node.empty()) {
    const std::vector<std::string> marker_names = find_marker_names(markers, texts, instances, fold.ops.size());
    key_node = find_asked_key_node(options.key_node, timeline, fold.ops, marker_names, instances);
  }
  fold.key_node = key_node.name;
  fold.key_node_source = key_node.source;
  fold.key_nodes_found = static_cast<std::uint32_t>(key_node.stops.size());
  set_iterations(timeline, IterationSplit(std::move(key_node.stops)), instances, fold);
  fold.instances = std::move(instances.all);
  fold.activity_instance = std::move(instances.activity_instance);
  fold.times_lost_from_ns = times_lost_from_ns(timeline);
  find_iteration_kinds(timeline, find_token_uses(timeline, markers, texts), fold);
  return fold;
}

}  // namespace

Fold fold(const Timeline& timeline, const FoldOptions& options) { return fold_with(timeline, options, true); }

Fold fold_places(const Timeline& timeline, const FoldOptions& options) { return fold_with(timeline, options, false); }

CpuTimes cpu_times(const Timeline& timeline, const Fold& fold, std::size_t instance) {
  const std::int64_t in_calls = fold.call_ns[instance];
  const std::uint32_t index = fold.instances[instance].range;
  if (index == kNone) return {.cpu_ns = in_calls};
  const std::int64_t cpu_ns = elapsed_ns(timeline.ranges[index].start_ns, timeline.ranges[index].end_ns);
  return {.cpu_ns = cpu_ns, .overhead_ns = elapsed_ns(in_calls, cpu_ns)};
}

}  // namespace dlkprof::model
