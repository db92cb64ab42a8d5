#include "report/ops/reports.h"

#include "report/ops/counter_fields.h"

namespace dlkprof::report {
namespace {

using model::KernelRow;

Fields<KernelRow> kernel_fields(const model::Profile& profile) {
  const auto op = [&fold = profile.fold](const KernelRow& row) -> const model::Op& { return fold.ops[row.op]; };
  const auto kernel = [&all = profile.timeline.kernels](const KernelRow& row) -> const model::Kernel& { return all[row.kernel]; };
  Fields<KernelRow> fields{{"Kernel Name", "", [kernel](const KernelRow& row) -> Cell { return kernel(row).name; },
                            [kernel](const KernelRow& row) { return &kernel(row).long_name; }}};
  append(fields, op_name_fields(profile.fold), op);
  fields.push_back({"Uses TC", "", [](const KernelRow& row) -> Cell { return row.uses_tc; }});
  append(fields, stats_fields("GPU Time", &KernelRow::gpu));
  append(fields, stats_fields("API Time", &KernelRow::api));
  fields.push_back({"Calls Timed", "", [](const KernelRow& row) -> Cell { return row.gpu.n; }});
  append(fields, covered_counter_fields(), &KernelRow::counters);
  fields.push_back(
      {"TC Source", "", [](const KernelRow& row) -> Cell { return model::name_in(model::kTensorCoreSources, row.tc_source); }});
  fields.push_back({"Long Kernel Name", "", [kernel](const KernelRow& row) { return text_cell(kernel(row).long_name); }});
  append(fields, collected_fields(), &KernelRow::counters);
  return fields;
}

}  // namespace

Rows kernel_report(const model::Profile& profile) {
  return make_rows("kernel", kernel_fields(profile), profile.aggregate.kernels);
}

}  // namespace dlkprof::report
