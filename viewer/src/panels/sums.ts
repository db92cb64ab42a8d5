// Figures of ops and kernels: those of the database, or, where a range of iterations is chosen, summed up over it by the database.

import {rangeOf, type Context} from "../panel";
import type {Cell, Rows} from "../types";

const TIMES =
  "sum(s.calls) AS calls, sum(s.gpu_ns) AS gpu_total_ns, 1.0 * sum(s.gpu_ns) / sum(s.timed) AS gpu_avg_ns, min(s.gpu_min_ns) AS gpu_min_ns, max(s.gpu_max_ns) AS gpu_max_ns";

// The ops with the most GPU time, at most `most`.
export function topOps(context: Context, most: number): Promise<Rows> {
  const range = rangeOf(context.state);
  if (range) return opsOfRange(context, most);
  return context.query(
    "SELECT op_name, op_id, direction, op_type, calls, tc_eligible, uses_tc, gpu_total_ns, gpu_avg_ns, cpu_total_ns FROM detail ORDER BY gpu_total_ns DESC LIMIT ?",
    [most],
  );
}

export function opsOfRange(context: Context, most = -1): Promise<Rows> {
  const range = rangeOf(context.state) ?? {from: 0, to: 0};
  return context.query(
    `SELECT o.op_name, s.op_id, o.direction, o.op_type, ${TIMES}, max(s.uses_tc) AS uses_tc, o.data_types, o.input_shapes FROM page_steps s JOIN page_op o ON o.op_id = s.op_id WHERE s.iteration BETWEEN ? AND ? GROUP BY s.op_id ORDER BY gpu_total_ns DESC LIMIT ?`,
    [range.from, range.to, most],
  );
}

export function kernelsOfRange(context: Context): Promise<Rows> {
  const range = rangeOf(context.state) ?? {from: 0, to: 0};
  const parameters: Cell[] = [range.from, range.to];
  if (context.state.op !== undefined) parameters.push(context.state.op);
  return context.query(
    `SELECT k.name AS kernel_name, s.kernel, s.op_id, o.op_name, o.direction, ${TIMES}, max(s.uses_tc) AS uses_tc, k.long_name AS long_kernel_name FROM page_steps s JOIN page_op o ON o.op_id = s.op_id JOIN kernel k ON k.id = s.kernel WHERE s.iteration BETWEEN ? AND ? ${context.state.op === undefined ? "" : "AND s.op_id = ?"} GROUP BY s.op_id, s.kernel ORDER BY gpu_total_ns DESC`,
    parameters,
  );
}

// What "calls" and times mean in them.
export const RANGE_HELP: Record<string, string> = {
  calls: "Kernels, copies and sets that were called in the iterations chosen.",
  gpu_total_ns: "Sum of their times on the GPU.",
  gpu_avg_ns: "Of one kernel, copy or set.",
  gpu_min_ns: "Of one kernel, copy or set.",
  gpu_max_ns: "Of one kernel, copy or set.",
};
