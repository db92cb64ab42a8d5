// --by: ops in groups, by layer, module, type, direction or kernel.

#include "advise/overview.h"
#include "report/ops/counter_fields.h"
#include "report/ops/reports.h"

namespace dlkprof::report {
namespace {

struct GroupedRow : model::OpGroupRow {
  advise::Judgement judgement;
  const std::string* kernel = nullptr;  // of By::kernel: its whole name
};

Fields<GroupedRow> grouped_name_fields() {
  using Row = GroupedRow;
  return {{"Name", "", [](const Row& row) -> Cell { return row.name; }, [](const Row& row) { return row.kernel; }},
          {"Direction", "", [](const Row& row) { return direction_cell(row.direction); }},
          {"Op Type", "", [](const Row& row) { return text_cell(row.type); }},
          {"No. Ops", "", [](const Row& row) -> Cell { return row.ops; }},
          {"No. Calls", "", [](const Row& row) -> Cell { return row.calls; }},
          {"No. Launches", "launch", [](const Row& row) -> Cell { return row.launches; }}};
}

Fields<GroupedRow> grouped_time_fields(double iterations) {
  using Row = GroupedRow;
  return {{"Total GPU Time (ns)", "ns", [](const Row& row) -> Cell { return row.gpu_ns; }},
          {"GPU Time Per Iteration (ns)", "ns",
           [iterations](const Row& row) -> Cell { return static_cast<double>(row.gpu_ns) / iterations; }},
          {"GPU Time (%)", "%", [](const Row& row) -> Cell { return 100 * row.share; }}};
}

// Of rows that fold layers.
Fields<GroupedRow> layer_fields() {
  using Row = GroupedRow;
  const auto of_layers = [](auto figure) {
    return [figure](const Row& row) -> Cell { return row.layers ? figure(*row.layers) : Cell{}; };
  };
  return {
      {"No. Layers", "", of_layers([](const model::FoldedLayers& layers) -> Cell { return layers.gpu.n; })},
      {"Avg. Layer GPU Time (ns)", "ns", of_layers([](const model::FoldedLayers& layers) -> Cell { return layers.gpu.mean(); })},
      {"Layer GPU Time Standard Deviation (ns)", "ns",
       of_layers([](const model::FoldedLayers& layers) { return number_cell(layers.deviation); })},
      {"Slowest Layer", "", of_layers([](const model::FoldedLayers& layers) { return text_cell(layers.slowest); })},
      {"Slowest Layer GPU Time (ns)", "ns",
       of_layers([](const model::FoldedLayers& layers) -> Cell { return layers.gpu.most; })}};
}

Fields<GroupedRow> grouped_verdict_fields() {
  using Row = GroupedRow;
  return {{"Verdict", "", [](const Row& row) { return text_cell(advise::verdict_text(row.judgement.verdict)); }},
          {"Using TC", "", [](const Row& row) -> Cell { return row.uses_tc; }},
          {"TC Source", "", [](const Row& row) -> Cell { return model::name_in(model::kTensorCoreSources, row.tc_source); }},
          {"TC GPU Time (ns)", "ns", [](const Row& row) -> Cell { return row.tc_gpu_ns; }}};
}

std::vector<GroupedRow> grouped_rows(const model::Profile& profile, model::By by) {
  const std::vector<model::OpGroupRow> groups = model::group_ops(profile, by);
  const auto judged = advise::judge_groups(advise::gather_evidence(profile), groups, by);
  std::vector<GroupedRow> rows;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const bool is_kernel = by == model::By::kernel && !groups[i].rows.empty();
    const std::uint32_t kernel = is_kernel ? profile.aggregate.kernels[groups[i].rows.front()].kernel : model::kNone;
    rows.push_back({groups[i], judged[i], whole_name(profile.timeline, kernel)});
  }
  return rows;
}

}  // namespace

Rows grouped_report(const model::Profile& profile, model::By by) {
  const double iterations = static_cast<double>(std::max<std::uint64_t>(1, profile.aggregate.summary.aggregated_iterations));
  Fields<GroupedRow> fields = grouped_name_fields();
  append(fields, grouped_time_fields(iterations));
  append(fields, layer_fields());
  append(fields, grouped_verdict_fields());
  append(fields, covered_counter_fields(), &GroupedRow::counters);
  append(fields, collected_fields(), &GroupedRow::counters);
  return make_rows("grouped", std::move(fields), grouped_rows(profile, by));
}

}  // namespace dlkprof::report
