// Figures of ops and kernels: those of the database, or, where other iterations are chosen, summed up over them by the database.

import {h} from "../dom";
import {iterationsOf, type Context, type Range} from "../panel";
import type {Rows} from "../types";

// SQL: the blocks that the iterations chosen are made of.
const blocksOf = ({blocks}: Range): string => `(${blocks.join(", ")})`;

// SQL: calls and GPU times of the iterations chosen, in these blocks; `isTimeAlone`: the sum of times only, which takes half as long. Of
// several blocks what is of one kind is summed up first, so that it is joined once; in a single block it stands once.
export function stepsOf(range: Range, isTimeAlone = false): string {
  const ofBlocks = `page_step WHERE block IN ${blocksOf(range)}`;
  const times = isTimeAlone
    ? "sum(total_ns) AS total_ns"
    : "sum(calls) AS calls, sum(timed) AS timed, sum(total_ns) AS total_ns, min(least_ns) AS least_ns, max(most_ns) AS most_ns";
  const steps =
    range.blocks.length === 1 ? `SELECT * FROM ${ofBlocks}` : `SELECT thing, ${times} FROM ${ofBlocks} GROUP BY thing`;
  const columns = isTimeAlone ? "" : "s.calls, s.timed, s.least_ns AS gpu_min_ns, s.most_ns AS gpu_max_ns, ";
  return `(SELECT k.op, k.op_id, k.kernel, k.config, k.uses_tc, ${columns} s.total_ns AS gpu_ns FROM (${steps}) s CROSS JOIN page_kind k ON k.id = s.thing)`;
}

const TIMES =
  "sum(s.calls) AS calls, sum(s.gpu_ns) AS gpu_total_ns, 1.0 * sum(s.gpu_ns) / sum(s.timed) AS gpu_avg_ns, min(s.gpu_min_ns) AS gpu_min_ns, max(s.gpu_max_ns) AS gpu_max_ns";

// The ops with the most GPU time, at most `most`. View detail is in that order.
export function topOps(context: Context, most: number): Promise<Rows> {
  if (!context.range.isOwn) return opsOfRange(context, most);
  return context.query(
    "SELECT op_name, op_id, direction, op_type, calls, tc_eligible, uses_tc, gpu_total_ns, gpu_avg_ns, cpu_total_ns FROM detail LIMIT ?",
    [most],
  );
}

// Likewise. Sums are made by number, and names come to those alone that are shown.
export function opsOfRange(context: Context, most: number): Promise<Rows> {
  const blocks = blocksOf(context.range);
  const isSome = most >= 0;
  const cpu = (column: string): string =>
    isSome
      ? `(SELECT sum(${column}) FROM page_op_step WHERE block IN ${blocks} AND thing = t.op)`
      : `(SELECT ${column} FROM cpu WHERE thing = t.op)`;
  return context.query(
    `WITH t AS MATERIALIZED (SELECT s.op, ${TIMES}, max(s.uses_tc) AS uses_tc FROM ${stepsOf(context.range)} s GROUP BY s.op ORDER BY gpu_total_ns DESC LIMIT ?1), ` +
      `cpu AS MATERIALIZED (SELECT thing, sum(calls) AS calls, sum(total_ns) AS total_ns FROM page_op_step WHERE block IN ${blocks} GROUP BY thing) ` +
      `SELECT o.op_name, o.op_id, o.direction, o.op_type, t.calls, t.gpu_total_ns, t.gpu_avg_ns, t.gpu_min_ns, t.gpu_max_ns, ${cpu("calls")} AS instances, ${cpu("total_ns")} AS cpu_total_ns, t.uses_tc, o.tc_eligible, o.data_types, o.input_shapes FROM t CROSS JOIN page_op o ON o.op = t.op ${isSome ? "ORDER BY t.gpu_total_ns DESC" : ""}`,
    [most],
    isSome,
  );
}

export function kernelsOfRange(context: Context, most: number): Promise<Rows> {
  const {op} = context.state;
  const of = op === undefined ? "" : "WHERE s.op_id = ?2";
  return context.query(
    `WITH t AS MATERIALIZED (SELECT s.op, s.kernel, ${TIMES}, max(s.uses_tc) AS uses_tc FROM ${stepsOf(context.range)} s ${of} GROUP BY s.op, s.kernel ORDER BY gpu_total_ns DESC LIMIT ?1) ` +
      "SELECT k.name AS kernel_name, t.kernel, o.op_id, o.op_name, o.direction, t.calls, t.gpu_total_ns, t.gpu_avg_ns, t.gpu_min_ns, t.gpu_max_ns, t.uses_tc, k.long_name AS long_kernel_name FROM t CROSS JOIN page_op o ON o.op = t.op JOIN kernel k ON k.id = t.kernel",
    op === undefined ? [most] : [most, op],
    most >= 0,
  );
}

