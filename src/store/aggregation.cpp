#include "store/aggregation.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "dlkprof/version.h"
#include "model/aggregate/provenance.h"
#include "store/bulk_insert.h"
#include "store/diagnosis.h"
#include "store/names.h"
#include "store/open.h"
#include "store/rows.h"
#include "store/schema.h"

namespace dlkprof::store {
namespace {

using model::Stats;

// Rows of one aggregation into one table: its id goes before what is given.
class Inserter {
 public:
  Inserter(const Connection& connection, int aggregation, const char* table)
      : statement_(insert_into(connection, table)), aggregation_(aggregation) {}

  // Stats and Counters are several columns each.
  template <typename... Values>
  void add(const Values&... values) {
    std::apply([this](const auto&... cells) { statement_.run(aggregation_, cells...); }, std::tuple_cat(cells_of(values)...));
  }

 private:
  template <typename Value>
  static auto cells_of(const Value& value) {
    return std::tuple<const Value&>(value);
  }
  static auto cells_of(const Stats& stats) { return std::tuple(stats.n, stats.total, stats.least, stats.most); }
  static auto cells_of(const model::LeftOut& left) { return std::tuple(left.iterations, left.wall_ns, left.gpu_ns); }
  static auto cells_of(const model::OpsLine& line) { return std::tuple(line.gpu_ns, line.cpu_ns, line.count); }
  static auto cells_of(const model::Counters& counters) {
    return std::tuple(counters.samples, counters.covered_ns, model::replay_modes_text(counters.replay_modes),
                      model::cache_controls_text(counters.cache_controls));
  }

