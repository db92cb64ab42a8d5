// Calls and times by iteration, for each key node that the page offers: what the figures of any range of iterations are summed up
// from. So that a long range is summed up from few rows, iterations are also summed up in blocks of 8, of 8 times 8, and so
// on; a range is made of the largest blocks that lie within it. Where iterations are of several kinds, the blocks of each kind
// come besides: one iteration is of one kind, so that only blocks of several are there more than once.

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "model/aggregate/tensor_core_use.h"
#include "model/fold/iterations.h"
#include "model/fold/time_arithmetic.h"
#include "model/names.h"
#include "view/page_tables.h"

namespace dlkprof::view {
namespace {

using store::Connection;
using store::Statement;

// All other key nodes may have so many rows of steps together, and so many are offered: a page stays small, and is written in
// seconds.
constexpr std::size_t kMostRowsOfOthers = 40'000, kMostOthers = 6;
// Each is folded by to see how many rows it takes.
constexpr std::size_t kMostTried = 8;
// With more work in the run, a single other key node would have too many rows.
constexpr std::size_t kMostActivitiesForOthers = 40'000;
// No op that ends more often parts anything worth looking at.
constexpr std::size_t kMostIterationsOfOthers = 5'000;

// What one thing did in one iteration, or in a block of them.
struct Step {
  std::uint32_t block = 0, thing = 0;
  std::uint64_t calls = 0, timed = 0;
  std::int64_t total_ns = 0, least_ns = 0, most_ns = 0;

  void add(const Step& other) {
    calls += other.calls;
    if (other.timed == 0) return;
    least_ns = timed == 0 ? other.least_ns : std::min(least_ns, other.least_ns);
    most_ns = timed == 0 ? other.most_ns : std::max(most_ns, other.most_ns);
    timed += other.timed;
    model::add_ns(total_ns, other.total_ns);
  }
};
using Steps = std::vector<Step>;

Step step_of(std::uint32_t iteration, std::uint32_t thing, bool timed, std::int64_t ns) {
  return timed ? Step{iteration, thing, 1, 1, ns, ns, ns} : Step{iteration, thing, 1, 0, 0, 0, 0};
}

// Sums up what has the same block and thing.
void merge(Steps& steps) {
  const auto key = [](const Step& step) { return std::tie(step.block, step.thing); };
  std::sort(steps.begin(), steps.end(), [&key](const Step& a, const Step& b) { return key(a) < key(b); });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (kept > 0 && key(steps[kept - 1]) == key(steps[i])) {
      steps[kept - 1].add(steps[i]);
    } else {
      steps[kept++] = steps[i];
    }
  }
  steps.resize(kept);
}

// Kernels within ops by configuration, and ops, numbered once for all key nodes.
class Things {
 public:
  explicit Things(const model::Profile& profile) : profile_(profile), tensor_cores_(profile.timeline) {
    for (std::uint32_t op = 0; op < profile.fold.ops.size(); ++op) ops_.emplace(profile.fold.ops[op].id, op);
  }

  // Of each work, in iterations.
  [[nodiscard]] Steps works(const model::Fold& fold) {
    Steps steps;
    for (std::size_t i = 0; i < profile_.timeline.activities.size(); ++i) {
      const model::Activity& activity = profile_.timeline.activities[i];
      const std::uint32_t op = op_of(fold, fold.instances[fold.activity_instance[i]].op);
      const auto next = static_cast<std::uint32_t>(kinds_.size());
      const std::uint32_t kind = kinds_.try_emplace({op, activity.kernel, activity.config}, next).first->second;
      steps.push_back(step_of(fold.activity_iteration[i], kind, model::is_timed(activity), model::gpu_ns(activity)));
    }
    merge(steps);
    return steps;
  }

  // Of instances of ops, with their time on the CPU. Of those that launch work: no other is shown in a range of iterations.
  [[nodiscard]] Steps instances(const model::Fold& fold) const {
    std::vector<bool> launches(profile_.fold.ops.size());
    for (const auto& [kind, id] : kinds_) launches[std::get<0>(kind)] = true;
    Steps steps;
    for (std::size_t i = 0; i < fold.instances.size(); ++i) {
      const model::OpInstance& instance = fold.instances[i];
      if (!launches[op_of(fold, instance.op)]) continue;
      const std::int64_t ns = model::cpu_times(profile_.timeline, fold, i).cpu_ns;
      steps.push_back(step_of(instance.iteration, op_of(fold, instance.op), true, ns));
    }
    merge(steps);
    return steps;
  }

  [[nodiscard]] bool has_ops_of(const model::Fold& fold) const {
    return std::all_of(fold.ops.begin(), fold.ops.end(), [this](const model::Op& op) { return ops_.contains(op.id); });
  }

