#include "report/ops/fields.h"
#include "report/ops/reports.h"

namespace dlkprof::report {
namespace {

using model::GroupRow;

Fields<GroupRow> group_fields(const model::Fold& fold) {
  Fields<GroupRow> fields{
      {"Name", "", [&fold](const GroupRow& row) -> Cell { return fold.groups[row.group].name; }},
      {"No. Calls Aggregated", "", [](const GroupRow& row) -> Cell { return row.leaf_instances; }},
      {"No. TC Eligibility Ops", "", [](const GroupRow& row) -> Cell { return row.eligible_leaves; }},
      {"No. Node Ops Using TC", "", [](const GroupRow& row) -> Cell { return row.tc_leaves; }},
  };
  append(fields, stats_fields("CPU Time", &GroupRow::cpu));
  append(fields, stats_fields("GPU Time", &GroupRow::gpu));
  append(fields, stats_fields("CPU Overhead Time", &GroupRow::overhead));
  append(fields, stats_fields("GPU Idle Time", &GroupRow::idle));
  return fields;
}

}  // namespace

Rows group_node_report(const model::Profile& profile) {
  return make_rows("group_node", group_fields(profile.fold), profile.aggregate.groups);
}

}  // namespace dlkprof::report
