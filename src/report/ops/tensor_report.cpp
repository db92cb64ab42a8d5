#include "report/ops/reports.h"

#include <optional>
#include <string>

#include "advise/tensor_use.h"
#include "report/ops/counter_fields.h"

namespace dlkprof::report {
namespace {

using model::OpRow;
using Kernels = std::vector<std::uint32_t>;

Cell utilization(const OpRow& row) {
  if (row.gpu.total <= 0) return {};
  return 100.0 * static_cast<double>(row.tc_gpu_ns) / static_cast<double>(row.gpu.total);
}

// Names of kernels hold no semicolon in C++, but commas.
Cell names_of(const model::Timeline& timeline, const Kernels& kernels) {
  std::string names;
  for (const std::uint32_t kernel : kernels) names += (names.empty() ? "" : "; ") + timeline.kernels[kernel].name;
  return text_cell(names);
}

Field<OpRow> count_field(const char* name, const Kernels OpRow::*kernels) {
  return {name, "", [kernels](const OpRow& row) -> Cell { return std::uint64_t{(row.*kernels).size()}; }};
}

Field<OpRow> names_field(const char* name, const model::Timeline& timeline, const Kernels OpRow::*kernels) {
  return {name, "", [&timeline, kernels](const OpRow& row) { return names_of(timeline, row.*kernels); }};
}

// The guide's spelling: times without (ns) here.
Fields<OpRow> time_fields() {
  return {{"Total GPU Time", "ns", [](const OpRow& row) -> Cell { return row.gpu.total; }},
          {"TC GPU Time", "ns", [](const OpRow& row) -> Cell { return row.tc_gpu_ns; }},
          {"Non-TC GPU Time", "ns", [](const OpRow& row) -> Cell { return row.gpu.total - row.tc_gpu_ns; }},
          {"TC Utilization (%)", "%", utilization}};
}

// How fast the tensor cores were where they were used and counted, and why they were not used where they could be.
Fields<OpRow> activity_fields(const model::Fold& fold) {
  using advise::TensorWork;
  const auto of_activity = [](auto figure) {
    return [figure](const OpRow& row) -> Cell {
      const auto activity = advise::tensor_work_of(row.counters.values);
      return activity ? figure(*activity) : Cell{};
    };
  };
  const auto is_missed = [&fold](const OpRow& row) {
    return fold.ops[row.op].eligible && !row.uses_tc && row.tc_source != model::TensorCoreSource::unknown;
  };
  return {
      {"TC Precision", "", of_activity([](const TensorWork& activity) { return text_cell(activity.precisions); })},
      {"TC Performance (op/s)", "op/s", of_activity([](const TensorWork& activity) -> Cell { return activity.rate; })},
      {"Peak TC Performance (op/s)", "op/s", of_activity([](const TensorWork& activity) { return number_cell(activity.peak); })},
      {"Of Peak TC Performance (%)", "%", of_activity([](const TensorWork& activity) -> Cell {
         return activity.peak ? Cell{100 * activity.rate / *activity.peak} : Cell{};
       })},
      {"Why Not TC", "",
       [&fold, is_missed](const OpRow& row) -> Cell {
         if (!is_missed(row)) return {};
         return text_cell(advise::reason_against_tensor_cores(fold.ops[row.op]).value_or("neither shapes nor types forbid it"));
       }},
      {"At Stake (ns)", "ns", [is_missed](const OpRow& row) { return is_missed(row) ? Cell{row.gpu.total} : Cell{}; }}};
}

Fields<OpRow> tensor_fields(const model::Profile& profile) {
  const auto op = [&fold = profile.fold](const OpRow& row) -> const model::Op& { return fold.ops[row.op]; };
  Fields<OpRow> fields;
  append(fields, op_name_fields(profile.fold), op);
  fields.push_back({"Op Type", "", [op](const OpRow& row) -> Cell { return op(row).type; }});
  fields.push_back({"Uses TC", "", [](const OpRow& row) -> Cell { return row.uses_tc; }});
  append(fields, time_fields());
  fields.push_back({"Total Kernel Count", "",
                    [](const OpRow& row) -> Cell { return std::uint64_t{row.tc_kernels.size() + row.others.size()}; }});
  fields.push_back(count_field("TC Kernel Count", &OpRow::tc_kernels));
  fields.push_back(names_field("TC Kernel Names", profile.timeline, &OpRow::tc_kernels));
  fields.push_back(count_field("Non-TC Kernel Count", &OpRow::others));
  fields.push_back(names_field("Non-TC Kernel Names", profile.timeline, &OpRow::others));
  append(fields, covered_counter_fields(), &OpRow::counters);
  fields.push_back(
      {"TC Source", "", [](const OpRow& row) -> Cell { return model::name_in(model::kTensorCoreSources, row.tc_source); }});
  append(fields, activity_fields(profile.fold));
  fields.push_back({"TC Counted GPU Time (ns)", "ns", [](const OpRow& row) -> Cell { return row.tc_counted_ns; }});
  append(fields, dram_scaling_fields(), &OpRow::counters);
  return fields;
}

}  // namespace

Rows tensor_report(const model::Profile& profile) {
  std::vector<std::uint32_t> shown;
  const std::vector<OpRow>& ops = profile.aggregate.ops;
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    if (ops[i].launches() && (profile.fold.ops[ops[i].op].eligible || ops[i].uses_tc)) shown.push_back(i);
  }
  const std::size_t count = shown.size();
  return make_rows("tensor", tensor_fields(profile), count,
                   [&ops, shown = std::move(shown)](std::size_t i) -> const OpRow& { return ops[shown[i]]; });
}

}  // namespace dlkprof::report