  Statement statement_;
  int aggregation_;
};

// What one aggregation is written with.
struct Writer {
  const Connection& connection;
  int id;
  const model::Fold& fold;
  const model::Aggregate& aggregate;
  [[nodiscard]] Inserter rows(const char* table) const { return {connection, id, table}; }
};

std::string domains_text(const model::Profile& profile) { return fmt::format("{}", fmt::join(profile.options.domains, ",")); }

void insert_head(const Connection& connection, int id, const model::Profile& made) {
  const auto steady = [&](std::uint32_t iteration) {
    return made.aggregate.steady.found ? std::optional(iteration) : std::nullopt;
  };
  insert_into(connection, "aggregation")
      .run(id, unix_now_ns(), DLKPROF_VERSION, made.options.key_node, domains_text(made), made.range.start, made.range.stop,
           made.fold.key_node, name_of(made.fold.key_node_source), made.fold.key_nodes_found, made.aggregate.first_iteration,
           made.aggregate.last_iteration, model::range_source_text(made.aggregate.range_source),
           steady(made.aggregate.steady.first), steady(made.aggregate.steady.last));
}

void insert_fold(const Writer& to) {
  std::uint32_t index = 0;
  Inserter groups = to.rows("op_group");
  for (const model::Group& group : to.fold.groups) groups.add(index++, group.name, or_null(group.parent));
  index = 0;
  Inserter ops = to.rows("op");
  for (const model::Op& op : to.fold.ops) {
    ops.add(index++, op.id, op.name, op.type, name_of(op.direction), name_of(op.framework), op.data_types, op.input_shapes,
            or_null(op.group), op.eligible, op.leaf);
  }
  index = 0;
  Inserter iterations = to.rows("iteration");
  for (const model::Iteration& iteration : to.fold.iterations) iterations.add(index++, iteration.start_ns, iteration.stop_ns);
}

void insert_placement(const Writer& to) {
  BulkInsert placement(to.connection, "placement");
  for (std::size_t activity = 0; activity < to.fold.activity_instance.size(); ++activity) {
    const model::OpInstance& instance = to.fold.instances.at(to.fold.activity_instance[activity]);
    placement.add(to.id, activity, instance.op, to.fold.activity_iteration.at(activity), or_null(instance.range));
  }
  placement.finish();
}

enum class CounterKind : std::uint8_t { op = 0, kernel = 1, op_type = 2 };

void insert_counters(Inserter& rows, CounterKind kind, std::size_t rank, const model::Counters& counters) {
  using Number = std::optional<std::uint64_t>;
  for (const auto& [metric, value] : counters.values) {
    const auto count = counters.counts.find(metric);
    const bool counted = count != counters.counts.end();
    const bool measured = counted && count->second.launches > 0;
    rows.add(kind, rank, metric.text(), value, measured ? std::optional(count->second.measured) : std::nullopt,
             measured ? Number(count->second.launches) : Number(), counted ? Number(count->second.scaled_to) : Number(),
             counters.unreliable.contains(metric.text()));
  }
  for (const std::string& metric : counters.unreliable) {
    if (counters.values.contains(metric)) continue;
    rows.add(kind, rank, metric, std::optional<double>(), std::optional<double>(), Number(), Number(), true);
  }
}

void insert_op_stats(const Writer& to) {
  Inserter stats = to.rows("op_stats");
  Inserter kernels = to.rows("op_kernel");
  Inserter counters = to.rows("counter");
  for (std::size_t rank = 0; rank < to.aggregate.ops.size(); ++rank) {
    const model::OpRow& row = to.aggregate.ops[rank];
    stats.add(rank, row.op, row.cpu, row.gpu, row.overhead, row.idle, row.mapped, row.uses_tc, name_of(row.tc_source),
              row.tc_gpu_ns, row.counters);
    for (const std::uint32_t kernel : row.tc_kernels) kernels.add(row.op, kernel, true);
    for (const std::uint32_t kernel : row.others) kernels.add(row.op, kernel, false);
    insert_counters(counters, CounterKind::op, rank, row.counters);
  }
}

void insert_kernel_stats(const Writer& to) {
  Inserter stats = to.rows("kernel_stats");
  Inserter counters = to.rows("counter");
  for (std::size_t rank = 0; rank < to.aggregate.kernels.size(); ++rank) {
    const model::KernelRow& row = to.aggregate.kernels[rank];
    stats.add(rank, row.kernel, row.op, row.gpu, row.api, row.uses_tc, name_of(row.tc_source), row.counters);
    insert_counters(counters, CounterKind::kernel, rank, row.counters);
  }
}

void insert_type_stats(const Writer& to) {
  Inserter stats = to.rows("op_type_stats");
  Inserter counters = to.rows("counter");
  for (std::size_t rank = 0; rank < to.aggregate.types.size(); ++rank) {
    const model::OpTypeRow& row = to.aggregate.types[rank];
    stats.add(rank, row.type, row.nodes, row.eligible, row.uses_tc, row.cpu, row.gpu, row.overhead, row.idle, row.counters);
    insert_counters(counters, CounterKind::op_type, rank, row.counters);
  }
}

void insert_group_stats(const Writer& to) {
  Inserter stats = to.rows("group_stats");
  for (std::size_t rank = 0; rank < to.aggregate.groups.size(); ++rank) {
    const model::GroupRow& row = to.aggregate.groups[rank];
    stats.add(rank, row.group, row.leaf_instances, row.eligible_leaves, row.tc_leaves, row.cpu, row.gpu, row.overhead, row.idle);
  }
}

void insert_summary(const Writer& to) {
  const model::Summary& sum = to.aggregate.summary;
  const model::Duration& share = sum.share;
  to.rows("summary_stats")
      .add(sum.wall_ns, sum.tc_utilization, share.gpu, share.tc, share.non_tc, share.memory, share.dataloader, share.io,
           share.cpu, share.other, sum.total_iterations, sum.aggregated_iterations, sum.start_iteration, sum.stop_iteration,
           sum.mean_iteration_ns, sum.iteration_deviation_ns, sum.all_ops, sum.tc_ops, sum.eligible_without_tc, sum.other_ops,
           sum.all_kernels, sum.tc_kernels, sum.memory, sum.other_kernels, sum.graph_gpu_ns, sum.median_iteration_ns, sum.before,
           sum.after);
}

Error cannot_write(const OpenDatabase& database, std::string detail, std::string remedy) {
  return {"cannot write the database " + printable(database.path.native()), std::move(detail), std::move(remedy)};
}

// What an aggregation is to be made of must be what the database holds.
void check_same_timeline(const OpenDatabase& database, const model::Profile& profile) {
  // Not count(*), which reads all.
  const std::int64_t activities = database.connection.number("SELECT max(id) + 1 FROM activity");
  if (static_cast<std::uint64_t>(activities) == profile.fold.activity_instance.size()) return;
  throw cannot_write(database, "it was changed since it was read", "Try again.");
}

int last_id(const OpenDatabase& database) {
  const std::int64_t last = database.connection.number("SELECT max(id) FROM aggregation");
  if (last >= 0 && last < std::numeric_limits<int>::max()) return static_cast<int>(last);
  throw cannot_write(database, fmt::format("its last aggregation is {}", last),
                     "It is damaged: make it again from the captures.");
}

// Whether an aggregation was made by this version and asked for as this one was. All else follows from that.
bool is_same(const OpenDatabase& database, int id, const model::Profile& profile) {
  Statement row = database.connection.prepare(fmt::format(
      "SELECT dlkprof_version, key_node_asked, domains, iter_start_asked, iter_stop_asked FROM aggregation WHERE id = {}", id));
  const auto text = [](const std::optional<std::uint32_t>& number) { return number ? std::to_string(*number) : ""; };
  const std::array wanted{std::string(DLKPROF_VERSION), profile.options.key_node, domains_text(profile),
                          text(profile.range.start), text(profile.range.stop)};
  if (!row.step()) return false;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (row.text(static_cast<int>(i)) != wanted.at(i)) return false;
  }
  return true;
}

}  // namespace

void insert_aggregation(const Connection& connection, int id, const model::Profile& profile, const model::Diagnosis& diagnosis) {
  insert_head(connection, id, profile);
  const Writer writer{connection, id, profile.fold, profile.aggregate};
  insert_fold(writer);
  insert_placement(writer);
  insert_op_stats(writer);
  insert_kernel_stats(writer);
  insert_type_stats(writer);
  insert_group_stats(writer);
  insert_summary(writer);
  insert_diagnosis(connection, id, diagnosis);
}

AddedAggregation add_aggregation(const std::filesystem::path& path, const model::Profile& profile,
                                 const model::Diagnosis& diagnosis) {
  OpenDatabase database = open_ours(path, Access::add);
  Transaction transaction(database.connection);
  check_same_timeline(database, profile);
  const int last = last_id(database);
  if (is_same(database, last, profile)) return {last, false};
  insert_aggregation(database.connection, last + 1, profile, diagnosis);
  transaction.commit();
  return {last + 1, true};
}

}  // namespace dlkprof::store
