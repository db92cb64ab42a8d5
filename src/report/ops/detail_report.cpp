#include "report/ops/reports.h"

#include "report/ops/counter_fields.h"

namespace dlkprof::report {
namespace {

using model::OpRow;

Fields<OpRow> detail_fields(const model::Fold& fold) {
  const auto op = [&fold](const OpRow& row) -> const model::Op& { return fold.ops[row.op]; };
  Fields<OpRow> fields;
  append(fields, op_name_fields(fold), op);
  fields.push_back({"Op Type", "", [op](const OpRow& row) -> Cell { return op(row).type; }});
  fields.push_back({"No. Calls", "", [](const OpRow& row) -> Cell { return row.cpu.n; }});
  fields.push_back({"TC Eligibility", "", [op](const OpRow& row) -> Cell { return op(row).eligible; }});
  fields.push_back({"Using TC", "", [](const OpRow& row) -> Cell { return row.uses_tc; }});
  append(fields, stats_fields("CPU Time", &OpRow::cpu));
  append(fields, stats_fields("GPU Time", &OpRow::gpu));
  append(fields, stats_fields("CPU Overhead Time", &OpRow::overhead));
  append(fields, stats_fields("GPU Idle Time", &OpRow::idle));
  fields.push_back({"Data Type", "", [op](const OpRow& row) { return text_cell(op(row).data_types); }});
  fields.push_back({"Input Shapes", "", [op](const OpRow& row) { return text_cell(op(row).input_shapes); }});
  if (is_pytorch(fold)) fields.push_back({"Stack Trace", "", [op](const OpRow& row) { return text_cell(op(row).stack); }});
  append(fields, stats_fields("Mapped GPU Time", &OpRow::mapped));
  append(fields, covered_counter_fields(), &OpRow::counters);
  fields.push_back(
      {"TC Source", "", [](const OpRow& row) -> Cell { return model::name_in(model::kTensorCoreSources, row.tc_source); }});
  append(fields, collected_fields(), &OpRow::counters);
  return fields;
}

}  // namespace

Rows detail_report(const model::Profile& profile) {
  return make_rows("detail", detail_fields(profile.fold), profile.aggregate.ops);
}

}  // namespace dlkprof::report