  void write(Connection& connection) const {
    connection.run(
        "CREATE TABLE page_kind (id INTEGER PRIMARY KEY, op_id TEXT, kernel INTEGER, config INTEGER, uses_tc INTEGER, op "
        "INTEGER)");
    Statement insert = connection.prepare("INSERT INTO page_kind VALUES (?, ?, ?, ?, ?, ?)");
    for (const auto& [kind, id] : kinds_) {
      const auto& [op, kernel, config] = kind;
      insert.run(id, profile_.fold.ops[op].id, kernel,
                 config == model::kNone ? std::nullopt : std::optional<std::int64_t>(config),
                 std::int64_t{tensor_cores_.of(kernel, config).uses}, op);
    }
    connection.run("CREATE INDEX page_kind_op ON page_kind (op_id)");
  }

 private:
  // Its number in the fold of the profile: ops are the same, however iterations are parted.
  [[nodiscard]] std::uint32_t op_of(const model::Fold& fold, std::uint32_t op) const { return ops_.at(fold.ops[op].id); }

  const model::Profile& profile_;
  model::TensorCoreTable tensor_cores_;
  std::unordered_map<std::string, std::uint32_t> ops_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> kinds_;
};

// A key node, and the iterations that figures are of unless others are chosen.
struct KeyNodeSteps {
  const model::Fold& fold;
  std::uint32_t first = 0, last = 0;
  std::uint32_t kind = model::kNone;  // of these: its iterations alone
  model::SteadyRange steady;
  Steps works, instances;

  // Whether an iteration counts where those of kind `of` do, which is kNone for all.
  [[nodiscard]] bool has(std::uint32_t iteration, std::uint32_t of) const {
    return of == model::kNone || fold.iterations[iteration].kind == of;
  }
};

// In tables kinds are numbered from 1, as --iter_kind counts them.
std::optional<std::int64_t> number_of(std::uint32_t kind) {
  return kind == model::kNone ? std::nullopt : std::optional(std::int64_t{kind} + 1);
}

// Those of the iterations that `is_in` holds for.
template <class IsIn>
Steps some_of(const Steps& all, const IsIn& is_in) {
  Steps steps;
  std::copy_if(all.begin(), all.end(), std::back_inserter(steps), [&is_in](const Step& step) { return is_in(step.block); });
  return steps;
}

// All (kNone), then each kind.
std::vector<std::uint32_t> kinds_of(const model::Fold& fold) {
  std::vector<std::uint32_t> kinds{model::kNone};
  for (std::uint32_t kind = 0; kind < fold.kinds.size(); ++kind) kinds.push_back(kind);
  return kinds;
}

// Of the iterations aggregated, as one block.
Steps steps_of_range(const Steps& all, const KeyNodeSteps& node, std::uint32_t kind) {
  Steps steps = some_of(all, [&node, kind](std::uint32_t i) { return node.first <= i && i <= node.last && node.has(i, kind); });
  for (Step& step : steps) step.block = 0;
  merge(steps);
  return steps;
}

// Calls visit(level, works, instances) for the blocks of all iterations, or of those of one kind: single ones are there already.
template <class Visit>
void visit_levels(const KeyNodeSteps& node, std::uint32_t kind, const Visit& visit) {
  const auto is_in = [&node, kind](std::uint32_t i) { return node.has(i, kind); };
  Steps works = some_of(node.works, is_in), instances = some_of(node.instances, is_in);
  for (std::int64_t level = 0;; ++level) {
    if (level > 0 || kind == model::kNone) visit(level, works, instances);
    if (static_cast<std::int64_t>(node.fold.iterations.size()) <= std::int64_t{1} << (kBlockBits * level)) break;
    for (Steps* steps : {&works, &instances}) {
      for (Step& step : *steps) step.block >>= kBlockBits;
      merge(*steps);
    }
  }
}

// So many rows of steps are written for it.
std::size_t rows_of(const KeyNodeSteps& node) {
  std::size_t rows = 0;
  for (const std::uint32_t kind : kinds_of(node.fold)) {
    rows += steps_of_range(node.works, node, kind).size() + steps_of_range(node.instances, node, kind).size();
    visit_levels(node, kind, [&rows](std::int64_t /*level*/, const Steps& works, const Steps& instances) {
      rows += works.size() + instances.size();
    });
  }
  return rows;
}

class Writer {
 public:
  explicit Writer(Connection& connection) : connection_(connection) {
    connection.run(
        "CREATE TABLE page_key (key INTEGER PRIMARY KEY, key_node TEXT, source TEXT, found INTEGER, first INTEGER, last INTEGER, "
        "kind INTEGER, grain INTEGER)");
    connection.run(
        "CREATE TABLE page_iteration_kind (key INTEGER, kind INTEGER, name TEXT, PRIMARY KEY (key, kind)) WITHOUT ROWID");
    connection.run(
        "CREATE TABLE page_iteration (key INTEGER, iteration INTEGER, start_ns INTEGER, duration_ns INTEGER, length_ns INTEGER, "
        "gpu_ns INTEGER, calls INTEGER, aggregated INTEGER, steady INTEGER, wall_ns INTEGER, gpu_wall_ns INTEGER, tc_ns INTEGER, "
        "non_tc_ns INTEGER, memory_ns INTEGER, dataloader_ns INTEGER, cpu_ns INTEGER, other_ns INTEGER, kind INTEGER, "
        "PRIMARY KEY (key, iteration)) WITHOUT ROWID");
    connection.run(
        "CREATE TABLE page_block (id INTEGER PRIMARY KEY, key INTEGER, level INTEGER, first INTEGER, last INTEGER, parent_first "
        "INTEGER, parent_last INTEGER, kind INTEGER)");
    for (const char* table : {"page_step", "page_op_step"}) {
      connection.run(std::string("CREATE TABLE ") + table +
                     " (block INTEGER, thing INTEGER, calls INTEGER, timed INTEGER, total_ns INTEGER, least_ns INTEGER, "
                     "most_ns INTEGER, PRIMARY KEY (block, thing)) WITHOUT ROWID");
    }
  }

