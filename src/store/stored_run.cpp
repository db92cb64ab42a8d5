#include <fmt/format.h>

#include <utility>

#include "store/aggregation_rows.h"
#include "store/database.h"
#include "store/read_rows.h"

namespace dlkprof::store {
namespace {

// Reads the newest aggregation: what the tables of a timeline, read before, do not say.
class AggregationReader {
 public:
  AggregationReader(Reading& reading, model::Profile& run)
      : reading_(reading), run_(run), id_(reading.database.connection.number("SELECT max(id) FROM aggregation")) {
    reading.counts["op_group"] = Reading::kLeftOut;
  }

  void read() {
    head();
    read_all(reading_, run_.fold.ops, condition_);
    for (std::uint32_t op = 0; op < run_.fold.ops.size(); ++op) run_.fold.instances.push_back({.op = op});
    iterations();
    placements();
  }

 private:
  void head();
  void iterations();
  void placements();

  Reading& reading_;
  model::Profile& run_;
  std::int64_t id_;
  std::string condition_ = fmt::format("aggregation = {}", id_);
};

void AggregationReader::head() {
  Rows rows(reading_, table_of<model::Profile>(), fmt::format("id = {}", id_));
  if (!next(rows, run_)) rows.fail("it is missing");
}

void AggregationReader::iterations() {
  read_all(reading_, run_.fold.kinds, condition_);
  read_all(reading_, run_.fold.iterations, condition_);
  const model::Aggregate& range = run_.aggregate;
  if (range.first_iteration > range.last_iteration || range.last_iteration >= run_.fold.iterations.size())
    Rows(reading_, table_of<model::Iteration>()).fail("those that the aggregation is of are missing");
  if (range.kind != model::kNone && range.kind >= run_.fold.kinds.size())
    Rows(reading_, table_of<model::IterationKind>()).fail("that which the aggregation is of is missing");
}

void AggregationReader::placements() {
  const std::size_t activities = run_.timeline.activities.size();
  run_.fold.activity_instance.reserve(activities);
  run_.fold.activity_iteration.reserve(activities);
  read_rows<Placement>(
      reading_,
      [this](const Rows&, const Placement& row) {
        run_.fold.activity_instance.push_back(row.op);
        run_.fold.activity_iteration.push_back(row.iteration);
      },
      condition_);
  if (run_.fold.activity_instance.size() != activities)
    Rows(reading_, table_of<Placement>()).fail("there is not one for each row of table activity");
}

}  // namespace

model::Profile read_stored_run(Reading& reading) {
  model::Profile run;
  run.timeline = read_timeline_without_ranges(reading);
  AggregationReader(reading, run).read();
  return run;
}

model::Profile read_stored_run(const std::filesystem::path& path) {
  Reading reading(path);
  return read_stored_run(reading);
}

}  // namespace dlkprof::store
