#include "report/ops/reports.h"

#include "report/ops/counter_fields.h"

namespace dlkprof::report {
namespace {

using model::OpTypeRow;

Fields<OpTypeRow> all_fields() {
  Fields<OpTypeRow> fields{{"Op Name", "", [](const OpTypeRow& row) -> Cell { return row.type; }},
                           {"No. Nodes", "", [](const OpTypeRow& row) -> Cell { return row.nodes; }},
                           {"No. Calls", "", [](const OpTypeRow& row) -> Cell { return row.cpu.n; }},
                           {"TC Eligibility", "", [](const OpTypeRow& row) -> Cell { return row.eligible; }},
                           {"Using TC", "", [](const OpTypeRow& row) -> Cell { return row.uses_tc; }}};
  append(fields, stats_fields("CPU Time", &OpTypeRow::cpu));
  append(fields, stats_fields("GPU Time", &OpTypeRow::gpu));
  append(fields, stats_fields("CPU Overhead Time", &OpTypeRow::overhead));
  append(fields, stats_fields("GPU Idle Time", &OpTypeRow::idle));
  append(fields, covered_counter_fields(), &OpTypeRow::counters);
  append(fields, collected_fields(), &OpTypeRow::counters);
  return fields;
}

}  // namespace

Rows op_type_report(const model::Profile& profile) { return make_rows("op_type", all_fields(), profile.aggregate.types); }

}  // namespace dlkprof::report
