#include "report/stall_report.h"

#include <memory>

#include "advise/stalls.h"
#include "report/diagnosis_rows.h"

namespace dlkprof::report {
namespace {

constexpr std::size_t kExplained = 3;

struct StallLine : DiagnosisRow {
  advise::Stall stall;
  std::size_t rank = 0;  // among the waits, from 1; 0: no wait, or nothing measured
};

std::vector<StallLine> stall_lines(const Model& model) {
  std::vector<StallLine> lines;
  for (const DiagnosisRow& row : diagnosis_rows(model, DiagnosisOf::measured)) {
    const std::vector<advise::Stall> stalls = advise::stalls_of(row.counters().values);
    std::size_t rank = 0;
    for (const advise::Stall& stall : stalls) lines.push_back({row, stall, stall.name == "selected" ? 0 : ++rank});
    if (stalls.empty()) lines.push_back({row, {}, 0});
  }
  return lines;
}

Fields<StallLine> stall_fields(const Model& model) {
  Fields<StallLine> fields;
  for (Field<DiagnosisRow>& field : diagnosis_fields(model)) {
    fields.push_back({field.name, field.unit, [cell = field.cell](const StallLine& row) { return cell(row); }});
  }
  const auto known = [](const StallLine& row) { return !row.stall.name.empty(); };
  const auto explained = [](const StallLine& row) {
    return row.stall.reason != nullptr && row.rank > 0 && row.rank <= kExplained;
  };
  fields.push_back({"Stall Reason", "", [](const StallLine& row) { return text_cell(row.stall.name); }});
  fields.push_back(
      {"Cycles Per Issue", "cycle", [known](const StallLine& row) { return known(row) ? Cell{row.stall.cycles} : Cell{}; }});
  fields.push_back({"Share (%)", "%", [known](const StallLine& row) { return known(row) ? Cell{row.stall.percent} : Cell{}; }});
  fields.push_back(
      {"Meaning", "", [explained](const StallLine& row) { return explained(row) ? Cell{row.stall.reason->meaning} : Cell{}; }});
  fields.push_back({"What Usually Helps", "",
                    [explained](const StallLine& row) { return explained(row) ? text_cell(row.stall.reason->remedy) : Cell{}; }});
  return fields;
}

}  // namespace

Rows stall_report(const Model& model) {
  const auto lines = std::make_shared<const std::vector<StallLine>>(stall_lines(model));
  return make_rows("stall", stall_fields(model), lines->size(),
                   [lines](std::size_t i) -> const StallLine& { return (*lines)[i]; });
}

}  // namespace dlkprof::report
