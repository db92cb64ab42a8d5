#include "report/diagnosis/diagnosis_rows.h"

#include <unordered_map>

namespace dlkprof::report {
namespace {

bool is_shown(const model::Counters& counters, DiagnosisOf which) { return which == DiagnosisOf::all || counters.samples > 0; }

}  // namespace

std::vector<DiagnosisRow> diagnosis_rows(const model::Profile& profile, DiagnosisOf which) {
  std::unordered_map<std::uint32_t, std::vector<const model::KernelRow*>> kernels;  // by op
  for (const model::KernelRow& row : profile.aggregate.kernels) {
    if (is_shown(row.counters, which)) kernels[row.op].push_back(&row);
  }
  std::vector<DiagnosisRow> rows;
  for (const model::OpRow& op : profile.aggregate.ops) {
    const auto its_own = kernels.find(op.op);
    if (!is_shown(op.counters, which) || its_own == kernels.end()) continue;
    rows.push_back({&op, nullptr});
    for (const model::KernelRow* kernel : its_own->second) rows.push_back({&op, kernel});
  }
  return rows;
}

Fields<DiagnosisRow> diagnosis_fields(const model::Profile& profile) {
  using Row = DiagnosisRow;
  const auto op = [&fold = profile.fold](const Row& row) -> const model::Op& { return fold.ops[row.op->op]; };
  const auto kernel = [&all = profile.timeline.kernels](const Row& row) -> Cell {
    return row.kernel == nullptr ? Cell{} : text_cell(all[row.kernel->kernel].name);
  };
  Fields<Row> fields{{"Level", "", [](const Row& row) -> Cell { return row.kernel == nullptr ? "op" : "kernel"; }}};
  append(fields, op_name_fields(profile.fold), op);
  fields.push_back({"Op Type", "", [op](const Row& row) -> Cell { return op(row).type; }});
  const auto whole = [&timeline = profile.timeline](const Row& row) {
    return row.kernel == nullptr ? nullptr : whole_name(timeline, row.kernel->kernel);
  };
  fields.push_back({"Kernel Name", "", kernel, whole});
  fields.push_back(
      {"Total GPU Time (ns)", "ns", [](const Row& row) -> Cell { return row.gpu().n == 0 ? Cell{} : Cell{row.gpu().total}; }});
  fields.push_back({"Measured GPU Time (ns)", "ns", [](const Row& row) -> Cell { return row.counters().covered_ns; }});
  fields.push_back({"Samples Measured", "launch", [](const Row& row) -> Cell { return row.counters().samples; }});
  return fields;
}

}  // namespace dlkprof::report
