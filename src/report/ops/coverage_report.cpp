#include "report/ops/reports.h"

#include <algorithm>

#include "model/aggregate/coverage.h"
#include "model/aggregate/provenance.h"
#include "report/ops/fields.h"

namespace dlkprof::report {
namespace {

using model::LaunchCounts;

struct CoverageRow {
  LaunchCounts counts;
  model::Incomplete incomplete = model::Incomplete::no;
};

std::vector<CoverageRow> coverage_rows(const model::Timeline& timeline) {
  std::vector<model::Wanted> wanted;
  for (const model::Process& process : timeline.processes) wanted.push_back(model::wanted_of(process.record));
  std::vector<CoverageRow> rows;
  for (const LaunchCounts& counts : timeline.counts) {
    rows.push_back({counts, model::incomplete(counts, wanted[counts.process])});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const CoverageRow& a, const CoverageRow& b) {
    return std::pair(a.counts.timed_gpu_ns, a.counts.launches) > std::pair(b.counts.timed_gpu_ns, b.counts.launches);
  });
  return rows;
}

Fields<CoverageRow> coverage_name_fields(const model::Timeline& timeline) {
  using Row = CoverageRow;
  Fields<Row> fields{
      {"Config", "",
       [](const Row& row) { return row.counts.config == model::kNone ? Cell{} : Cell{std::uint64_t{row.counts.config}}; }},
      {"Process", "",
       [&timeline](const Row& row) -> Cell { return std::uint64_t{timeline.processes[row.counts.process].record.pid}; }},
      {"Device", "", [](const Row& row) -> Cell { return std::uint64_t{row.counts.device}; }},
      {"Kernel Name", "",
       [&timeline](const Row& row) {
         return row.counts.kernel == model::kNone ? Cell{} : Cell{timeline.kernels[row.counts.kernel].name};
       },
       [&timeline](const Row& row) { return whole_name(timeline, row.counts.kernel); }}};
  append(fields, size_fields(), [&timeline](const Row& row) {
    return row.counts.config == model::kNone ? nullptr : &timeline.configs[row.counts.config].key;
  });
  return fields;
}

Fields<CoverageRow> coverage_count_fields(std::uint64_t gpu_ns) {
  using Row = CoverageRow;
  const auto count = [](const char* name, std::uint64_t LaunchCounts::*figure) {
    return Field<Row>{name, "launch", [figure](const Row& row) -> Cell { return row.counts.*figure; }};
  };
  const auto time = [](const Row& row) { return row.counts.timed == 0 ? Cell{} : Cell{row.counts.timed_gpu_ns}; };
  const auto share = [gpu_ns](const Row& row) {
    if (row.counts.timed == 0 || gpu_ns == 0) return Cell{};
    return Cell{100 * static_cast<double>(row.counts.timed_gpu_ns) / static_cast<double>(gpu_ns)};
  };
  return {count("Launches", &LaunchCounts::launches),
          count("Matched", &LaunchCounts::matched),
          count("Measured", &LaunchCounts::measured),
          count("Near Missed", &LaunchCounts::near_missed),
          count("Left Alone", &LaunchCounts::skipped),
          count("Timed", &LaunchCounts::timed),
          {"Timed GPU Time (ns)", "ns", time},
          {"Timed GPU Time (%)", "%", share},
          {"Incomplete Because", "", [](const Row& row) { return text_cell(model::incomplete_text(row.incomplete)); }}};
}

}  // namespace

Rows coverage_report(const model::Profile& profile) {
  auto fields = coverage_name_fields(profile.timeline);
  append(fields, coverage_count_fields(model::coverage_of(profile.timeline).timed_gpu_ns));
  return make_rows("coverage", std::move(fields), coverage_rows(profile.timeline));
}

}  // namespace dlkprof::report
