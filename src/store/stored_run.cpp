#include <fmt/format.h>

#include "base/text.h"
#include "store/database.h"
#include "store/names.h"
#include "store/rows.h"

namespace dlkprof::store {
namespace {

// Reads the newest aggregation: what the tables of a timeline, read before, do not say.
class AggregationReader {
 public:
  AggregationReader(const std::filesystem::path& path, model::Profile& run)
      : database_(open_ours(path, Access::read)),
        budget_(database_.bytes),
        run_(run),
        id_(database_.connection.number("SELECT max(id) FROM aggregation")) {}

  void read() {
    head();
    ops();
    iterations();
    placements();
  }

 private:
  [[nodiscard]] Rows rows(const char* table) { return {database_, budget_, table, fmt::format("aggregation = {}", id_)}; }
  void head();
  void ops();
  void iterations();
  void placements();

  OpenDatabase database_;
  TextBudget budget_;
  model::Profile& run_;
  std::int64_t id_;
};

template <typename Enum, std::size_t N>
Enum enumeration(Rows& row, const std::array<const char*, N>& names) {
  const std::string name = row.text();
  const auto value = value_of<Enum>(names, name);
  if (!value) row.fail("a name of it is not known");
  return *value;
}

void AggregationReader::head() {
  Rows row(database_, budget_, "aggregation", fmt::format("id = {}", id_));
  if (!row.next()) row.fail("it is missing");
  constexpr int kMade = 3;  // the id, when and by whom it was made
  for (int i = 0; i < kMade; ++i) row.skip();
  run_.options.key_node = row.text();
  if (const std::string domains = row.text(); !domains.empty()) run_.options.domains = split(domains, ',');
  if (!row.null()) run_.range.start = row.number<std::uint32_t>();
  if (!row.null()) run_.range.stop = row.number<std::uint32_t>();
  run_.fold.key_node = row.text();
  run_.fold.key_node_source = enumeration<model::KeyNodeSource>(row, kKeyNodeSources);
  run_.fold.key_nodes_found = row.number<std::uint32_t>();
  run_.aggregate.first_iteration = row.number<std::uint32_t>();
  run_.aggregate.last_iteration = row.number<std::uint32_t>();
}

void AggregationReader::ops() {
  for (Rows row = rows("op"); row.next();) {
    row.skip();
    row.id();
    model::Op op;
    op.id = row.text();
    op.name = row.text();
    op.type = row.text();
    op.direction = enumeration<model::Direction>(row, kDirections);
    op.framework = enumeration<model::Framework>(row, kFrameworks);
    op.data_types = row.text();
    op.input_shapes = row.text();
    row.skip();
    op.eligible = row.flag();
    op.leaf = row.flag();
    run_.fold.instances.push_back({.op = static_cast<std::uint32_t>(run_.fold.ops.size())});
    run_.fold.ops.push_back(std::move(op));
  }
}

void AggregationReader::iterations() {
  std::vector<model::Iteration>& iterations = run_.fold.iterations;
  Rows row = rows("iteration");
  while (row.next()) {
    row.skip();
    row.id();
    model::Iteration iteration;
    iteration.start_ns = iterations.empty() ? row.time() : row.time(iterations.back().start_ns);
    iteration.stop_ns = row.time();
    iterations.push_back(iteration);
  }
  if (run_.aggregate.first_iteration > run_.aggregate.last_iteration || run_.aggregate.last_iteration >= iterations.size())
    row.fail("those that the aggregation is of are missing");
}

void AggregationReader::placements() {
  const std::size_t activities = run_.timeline.activities.size();
  run_.fold.activity_instance.reserve(activities);
  run_.fold.activity_iteration.reserve(activities);
  Rows row = rows("placement");
  while (row.next()) {
    row.skip();
    row.id();
    run_.fold.activity_instance.push_back(row.index(run_.fold.ops.size()));
    run_.fold.activity_iteration.push_back(row.index(run_.fold.iterations.size()));
  }
  if (run_.fold.activity_instance.size() != activities) row.fail("there is not one for each row of table activity");
}

}  // namespace

model::Profile read_stored_run(const std::filesystem::path& path) {
  model::Profile run;
  run.timeline = read_timeline_without_ranges(path);
  AggregationReader(path, run).read();
  return run;
}

}  // namespace dlkprof::store
