// Counters of ops, or of groups of them, over the iterations chosen: each with n, its confidence interval and how it was measured.

import {chosen} from "../state";
import {h} from "../dom";
import {number} from "../format";
import {str, type Context} from "../panel";
import type {Column} from "../table";
import type {Cell, Rows} from "../types";
import {stepsOf} from "./sums";

export interface Metric {
  name: string;
  label: string;
  unit: string;
}

export interface Counter {
  value: Cell;
  n: Cell;
  interval: Cell; // half of the 95 % confidence interval
  how: string;
  isUnreliable: boolean;
}

// Metric -> what a row is of -> figure.
export type Counters = Map<string, Map<string, Counter>>;

// Shown at first, where measured: the first of each row.
const PREFERRED = [
  ["sm__throughput.avg.pct"],
  ["gpu__compute_memory_throughput.avg.pct"],
  ["sm__warps_active.avg.pct"],
  ["sm__pipe_tensor_cycles_active.avg.pct", "sm__inst_executed_pipe_tensor_v2.avg.pct", "sm__inst_executed_pipe_tensor.avg.pct"],
  ["dram__throughput.avg.pct", "gpu__dram_throughput.avg.pct"],
];

export async function metricsOf(context: Context): Promise<Metric[]> {
  const found = await context.query(
    "SELECT m.name, min(s.label), min(s.unit) FROM page_metric m LEFT JOIN page_section s ON s.metric = m.name GROUP BY 1 ORDER BY 1",
  );
  return found.rows.map(([name, label, unit]) => ({name: str(name), label: str(label) || str(name), unit: str(unit)}));
}

export function wanted(metrics: Metric[]): Metric[] {
  const asked = (chosen.state.more["ops.counters"] ?? "").split(",").filter(Boolean);
  if (asked.length > 0) return metrics.filter((metric) => asked.includes(metric.name));
  const first = (starts: string[]): Metric | undefined =>
    starts.map((start) => metrics.find((metric) => metric.name.startsWith(start))).find((found) => found !== undefined);
  return PREFERRED.map(first).filter((metric): metric is Metric => metric !== undefined);
}

// As model/aggregate/aggregate.h has it (Counters): counts are scaled to all launches of the configurations measured, all else is
// weighted by GPU time; intervals of configurations are independent. `by`: SQL of what a row is of.
const SQL = (steps: string, by: string): string =>
  `WITH step AS MATERIALIZED (SELECT ${by} AS name, s.config, sum(s.calls) AS launches, max(coalesce(sum(s.gpu_ns), 0), sum(s.calls)) AS weight FROM ${steps} s JOIN page_op o ON o.op = s.op WHERE s.config IN (SELECT config FROM page_measured) GROUP BY 1, 2) ` +
  "SELECT t.name, CASE WHEN m.is_count THEN sum(c.mean * t.launches) ELSE sum(c.mean * t.weight) / sum(t.weight) END AS value, sum(q.samples) AS n, " +
  "CASE WHEN count(c.interval) < count(*) THEN NULL WHEN m.is_count THEN sqrt(sum(t.launches * t.launches * c.interval * c.interval)) ELSE sqrt(sum(1.0 * t.weight * t.weight * c.interval * c.interval)) / sum(t.weight) END AS interval, " +
  "group_concat(DISTINCT nullif(q.collected_by, '')) AS collected_by, group_concat(DISTINCT nullif(q.cache_control, '')) AS cache_control, max(c.unreliable) AS unreliable " +
  "FROM page_metric m CROSS JOIN step t JOIN page_counter c ON c.metric = m.id AND c.config = t.config JOIN page_measured q ON q.config = t.config " +
  "WHERE m.name = ? GROUP BY 1";

const known = new WeakMap<Rows, Map<string, Counter>>(); // answers are remembered, and so is what was made of them

function countersIn(answer: Rows): Map<string, Counter> {
  const before = known.get(answer);
  if (before) return before;
  const counters = new Map<string, Counter>();
  for (const [name, value, n, interval, collected, cache, unreliable] of answer.rows) {
    const how = [str(collected), str(cache) && `caches: ${str(cache)}`].filter(Boolean).join("; ");
    const figure = {value: value ?? null, n: n ?? null, interval: interval ?? null, how, isUnreliable: unreliable === 1};
    counters.set(str(name), figure);
  }
  known.set(answer, counters);
  return counters;
}

// A question a metric: what somebody asks meanwhile waits for one of them at most.
export async function countersOf(context: Context, metrics: Metric[], by: string): Promise<Counters> {
  const all: Counters = new Map();
  const sql = SQL(stepsOf(context.range), by);
  const found = await Promise.all(metrics.map((metric) => context.query(sql, [metric.name], false)));
  found.forEach((answer, i) => all.set(metrics[i]?.name ?? "", countersIn(answer)));
  return all;
}

const beside = ({n, interval, how}: Counter): string =>
  [interval === null ? "" : `± ${number(Number(interval))}`, `n ${str(n)}`, how.split(";")[0] ?? ""].filter(Boolean).join(", ");

function note(metric: Metric, {n, interval, how, isUnreliable}: Counter): string {
  const words = [`${metric.name}: n = ${str(n)} launches measured`];
  words.push(
    interval === null
      ? "no interval: of a configuration one launch alone was measured"
      : `± ${str(interval)} (95 % confidence interval)`,
  );
  if (how) words.push(how);
  if (isUnreliable) words.push("values above 100 % were left out");
  return words.join("; ");
}

// A column a metric. `of`: what a row is of.
export function counterColumns(metrics: Metric[], counters: Counters, of: (row: Cell[]) => string): Column[] {
  return metrics.map((metric) => {
    const figure = (row: Cell[]): Counter | undefined => counters.get(metric.name)?.get(of(row));
    return {
      name: metric.name,
      label: metric.label,
      unit: metric.unit,
      help: `${metric.name}, with its 95 % confidence interval where several launches of each configuration were measured, the number of launches measured (n), and how.`,
      note: (row) => {
        const one = figure(row);
        return one ? note(metric, one) : "";
      },
      small: (row) => {
        const one = figure(row);
        return one ? beside(one) : "";
      },
    };
  });
}

export function withCounters(rows: Cell[][], metrics: Metric[], counters: Counters, of: (row: Cell[]) => string): Cell[][] {
  const figures = metrics.map((metric) => counters.get(metric.name));
  return rows.map((row) => {
    const name = of(row);
    return row.concat(figures.map((one) => one?.get(name)?.value ?? null));
  });
}

// Which counters are columns.
export function counterChooser(metrics: Metric[], shown: Metric[], again: () => void): HTMLElement {
  const list = h("ul", {class: "columns"});
  const boxes = metrics.map((metric) => {
    const box = h("input", {type: "checkbox", value: metric.name});
    box.checked = shown.includes(metric);
    box.addEventListener("change", () => {
      const names = boxes.filter((one) => one.checked).map((one) => one.value);
      chosen.keep("ops.counters", names.join(","));
      again();
    });
    const unit = metric.unit ? ` (${metric.unit})` : "";
    list.append(h("li", {}, h("label", {}, box, ` ${metric.label}${unit}`), h("span", {}, ` ${metric.name}`)));
    return box;
  });
  return h(
    "details",
    {},
    h("summary", {}, `Counters: ${shown.length} of ${metrics.length}`),
    metrics.length > 0 ? list : h("p", {}, "No counters were measured."),
  );
}
