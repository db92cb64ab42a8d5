#include "store/views.h"

namespace dlkprof::store {
namespace {

// SQL: rows of figures of either kind, as table s; o names the op and k the kernel, where the row is of one.
const std::string kOfRow =
    "JOIN (SELECT aggregation, 0 AS kind, rank, op, NULL AS kernel, gpu_total_ns FROM op_stats UNION ALL "
    "SELECT aggregation, 1, rank, op, kernel, gpu_total_ns FROM kernel_stats) s "
    "ON s.aggregation = v.aggregation AND s.kind = v.kind AND s.rank = v.rank "
    "JOIN op o ON o.aggregation = s.aggregation AND o.id = s.op LEFT JOIN kernel k ON k.id = s.kernel "
    "WHERE v.aggregation = " +
    kNewest + " ORDER BY v.kind, v.rank";

ViewColumns row_columns(const ViewColumns& more) {
  return join({{{"level", "CASE v.kind WHEN 0 THEN 'op' ELSE 'kernel' END", "", "op, or kernel within an op."},
                {"op_id", "o.op_id", "", "Names the op in every view."},
                {"op_name", "o.name", "", "Path of what encloses it."},
                {"direction", "o.direction"},
                {"op_type", "o.type", "", ""},
                {"kernel", "s.kernel", "id of kernel", "NULL, as the names: of an op."},
                {"kernel_name", "k.name"},
                {"long_kernel_name", "k.long_name"},
                {"gpu_total_ns", "s.gpu_total_ns", "ns", "On the GPU."}},
               more});
}

View findings_view() {
  return {"findings", "What the rules found, by estimated gain, falling. docs/reference/rules.md says when each fires.",
          join({of("v", {"rule", "detector", "headline", "problem", "recommendation", "place"}),
                {{"op_id", "o.op_id", "", "NULL, as the two that follow: the run."},
                 {"op_name", "o.name", "", "Path of what encloses it."},
                 {"direction", "o.direction"},
                 {"basis", "v.basis"},
                 {"gain_ns_per_iteration", "1.0 * v.bound_ns / a.aggregated_iterations", "ns",
                  "That mending it saves at most; NULL: not known. Findings overlap: do not add them up."},
                 {"gain_pct", "100.0 * v.bound_ns / a.wall_ns", "%", "The same, of the iterations aggregated."}}}),
          "FROM finding v JOIN summary_stats a ON a.aggregation = v.aggregation "
          "LEFT JOIN op o ON o.aggregation = v.aggregation AND o.id = v.op WHERE v.aggregation = " +
              kNewest + " ORDER BY v.rank"};
}

View verdicts_view() {
  return {"verdicts", "What holds ops and their kernels back, where it is known, by GPU time, falling.",
          row_columns({{"verdict", "v.verdict"},
                       {"reason", "v.reason"},
                       {"bound_ns", "v.bound_ns"},
                       {"sm_pct", "v.sm_pct", "%", "Compute throughput, of peak; NULL, as the others: not measured."},
                       {"memory_pct", "v.memory_pct", "%", "Memory throughput, of peak."},
                       {"filled_pct", "v.filled_pct"},
                       {"waited_pct", "v.waited_pct"}}),
          "FROM verdict v " + kOfRow};
}

View stalls_view() {
  return {"stalls",
          "What warps of measured ops, and of kernels within ops, wait for. View pc_samples has what PC sampling found.",
          row_columns({{"reason", "v.reason", "", "As NVPerf has it: long_scoreboard."},
                       {"cycles", "v.cycles"},
                       {"pct", "v.pct", "%", "Of all warp cycles, the issue itself included."},
                       {"waits", "v.waits"}}),
          "FROM stall v " + kOfRow + ", v.position"};
}

View occupancy_view() {
  return {"occupancy", "Occupancy of launch configurations in the iterations aggregated, by GPU time, falling. NULL: not known.",
          join({{{"config", "f.id", "id of config", "The launch configuration."},
                 {"kernel", "k.id", "id of kernel", ""},
                 {"kernel_name", "k.name"},
                 {"long_kernel_name", "k.long_name"}},
                of("f", {"grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z"}),
                {{"launches", "v.launches"}, {"gpu_total_ns", "v.gpu_ns"}},
                of("v", {"samples", "theoretical_pct", "achieved_pct", "limiter", "blocks_per_sm", "registers_per_thread",
                         "shared_bytes_per_block", "waves", "idle_sms_pct", "tail_pct", "gap", "step"})}),
          "FROM config_occupancy v JOIN config f ON f.id = v.config LEFT JOIN kernel k ON k.id = f.kernel "
          "WHERE v.aggregation = " +
              kNewest + " ORDER BY v.gpu_ns DESC, v.config"};
}

}  // namespace

// Of PyTorch by direction and by what its optimizers and loaders are called; of JAX by its transformations.
std::string phase_of_op(const std::string& otherwise) {
  return "CASE WHEN o.name LIKE '%/Optimizer.%' THEN 'optimizer' WHEN o.name LIKE '%DataLoader%' THEN 'data' "
         "WHEN o.direction = 'bprop' OR o.name LIKE '%transpose(jvp(%' THEN 'backward' "
         "WHEN o.direction = 'fprop' OR o.name LIKE '%jvp(%' THEN 'forward' " +
         otherwise + " END";
}

namespace {

View iteration_kinds_view() {
  return {"iteration_kinds",
          "Kinds of iterations, of those in the range aggregated; empty where all do the same work.",
          {{"kind", "n.name"},
           {"iterations", "s.iterations"},
           {"wall_ns", "s.wall_ns"},
           {"gpu_ns", "s.gpu_ns"},
           {"median_ns", "s.median_ns"},
           {"mean_ns", "s.mean_ns"},
           {"deviation_ns", "s.deviation_ns"},
           {"gpu_pct", "100.0 * s.gpu_ns / nullif(sum(s.gpu_ns) OVER (), 0)", "%", "Of the GPU time of all kinds."},
           {"verdict", "s.verdict"}},
          "FROM kind_stats s JOIN iteration_kind n ON n.aggregation = s.aggregation AND n.id = s.kind WHERE s.aggregation = " +
              kNewest + " ORDER BY s.rank"};
}

View phases_view() {
  const std::string name = phase_of_op("WHEN k.kind = 1 AND k.name LIKE '%HtoD%' THEN 'data' ELSE 'other'");
  return {
      "phases",
      "The phases of a training step. An op belongs to one by its direction and its name.",
      {{"phase", name, "", "forward, backward, optimizer, data (loaders, and copies to the GPU outside of the others) or other."},
       {"ops", "count(DISTINCT s.op)", "", "That ran anything on a GPU."},
       {"calls", "sum(s.gpu_n)", "", "Kernels, copies and sets."},
       {"gpu_total_ns", "sum(s.gpu_total_ns)", "ns", ""},
       {"gpu_pct", "100.0 * sum(s.gpu_total_ns) / sum(sum(s.gpu_total_ns)) OVER ()", "%", "Of all phases."},
       {"gpu_ns_per_iteration", "1.0 * sum(s.gpu_total_ns) / max(a.aggregated_iterations)", "ns", ""}},
      "FROM kernel_stats s JOIN op o ON o.aggregation = s.aggregation AND o.id = s.op JOIN kernel k ON k.id = s.kernel "
      "JOIN summary_stats a ON a.aggregation = s.aggregation WHERE s.aggregation = " +
          kNewest + " GROUP BY 1 ORDER BY sum(s.gpu_total_ns) DESC"};
}

View gaps_view() {
  return {
      "gaps",
      "Times in which a GPU was idle, in the aggregated iterations: each ends where a kernel, copy or set begins after all "
      "earlier ones ended. Launches without a time are ignored.",
      {{"iteration", "p.iteration", "", "Of what came after it."},
       {"device", "g.device", "id of device", ""},
       {"start_ns", "g.free_ns", "ns", "Of CLOCK_MONOTONIC."},
       {"gap_ns", "g.start_ns - g.free_ns", "ns", ""},
       {"op_id", "o.op_id", "", "Of what came after it."},
       {"op_name", "o.name", "", "Path of what encloses it."},
       {"direction", "o.direction"},
       {"kernel_name", "k.name", "", "What came after it."},
       {"called_late", "c.start_ns > g.free_ns", "0 or 1", "It was called only after the GPU had become idle; NULL: not known."}},
      "FROM (SELECT id, device, kernel, call, start_ns, max(end_ns) OVER (PARTITION BY device ORDER BY start_ns, id "
      "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS free_ns FROM activity WHERE start_ns IS NOT NULL) g "
      "JOIN aggregation a ON a.id = " +
          kNewest +
          " JOIN placement p ON p.aggregation = a.id AND p.activity = g.id "
          "JOIN op o ON o.aggregation = a.id AND o.id = p.op JOIN kernel k ON k.id = g.kernel "
          "LEFT JOIN call c ON c.id = g.call WHERE g.start_ns > g.free_ns "
          "AND p.iteration BETWEEN a.first_iteration AND a.last_iteration "
          "AND (a.kind IS NULL OR a.kind IS (SELECT i.kind FROM iteration i WHERE i.aggregation = a.id AND i.id = p.iteration))"};
}

}  // namespace

std::vector<View> diagnosis_views() {
  return {findings_view(), verdicts_view(), stalls_view(), occupancy_view(), phases_view(), gaps_view(), iteration_kinds_view()};
}

}  // namespace dlkprof::store