// Said where iterations are chosen and figures are not of them. "The comparison is of ...".
export function notOfRange({range}: Context, words: string): HTMLElement[] {
  return range.isOwn ? [] : [h("p", {class: "hint"}, `${words}, not of the iterations chosen.`)];
}

// What "calls" and times mean in them.
export const RANGE_HELP: Record<string, string> = {
  calls: "Kernels, copies and sets that were called in the iterations chosen.",
  instances: "How often the op ran in them.",
  cpu_total_ns: "Sum of the lengths of these on the CPU.",
  gpu_total_ns: "Sum of their times on the GPU.",
  gpu_avg_ns: "Of one kernel, copy or set.",
  gpu_min_ns: "Of one kernel, copy or set.",
  gpu_max_ns: "Of one kernel, copy or set.",
};

// What view summary says of the iterations aggregated, of those chosen. GPU times of ops and kernels are told apart as there.
export function summaryOfRange(context: Context): Promise<Rows> {
  const {key, from, to} = context.range;
  const share = (column: string): string =>
    `100.0 * sum(${column}_ns) / nullif(sum(wall_ns), 0) AS ${column.replace("gpu_wall", "gpu")}_pct`;
  const shares = ["gpu_wall", "tc", "non_tc", "memory", "dataloader", "cpu", "other"].map(share).join(", ");
  return context.query(
    `WITH one AS (SELECT * FROM page_iteration WHERE ${iterationsOf(context.range)}), ` +
      `step AS MATERIALIZED ${stepsOf(context.range, true)}, ` +
      "ops AS (SELECT s.tc, o.tc_eligible AS eligible, s.ns FROM (SELECT op, max(uses_tc) AS tc, sum(gpu_ns) AS ns FROM step GROUP BY op) s CROSS JOIN page_op o ON o.op = s.op), " +
      "kernels AS (SELECT s.tc, k.kind, s.ns FROM (SELECT kernel, max(uses_tc) AS tc, sum(gpu_ns) AS ns FROM step GROUP BY kernel) s CROSS JOIN kernel k ON k.id = s.kernel), " +
      "mean AS (SELECT avg(length_ns) AS ns, count(*) AS n FROM one) " +
      `SELECT ${shares}, 0.0 AS io_pct, count(*) AS aggregated_iterations, avg(length_ns) AS mean_iteration_ns, ` +
      // As in view summary: a median over several kinds of iterations would be that of none.
      "CASE WHEN count(DISTINCT kind) < 2 THEN (SELECT avg(length_ns) FROM (SELECT length_ns FROM one ORDER BY 1 LIMIT 2 - (SELECT n FROM mean) % 2 OFFSET ((SELECT n FROM mean) - 1) / 2)) END AS median_iteration_ns, " +
      "CASE WHEN count(DISTINCT kind) < 2 THEN sqrt(sum((length_ns - (SELECT ns FROM mean)) * (length_ns - (SELECT ns FROM mean))) / nullif(count(*) - 1, 0)) END AS iteration_deviation_ns, " +
      `(SELECT count(*) FROM page_iteration WHERE key = ${key}) AS total_iterations, ${from} AS start_iteration, ${to} AS stop_iteration, ` +
      `'asked' AS range_source, (SELECT key_node FROM page_key WHERE key = ${key}) AS key_node, ` +
      "(SELECT sum(ns) FROM ops WHERE tc) AS tc_ops_gpu_ns, (SELECT sum(ns) FROM ops WHERE eligible AND NOT tc) AS eligible_without_tc_gpu_ns, (SELECT sum(ns) FROM ops WHERE NOT tc AND NOT eligible) AS other_ops_gpu_ns, " +
      "(SELECT sum(ns) FROM kernels WHERE kind = 0 AND tc) AS tc_kernels_gpu_ns, (SELECT sum(ns) FROM kernels WHERE kind > 0) AS memory_gpu_ns, (SELECT sum(ns) FROM kernels WHERE kind = 0 AND NOT tc) AS other_kernels_gpu_ns, " +
      "(SELECT sum(gpu_ns) FROM step) AS gpu_ns, 100.0 * (SELECT sum(gpu_ns) FROM step WHERE config IN (SELECT config FROM page_measured)) / (SELECT sum(gpu_ns) FROM step) AS covered_pct FROM one",
  );
}