  void add(const model::Timeline& timeline, const KeyNodeSteps& node);

 private:
  void add_iterations(const model::Timeline& timeline, const KeyNodeSteps& node);
  void add_steps(const char* table, const Steps& steps, std::int64_t first_block);
  // Rows of the blocks of one level; gives the number of the first.
  std::int64_t add_level(std::int64_t level, const KeyNodeSteps& node, std::uint32_t kind);
  void add_levels(const KeyNodeSteps& node, std::uint32_t kind);
  void add_range(const KeyNodeSteps& node, std::uint32_t kind);

  Connection& connection_;
  std::int64_t key_ = 0, blocks_ = 0;
};

void Writer::add_iterations(const model::Timeline& timeline, const KeyNodeSteps& node) {
  const std::vector<model::WallUse> uses = model::find_iteration_uses(timeline, node.fold);
  std::vector<Step> sums(node.fold.iterations.size());
  for (const Step& step : node.works) sums[step.block].add(step);
  Statement insert =
      connection_.prepare("INSERT INTO page_iteration VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (std::uint32_t i = 0; i < sums.size(); ++i) {
    const model::Iteration& iteration = node.fold.iterations[i];
    const model::WallUse& use = uses[i];
    const bool steady = node.steady.found && node.steady.first <= i && i <= node.steady.last;
    const bool aggregated = node.first <= i && i <= node.last && node.has(i, node.kind);
    insert.run(key_, i, iteration.start_ns, iteration.stop_ns - iteration.start_ns + 1, model::iteration_length_ns(node.fold, i),
               sums[i].total_ns, sums[i].calls, std::int64_t{aggregated}, std::int64_t{steady}, use.wall_ns, use.gpu_ns,
               use.tc_ns, use.non_tc_ns, use.memory_ns, use.dataloader_ns, use.cpu_ns, use.other_ns, number_of(iteration.kind));
  }
}

void Writer::add_steps(const char* table, const Steps& steps, std::int64_t first_block) {
  Statement insert = connection_.prepare(std::string("INSERT INTO ") + table + " VALUES (?, ?, ?, ?, ?, ?, ?)");
  for (const Step& step : steps) {
    const auto time = [&step](std::int64_t ns) { return step.timed == 0 ? std::nullopt : std::optional(ns); };
    insert.run(first_block + step.block, step.thing, step.calls, step.timed, time(step.total_ns), time(step.least_ns),
               time(step.most_ns));
  }
}

std::int64_t Writer::add_level(std::int64_t level, const KeyNodeSteps& node, std::uint32_t kind) {
  const auto iterations = static_cast<std::int64_t>(node.fold.iterations.size());
  const auto width = [](std::int64_t of) { return std::int64_t{1} << (kBlockBits * of); };
  const std::int64_t first_block = blocks_;
  Statement insert = connection_.prepare("INSERT INTO page_block VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  const bool is_top = width(level) >= iterations;
  for (std::int64_t start = 0; start < iterations; start += width(level)) {
    const auto end = [iterations](std::int64_t last) { return std::min(last, iterations - 1); };
    const std::int64_t parent = start / width(level + 1) * width(level + 1);
    const std::uint32_t of = level == 0 ? node.fold.iterations[static_cast<std::size_t>(start)].kind : kind;
    insert.run(blocks_++, key_, level, start, end(start + width(level) - 1), is_top ? -1 : parent,
               is_top ? -1 : end(parent + width(level + 1) - 1), number_of(of));
  }
  return first_block;
}

// The iterations aggregated as a block of their own, of level -1: what the page shows first.
void Writer::add_range(const KeyNodeSteps& node, std::uint32_t kind) {
  connection_.prepare("INSERT INTO page_block VALUES (?, ?, -1, ?, ?, -1, -1, ?)")
      .run(blocks_, key_, node.first, node.last, number_of(kind));
  add_steps("page_step", steps_of_range(node.works, node, kind), blocks_);
  add_steps("page_op_step", steps_of_range(node.instances, node, kind), blocks_);
  ++blocks_;
}

void Writer::add_levels(const KeyNodeSteps& node, std::uint32_t kind) {
  visit_levels(node, kind, [&](std::int64_t level, const Steps& works, const Steps& instances) {
    const std::int64_t first_block = add_level(level, node, kind);
    add_steps("page_step", works, first_block);
    add_steps("page_op_step", instances, first_block);
  });
}

void Writer::add(const model::Timeline& timeline, const KeyNodeSteps& node) {
  add_iterations(timeline, node);
  connection_.prepare("INSERT INTO page_key VALUES (?, ?, ?, ?, ?, ?, ?, 1)")
      .run(key_, node.fold.key_node, model::name_in(model::kKeyNodeSources, node.fold.key_node_source), node.fold.key_nodes_found,
           node.first, node.last, number_of(node.kind));
  Statement name = connection_.prepare("INSERT INTO page_iteration_kind VALUES (?, ?, ?)");
  for (const std::uint32_t kind : kinds_of(node.fold)) {
    if (kind != model::kNone) name.run(key_, number_of(kind), node.fold.kinds[kind].name);
    add_range(node, kind);
    add_levels(node, kind);
  }
  ++key_;
}

// Ops that end at least twice, those that lie in fewest others first: a step of the loop rather than a layer of it.
std::vector<std::string> other_key_nodes(const model::Profile& profile) {
  std::vector<std::size_t> instances(profile.fold.ops.size());
  for (const model::OpInstance& instance : profile.fold.instances) {
    if (instance.range != model::kNone) ++instances[instance.op];
  }
  std::vector<std::tuple<std::ptrdiff_t, std::size_t, std::string>> found;
  for (std::size_t i = 0; i < instances.size(); ++i) {
    const model::Op& op = profile.fold.ops[i];
    if (instances[i] < 2 || instances[i] > kMostIterationsOfOthers) continue;
    if (op.name == profile.fold.key_node || op.id == profile.fold.key_node) continue;
    found.emplace_back(std::count(op.name.begin(), op.name.end(), '/'), instances[i], op.id);
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> ids;
  for (const auto& [depth, count, id] : found) ids.push_back(id);
  return ids;
}

void add_others(Writer& writer, Things& things, const model::Profile& profile) {
  if (profile.timeline.activities.size() > kMostActivitiesForOthers) return;
  std::size_t rows = 0, added = 0, tried = 0;
  for (const std::string& id : other_key_nodes(profile)) {
    if (added == kMostOthers || tried++ == kMostTried) return;
    model::FoldOptions options = profile.options;
    options.key_node = id;
    const model::Fold fold = model::fold(profile.timeline, options);
    if (!things.has_ops_of(fold)) return;  // a database that was folded in another way, as by --mode simple
    const model::SteadyRange steady = model::find_steady_range(fold);
    const KeyNodeSteps node{fold, steady.first, steady.last, model::kNone, steady, things.works(fold), things.instances(fold)};
    const std::size_t more = rows_of(node);
    if (rows + more > kMostRowsOfOthers) continue;
    rows += more;
    ++added;
    writer.add(profile.timeline, node);
  }
}

}  // namespace

void add_step_tables(Connection& connection, const model::Profile& profile) {
  Things things(profile);
  Writer writer(connection);
  const model::Aggregate& aggregate = profile.aggregate;
  writer.add(profile.timeline, {profile.fold, aggregate.first_iteration, aggregate.last_iteration, aggregate.kind,
                                aggregate.steady, things.works(profile.fold), things.instances(profile.fold)});
  add_others(writer, things, profile);
  things.write(connection);
  connection.run(
      "CREATE VIEW page_steps AS SELECT b.key, b.level, b.first, b.last, b.kind, k.op_id, k.kernel, k.config, k.uses_tc, "
      "s.calls, "
      "s.timed, "
      "s.total_ns AS gpu_ns, s.least_ns AS gpu_min_ns, s.most_ns AS gpu_max_ns, s.block FROM page_step s "
      "JOIN page_block b ON b.id = s.block JOIN page_kind k ON k.id = s.thing");
}

}  // namespace dlkprof::view
