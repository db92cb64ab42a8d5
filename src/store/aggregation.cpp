#include "store/aggregation.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "store/aggregation_rows.h"
#include "store/database.h"
#include "store/insert.h"
#include "store/open.h"

namespace dlkprof::store {
namespace {

std::string domains_text(const model::Profile& profile) { return fmt::format("{}", fmt::join(profile.options.domains, ",")); }

void insert_placements(const Connection& connection, std::uint64_t id, const model::Fold& fold) {
  InsertMany<Placement> rows(connection, id);
  for (std::size_t activity = 0; activity < fold.activity_instance.size(); ++activity) {
    const model::OpInstance& instance = fold.instances.at(fold.activity_instance[activity]);
    rows.add({instance.op, fold.activity_iteration.at(activity), instance.range});
  }
  rows.finish();
}

void insert_counters(Insert<CounterRow>& rows, CounterKind kind, std::size_t rank, const model::Counters& counters) {
  for (const auto& [metric, value] : counters.values) {
    CounterRow row{kind, rank, metric.text(), value, {}, {}, {}, counters.unreliable.contains(metric.text())};
    if (const auto found = counters.counts.find(metric); found != counters.counts.end()) {
      const model::Counters::Count& count = found->second;
      row.scaled_to = count.scaled_to;
      if (count.launches > 0) {
        row.measured = count.measured;
        row.measured_on = count.launches;
      }
    }
    rows.add(row);
  }
  for (const std::string& metric : counters.unreliable) {
    if (!counters.values.contains(metric)) rows.add({kind, rank, metric, {}, {}, {}, {}, true});
  }
}

// Rows of figures, and of their counters.
template <typename Row>
void insert_stats(const Connection& connection, std::uint64_t id, CounterKind kind, const std::vector<Row>& figures) {
  insert_all(connection, figures, id);
  Insert<CounterRow> counters(connection, id);
  for (std::size_t rank = 0; rank < figures.size(); ++rank) insert_counters(counters, kind, rank, figures[rank].counters);
}

void insert_aggregate(const Connection& connection, std::uint64_t id, const model::Aggregate& aggregate) {
  insert_stats(connection, id, CounterKind::op, aggregate.ops);
  Insert<OpKernel> kernels(connection, id);
  for (const model::OpRow& row : aggregate.ops) {
    for (const std::uint32_t kernel : row.tc_kernels) kernels.add({row.op, kernel, true});
    for (const std::uint32_t kernel : row.others) kernels.add({row.op, kernel, false});
  }
  insert_stats(connection, id, CounterKind::kernel, aggregate.kernels);
  insert_stats(connection, id, CounterKind::op_type, aggregate.types);
  insert_all(connection, aggregate.groups, id);
  insert_all(connection, aggregate.kinds, id);
  Insert<model::Summary>(connection, id).add(aggregate.summary);
}

void insert_diagnosis(const Connection& connection, std::uint64_t id, const model::Diagnosis& diagnosis) {
  insert_all(connection, diagnosis.findings, id);
  insert_all(connection, diagnosis.verdicts, id);
  insert_all(connection, diagnosis.occupancy, id);
  Insert<StallRow> stalls(connection, id);
  std::size_t position = 0;
  const model::DiagnosedStall* before = nullptr;
  for (const model::DiagnosedStall& stall : diagnosis.stalls) {
    const bool same = before != nullptr && before->row.kind == stall.row.kind && before->row.rank == stall.row.rank;
    position = same ? position + 1 : 0;
    stalls.add({stall, position});
    before = &stall;
  }
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
  Statement row =
      database.connection.prepare(fmt::format("SELECT dlkprof_version, key_node_asked, domains, iter_start_asked, "
                                              "iter_stop_asked, iter_kind_asked FROM aggregation WHERE id = {}",
                                              id));
  const auto text = [](const std::optional<std::uint32_t>& number) { return number ? std::to_string(*number) : ""; };
  const std::array wanted{std::string(DLKPROF_VERSION), profile.options.key_node, domains_text(profile),
                          text(profile.range.start),    text(profile.range.stop), profile.range.kind};
  if (!row.step()) return false;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (row.text(static_cast<int>(i)) != wanted.at(i)) return false;
  }
  return true;
}

}  // namespace

void insert_aggregation(const Connection& connection, int id, const model::Profile& profile, const model::Diagnosis& diagnosis) {
  const auto number = static_cast<std::uint64_t>(id);
  Insert<model::Profile>(connection, number).add(profile);
  insert_all(connection, profile.fold.groups, number);
  insert_all(connection, profile.fold.ops, number);
  insert_all(connection, profile.fold.kinds, number);
  insert_all(connection, profile.fold.iterations, number);
  insert_placements(connection, number, profile.fold);
  insert_aggregate(connection, number, profile.aggregate);
  insert_diagnosis(connection, number, diagnosis);
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
