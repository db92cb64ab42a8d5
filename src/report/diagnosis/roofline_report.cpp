#include "report/diagnosis/reports.h"

#include "report/diagnosis/roofline_points.h"
#include "report/ops/counter_fields.h"

namespace dlkprof::report {
namespace {

using advise::Peak;

Cell rate_cell(const std::optional<Peak>& peak) { return peak ? Cell{peak->rate} : Cell{}; }
Cell source_cell(const std::optional<Peak>& peak) { return peak ? Cell{peak->source} : Cell{}; }

std::optional<double> part_of_attainable(const RooflineRow& row) {
  if (!row.point) return std::nullopt;
  const auto most = attainable(row.roofline, *row.point);
  return most && *most > 0 ? std::optional(100 * row.point->rate / *most) : std::nullopt;
}

// A figure of the point, empty where there is none.
template <typename Figure>
Field<RooflineRow> point_field(const char* name, const char* unit, Figure figure) {
  return {name, unit, [figure](const RooflineRow& row) -> Cell { return row.point ? Cell{figure(*row.point)} : Cell{}; }};
}

Fields<RooflineRow> roofline_fields(const model::Profile& profile) {
  using advise::RooflinePoint;
  Fields<RooflineRow> fields;
  append(fields, diagnosis_fields(profile));
  append(fields,
         Fields<RooflineRow>{
             point_field("Precision", "", [](const RooflinePoint& point) { return point.precision; }),
             point_field("Operations", "op", [](const RooflinePoint& point) { return point.operations; }),
             {"DRAM Bytes", "byte", [](const RooflineRow& row) { return number_cell(row.roofline.dram_bytes); }},
             point_field("Arithmetic Intensity (op/byte)", "op/byte",
                         [](const RooflinePoint& point) { return number_cell(point.intensity); }),
             point_field("Performance (op/s)", "op/s", [](const RooflinePoint& point) { return point.rate; }),
             point_field("Peak Performance (op/s)", "op/s", [](const RooflinePoint& point) { return rate_cell(point.compute); }),
             point_field("Peak Performance Source", "", [](const RooflinePoint& point) { return source_cell(point.compute); }),
             {"Peak DRAM Rate (byte/s)", "byte/s", [](const RooflineRow& row) { return rate_cell(row.roofline.dram); }},
             {"Peak DRAM Rate Source", "", [](const RooflineRow& row) { return source_cell(row.roofline.dram); }},
             {"Attainable (op/s)", "op/s",
              [](const RooflineRow& row) { return row.point ? number_cell(attainable(row.roofline, *row.point)) : Cell{}; }},
             {"Of Attainable (%)", "%", [](const RooflineRow& row) { return number_cell(part_of_attainable(row)); }}});
  append(fields,
         Fields<RooflineRow>{
             {"Dominant", "", [](const RooflineRow& row) -> Cell { return row.point ? Cell{row.is_dominant()} : Cell{}; }},
             {"L2 Bytes", "byte", [](const RooflineRow& row) { return number_cell(row.roofline.l2_bytes); }},
             {"Peak L2 Rate (byte/s)", "byte/s", [](const RooflineRow& row) { return rate_cell(row.roofline.l2); }},
             {"L1 Bytes", "byte", [](const RooflineRow& row) { return number_cell(row.roofline.l1_bytes); }},
             {"Peak L1 Rate (byte/s)", "byte/s", [](const RooflineRow& row) { return rate_cell(row.roofline.l1); }}});
  append(fields, scaling_fields(), &RooflineRow::counters);
  return fields;
}

}  // namespace

std::vector<RooflineRow> roofline_rows(const model::Profile& profile) {
  std::vector<RooflineRow> rows;
  for (const DiagnosisRow& row : diagnosis_rows(profile, DiagnosisOf::measured)) {
    const advise::Roofline roofline = advise::roofline_of(row.counters().values).value_or(advise::Roofline{});
    for (const advise::RooflinePoint& point : roofline.points) rows.push_back({row, roofline, point});
    if (roofline.points.empty()) rows.push_back({row, roofline, std::nullopt});
  }
  return rows;
}

Rows roofline_report(const model::Profile& profile) {
  return make_rows("roofline", roofline_fields(profile), roofline_rows(profile));
}

}  // namespace dlkprof::report
