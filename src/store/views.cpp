#include "store/views.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "base/text.h"
#include "store/aggregation_rows.h"

namespace dlkprof::store {
namespace {

// The columns of a model::Stats in table s.
ViewColumns stats(const std::string& name, const std::optional<std::string>& total_meaning = {}) {
  const std::string of = "s." + name;
  return {{name + "_total_ns", of + "_total_ns", {}, total_meaning},
          {name + "_avg_ns", "1.0 * " + of + "_total_ns / " + of + "_n", "ns", "NULL: there are none."},
          {name + "_min_ns", of + "_min_ns"},
          {name + "_max_ns", of + "_max_ns"}};
}

// What names the op in table o.
ViewColumns op_columns() {
  return {{"op_id", "o.op_id", "", "Names the op in every view."},
          {"op_name", "o.name", "", "Path of what encloses it."},
          {"direction", "o.direction"},
          {"op_type", "o.type", "", ""}};
}

// At the end of views, where columns are added.
ViewColumns collected() {
  return {{"collected_by", "s.collected_by", "",
           "How the launches behind its counters were measured: kernel replay, iteration replay, or both; empty: not known."},
          {"cache_control", "s.cache_control"}};
}

const std::string kOpOfStats = "JOIN op o ON o.aggregation = s.aggregation AND o.id = s.op ";
std::string of_newest(const std::string& alias) { return "WHERE " + alias + ".aggregation = " + kNewest; }

View ops_view() {
  return {"ops", "Ops: what they are. Their figures are in detail.",
          join({op_columns(),
                of("o", {"framework", "data_types", "input_shapes"}),
                {{"group_node", "g.name", "", "The group node it lies in; NULL: none."},
                 {"tc_eligible", "o.eligible", "0 or 1", "Can use tensor cores."},
                 {"leaf", "o.leaf"},
                 {"phase", phase_of_op("ELSE 'other'"), "", "forward, backward, optimizer, data or other; see view phases."},
                 {"module", "o.module"},
                 {"made_of", "o.made_of"},
                 {"stack_trace", "o.stack_trace"}}}),
          "FROM op o LEFT JOIN op_group g ON g.aggregation = o.aggregation AND g.id = o.op_group " + of_newest("o")};
}

View iterations_view() {
  return {"iterations",
          "Iterations, all of them.",
          {{"iteration", "i.id", "", "From 0."},
           {"start_ns", "i.start_ns"},
           {"stop_ns", "i.stop_ns"},
           {"duration_ns", "i.stop_ns - i.start_ns + 1", "ns", ""},
           {"aggregated", "i.id BETWEEN a.first_iteration AND a.last_iteration AND (a.kind IS NULL OR i.kind IS a.kind)",
            "0 or 1", "Figures are of it, too."},
           {"calls", "coalesce(w.calls, 0)", "", "Kernels, copies and sets that were called in it."},
           {"gpu_ns", "coalesce(w.gpu_ns, 0)", "ns", "Sum of their times on GPUs."},
           {"steady", "i.id BETWEEN a.steady_first AND a.steady_last", "0 or 1",
            "Part of the steady range; NULL: no iteration is whole."},
           {"kind", "(SELECT n.name FROM iteration_kind n WHERE n.aggregation = a.id AND n.id = i.kind)", "",
            "Of the work that it does; NULL: it is not whole, or all are of one kind."}},
          "FROM aggregation a JOIN iteration i ON i.aggregation = a.id LEFT JOIN (SELECT p.aggregation, p.iteration, count(*) AS "
          "calls, "
          "sum(k.end_ns - k.start_ns) AS gpu_ns FROM placement p JOIN activity k ON k.id = p.activity GROUP BY 1, 2) w "
          "ON w.aggregation = a.id AND w.iteration = i.id WHERE a.id = " +
              kNewest};
}

// SQL: a message with a number in its place again.
std::string put_back(const std::string& message, const std::string& field, const std::string& number) {
  const std::string text = "', " + field + " = '";
  return "CASE WHEN " + number + " IS NULL THEN " + message + " ELSE replace(" + message + ", " + text + ", " + text + " || " +
         number + ") END";
}

View ranges_view() {
  return {"ranges",
          "NVTX ranges, and marks, whose length is 0.",
          {{"range", "r.id", "id of range", ""},
           {"start_ns", "r.start_ns", "ns", "Of CLOCK_MONOTONIC."},
           {"duration_ns", "r.end_ns - r.start_ns", "ns", ""},
           {"parent", "r.parent"},
           {"pid", "p.pid"},
           {"tid", "t.tid"},
           {"domain", "d.value", "", "Empty: the default domain."},
           {"message", put_back(put_back("m.value", "seq", "r.sequence"), "op_id", "r.op_id"), "",
            "As the program gave it, but without PyTorch's input_op_ids."}},
          "FROM range r JOIN thread t ON t.id = r.thread JOIN process p ON p.id = t.process "
          "JOIN string d ON d.id = r.domain JOIN string m ON m.id = r.message"};
}

View kernels_view() {
  return {"kernels", "What GPUs did, a row for each run of a kernel, copy or set, of all iterations; times of CLOCK_MONOTONIC.",
          join({{{"iteration", "p.iteration", "", "In which it was called."}},
                op_columns(),
                {{"kind", "CASE k.kind WHEN 0 THEN 'kernel' WHEN 1 THEN 'copy' ELSE 'set' END", "", "kernel, copy or set."},
                 {"kernel_name", "k.name"},
                 {"device", "w.device"},
                 {"stream", "w.stream"},
                 {"gpu_start_ns", "w.start_ns", "ns", "NULL: not timed, as of a launch that was being measured."},
                 {"gpu_ns", "w.end_ns - w.start_ns", "ns", "On the GPU."},
                 {"api_name", "n.value", "", "The CUDA call that caused it."},
                 {"api_start_ns", "c.start_ns"},
                 {"api_ns", "c.end_ns - c.start_ns", "ns", "On the CPU, in that call."},
                 {"uses_tc", "w.uses_tc", "0 or 1", "Uses tensor cores."},
                 {"tc_source", "CASE w.tc_source WHEN 1 THEN 'name' WHEN 2 THEN 'counter' ELSE 'unknown' END", "",
                  "How that is known."},
                 {"grid_x", "f.grid_x", {}, "NULL, as the nine that follow: not a kernel."}},
                of("f", {"grid_y", "grid_z", "block_x", "block_y", "block_z", "cluster_x", "cluster_y", "cluster_z",
                         "dynamic_shared_bytes"}),
                {{"bytes", "w.bytes"},
                 {"in_graph", "w.in_graph", "0 or 1", "Of a CUDA graph."},
                 {"replayed", "w.replayed", "0 or 1", "It was measured: its time is that of its counters."},
                 {"estimated", "w.estimated", "0 or 1", "They had none: its time is the mean of others of its configuration."},
                 {"data_types", "o.data_types", "", "Of the op."},
                 {"input_shapes", "o.input_shapes", "", "Of the op's first instance."},
                 {"long_kernel_name", "k.long_name"},
                 {"op_instance", "p.range", "id of range",
                  "Tells instances of the op apart; NULL: outside of every range, captured into a CUDA graph, or compiled."},
                 {"config", "w.config", "id of config", "Its launch configuration."},
                 {"launch_index", "w.launch_index", "", "Position among all kernel launches of its process."}}}),
          "FROM placement p JOIN activity w ON w.id = p.activity JOIN kernel k ON k.id = w.kernel "
          "JOIN op o ON o.aggregation = p.aggregation AND o.id = p.op LEFT JOIN call c ON c.id = w.call "
          "LEFT JOIN string n ON n.id = c.name LEFT JOIN config f ON f.id = w.config " +
              of_newest("p")};
}

View detail_view() {
  return {"detail", "Figures of ops, accumulated over their instances in the iterations aggregated.",
          join({op_columns(),
                {{"calls", "s.cpu_n", "", "Its instances."},
                 {"tc_eligible", "o.eligible", "0 or 1", "Can use tensor cores."},
                 {"uses_tc", "s.uses_tc"},
                 {"tc_source", "s.tc_source"}},
                stats("cpu"),
                stats("gpu"),
                stats("overhead"),
                stats("idle"),
                stats("mapped"),
                of("s", {"tc_gpu_ns"}),
                of("o", {"data_types", "input_shapes"}),
                of("s", {"samples", "covered_ns"}),
                collected()}),
          "FROM op_stats s " + kOpOfStats + of_newest("s") + " ORDER BY s.rank"};
}

std::string count_kernels(const char* condition) {
  return std::string("(SELECT count(*) FROM op_kernel x WHERE x.aggregation = s.aggregation AND x.op = s.op AND ") + condition +
         ")";
}

View tensor_view() {
  return {"tensor", "Ops that can use tensor cores, and how far they do.",
          join({op_columns(),
                {{"uses_tc", "s.uses_tc"},
                 {"gpu_total_ns", "s.gpu_total_ns", "ns", ""},
                 {"tc_gpu_ns", "s.tc_gpu_ns"},
                 {"non_tc_gpu_ns", "s.gpu_total_ns - s.tc_gpu_ns", "ns", "In others."},
                 {"tc_utilization_pct", "100.0 * s.tc_gpu_ns / s.gpu_total_ns", "%", "NULL: no GPU time."},
                 {"tc_kernels", count_kernels("x.uses_tc"), "", "Kernels that use tensor cores, by name."},
                 {"non_tc_kernels", count_kernels("NOT x.uses_tc"), "", "Others, by name."}}}),
          "FROM op_stats s " + kOpOfStats + of_newest("s") +
              " AND o.eligible AND EXISTS "
              "(SELECT 1 FROM op_kernel x WHERE x.aggregation = s.aggregation AND x.op = s.op) ORDER BY s.rank"};
}

View op_kernels_view() {
  return {"op_kernels", "Figures of kernels within ops, accumulated over the iterations aggregated.",
          join({{{"kernel_name", "k.name"}},
                op_columns(),
                {{"calls", "s.gpu_n", "", "Its runs."}, {"uses_tc", "s.uses_tc"}, {"tc_source", "s.tc_source"}},
                stats("gpu"),
                stats("api"),
                of("s", {"samples", "covered_ns"}),
                {{"long_kernel_name", "k.long_name"}},
                collected(),
                {{"kernel", "k.id", "id of kernel", "Tells kernels of one name apart."}}}),
          "FROM kernel_stats s JOIN kernel k ON k.id = s.kernel " + kOpOfStats + of_newest("s") + " ORDER BY s.rank"};
}

View op_types_view() {
  return {"op_types", "Figures of all ops of one type.",
          join({{{"op_type", "s.type"},
                 {"nodes", "s.nodes"},
                 {"calls", "s.cpu_n", "", "Their instances."},
                 {"tc_eligible", "s.eligible"},
                 {"uses_tc", "s.uses_tc"}},
                stats("cpu"),
                stats("gpu", "Sum over their own kernels, copies and sets."),
                stats("overhead"),
                stats("idle", "Between kernels of an instance, when none of them ran."),
                of("s", {"samples", "covered_ns"}),
                collected()}),
          "FROM op_type_stats s " + of_newest("s") + " ORDER BY s.rank"};
}

View group_nodes_view() {
  return {"group_nodes", "Figures of group nodes: one value per iteration, overlapping time counted once.",
          join({{{"group_node", "g.name"},
                 {"leaf_calls", "s.leaf_instances"},
                 {"tc_eligible_ops", "s.eligible_leaves", "", "Ops below it that can use tensor cores."},
                 {"tc_ops", "s.tc_leaves", "", "Ops below it that use tensor cores."}},
                stats("cpu"),
                stats("gpu"),
                stats("overhead"),
                stats("idle")}),
          "FROM group_stats s JOIN op_group g ON g.aggregation = s.aggregation AND g.id = s.op_group " + of_newest("s") +
              " ORDER BY s.rank"};
}

// Every column of table summary_stats but the first, after what was aggregated.
View summary_view() {
  ViewColumns columns = {
      {"aggregation", "a.id", "id of aggregation", "The one that views show."},
      {"key_node", "a.key_node"},
      {"key_node_source", "a.key_node_source"},
      {"key_nodes_found", "a.key_nodes_found"},
      {"range_source", "a.range_source", "", "How the iterations aggregated were chosen: all, found or asked."}};
  const std::vector<Column>& figures = table_of<model::Summary>().columns;
  for (auto column = figures.begin() + 1; column != figures.end(); ++column)
    columns.push_back({column->name, "s." + column->name});
  return {"summary", "Figures of the whole, in one row.", columns,
          "FROM aggregation a JOIN summary_stats s ON s.aggregation = a.id WHERE a.id = " + kNewest};
}

View sampled_metrics_view() {
  return {"sampled_metrics",
          "Hardware counters of launch configurations from samples that lay within their launches (replay mode sample).",
          {{"config", "f.id", "id of config", "The launch configuration."},
           {"kernel_name", "k.name", "", "NULL: of it nothing else was seen."},
           {"metric", "t.name"},
           {"samples", "s.samples"},
           {"launches", "s.launches"},
           {"mean", "s.mean", "of the metric", "Of counts: of a launch of mean length."},
           {"deviation", "s.deviation"},
           {"low", "s.mean - s.interval", "of the metric", "95 % confidence interval of the mean; NULL: only one launch."},
           {"high", "s.mean + s.interval", "of the metric", "As low."}},
          "FROM sampled s JOIN metric t ON t.id = s.metric JOIN config f ON f.id = s.config "
          "LEFT JOIN kernel k ON k.id = f.kernel"};
}

View utilization_view() {
  return {"utilization",
          "What GPUs did over time, whatever ran (replay mode sample). View iterations says which times are of which.",
          {{"device", "b.device"},
           {"metric", "t.name"},
           {"start_ns", "b.start_ns", "ns", "Of CLOCK_MONOTONIC."},
           {"end_ns", "b.end_ns", "ns", "Of CLOCK_MONOTONIC."},
           {"samples", "b.samples"},
           {"value", "b.value", "of the metric", "The mean of the samples."}},
          "FROM sample_bin b JOIN metric t ON t.id = b.metric"};
}

ViewColumns counter_columns() {
  return {
      {"metric", "v.metric"},
      {"value", "v.value", "of the metric",
       "Ratios are means weighted by GPU time, counts are scaled to all launches of the configurations measured."},
      {"samples", "s.samples", "launches", "Measured behind it."},
      {"measured", "v.measured", "of the metric", "Of counts: the sum over the launches measured, before it is scaled."},
      {"measured_on", "v.measured_on", "launches", "That measured is the sum of."},
      {"scaled_to", "v.scaled_to"},
      {"unreliable", "v.unreliable", "0 or 1", "1: values above 100 % were left out, as counters of different passes disagree."}};
}

std::string counters_of(int kind) {
  return "JOIN counter v ON v.aggregation = s.aggregation AND v.kind = " + std::to_string(kind) + " AND v.rank = s.rank ";
}

View op_metrics_view() {
  return {"op_metrics", "Hardware counters of ops.", join({op_columns(), counter_columns()}),
          "FROM op_stats s " + kOpOfStats + counters_of(0) + of_newest("s")};
}

View op_kernel_metrics_view() {
  return {"op_kernel_metrics", "Hardware counters of kernels within ops.",
          join({{{"kernel_name", "k.name", "", ""}},
                op_columns(),
                counter_columns(),
                {{"long_kernel_name", "k.long_name"}, {"kernel", "k.id", "id of kernel", "Tells kernels of one name apart."}}}),
          "FROM kernel_stats s JOIN kernel k ON k.id = s.kernel " + kOpOfStats + counters_of(1) + of_newest("s")};
}

View op_type_metrics_view() {
  return {"op_type_metrics", "Hardware counters of op types.", join({{{"op_type", "s.type"}}, counter_columns()}),
          "FROM op_type_stats s " + counters_of(2) + of_newest("s")};
}

View pc_samples_view() {
  return {"pc_samples",
          "What PC sampling found: instructions of kernels, and what warps waited for there.",
          {{"kernel_name", "k.name", "", ""},
           {"byte_offset", "i.byte_offset", "bytes", "Of the instruction, from the function's start."},
           {"source_file", "nullif(f.path, '')", "", "NULL: not known."},
           {"source_line", "nullif(i.line, 0)", "", "NULL: not known."},
           {"reason", "r.name"},
           {"samples", "s.samples"},
           {"cycles", "s.cycles", "cycles", "That they stand for."},
           {"kernel", "k.id", "id of kernel", ""},
           {"function", "n.id", "id of pc_function", "Tells pieces of machine code of one kernel apart."}},
          "FROM pc_stall s JOIN pc_instruction i ON i.id = s.instruction JOIN pc_function n ON n.id = i.function "
          "JOIN kernel k ON k.id = n.kernel JOIN pc_file f ON f.id = i.file JOIN pc_reason r ON r.id = s.reason"};
}

// The tables of a view by the names that FROM and JOIN give them.
std::map<std::string, const Table*> tables_of(const View& view) {
  std::map<std::string, const Table*> found;
  const std::vector<std::string> words = split(view.from, ' ');
  for (std::size_t i = 0; i + 2 < words.size(); ++i) {
    if (words[i] != "FROM" && words[i] != "JOIN") continue;
    for (const std::span<const Table> tables : {timeline_tables(), aggregation_tables()}) {
      for (const Table& table : tables) {
        if (table.name == words[i + 1]) found.emplace(words[i + 2], &table);
      }
    }
  }
  return found;
}

// Units and meanings that columns have of the table's that they show.
void inherit(View& view) {
  const auto tables = tables_of(view);
  for (ViewColumn& column : view.columns) {
    if (column.unit && column.meaning) continue;
    const std::size_t point = column.expression.find('.');
    const std::vector<Column>& shown = tables.at(column.expression.substr(0, point))->columns;
    const auto same = std::find_if(shown.begin(), shown.end(),
                                   [&](const Column& one) { return one.name == column.expression.substr(point + 1); });
    if (same == shown.end()) throw std::logic_error("no column " + column.expression + " for view " + view.name);
    if (!column.unit) column.unit = same->unit;
    if (!column.meaning) column.meaning = same->meaning;
  }
}

}  // namespace

ViewColumns join(std::initializer_list<ViewColumns> parts) {
  ViewColumns all;
  for (const ViewColumns& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

ViewColumns of(const std::string& table, std::initializer_list<const char*> names) {
  ViewColumns columns;
  for (const std::string name : names) columns.push_back({name, fmt::format("{}.{}", table, name)});
  return columns;
}

std::span<const View> views() {
  static const std::vector<View> all = [] {
    std::vector<View> made{summary_view(),
                           detail_view(),
                           ops_view(),
                           iterations_view(),
                           ranges_view(),
                           kernels_view(),
                           op_kernels_view(),
                           tensor_view(),
                           op_types_view(),
                           group_nodes_view(),
                           metrics_view(),
                           op_metrics_view(),
                           op_kernel_metrics_view(),
                           op_type_metrics_view(),
                           metric_samples_view(),
                           coverage_view(),
                           sampled_metrics_view(),
                           utilization_view(),
                           pc_samples_view(),
                           instruction_counts_view()};
    for (View& view : diagnosis_views()) made.push_back(std::move(view));
    std::for_each(made.begin(), made.end(), inherit);
    return made;
  }();
  return all;
}

}  // namespace dlkprof::store
