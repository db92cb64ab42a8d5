// Ops: as a picture of what lies inside what, and as a table, op by op or in groups, with the counters of each.

import {icicle, type Tree} from "../charts/icicle";
import {h, whenChosen} from "../dom";
import {quantity} from "../format";
import {num, rangeOf, str, type Context, type Panel} from "../panel";
import {chosen} from "../state";
import {Table, type Column} from "../table";
import type {Cell, Rows} from "../types";
import {opsOfRange, RANGE_HELP} from "./sums";

// How ops may be grouped: SQL of what a group is called.
const GROUPS: Record<string, {title: string; sql: string}> = {
  op: {title: "Op", sql: ""},
  layer: {title: "Layer group", sql: "o.layer"},
  module: {title: "Module", sql: "o.module"},
  type: {title: "Op type", sql: "o.op_type"},
  direction: {title: "Direction", sql: "coalesce(nullif(o.direction, ''), 'none')"},
  phase: {title: "Phase", sql: "o.phase"},
};

// Shown at first, where measured: the first of each row.
const PREFERRED = [
  ["sm__throughput.avg.pct"],
  ["gpu__compute_memory_throughput.avg.pct"],
  ["sm__warps_active.avg.pct"],
  ["sm__pipe_tensor_cycles_active.avg.pct", "sm__inst_executed_pipe_tensor_v2.avg.pct", "sm__inst_executed_pipe_tensor.avg.pct"],
  ["dram__throughput.avg.pct", "gpu__dram_throughput.avg.pct"],
];
const FROM_START = [
  "op_name",
  "direction",
  "op_type",
  "calls",
  "gpu_total_ns",
  "gpu_avg_ns",
  "cpu_total_ns",
  "uses_tc",
  "samples",
];

interface Metric {
  name: string;
  label: string;
  unit: string;
}

async function metricsOf(context: Context): Promise<Metric[]> {
  const found = await context.query(
    "SELECT m.metric, min(s.label), min(s.unit) FROM (SELECT DISTINCT metric FROM counter WHERE kind = 0) m LEFT JOIN page_section s ON s.metric = m.metric GROUP BY 1 ORDER BY 1",
  );
  return found.rows.map(([name, label, unit]) => ({name: str(name), label: str(label) || str(name), unit: str(unit)}));
}

interface Counter {
  value: Cell;
  n: string;
  note: string;
}

// Of the metrics shown: metric -> op_id -> figure.
async function countersOf(
  context: Context,
  metrics: Metric[],
  how: Map<string, string>,
): Promise<Map<string, Map<string, Counter>>> {
  const all = new Map<string, Map<string, Counter>>();
  const answers = await Promise.all(
    metrics.map((metric) =>
      context.query("SELECT op_id, value, samples, measured_on, scaled_to, unreliable FROM op_metrics WHERE metric = ?", [
        metric.name,
      ]),
    ),
  );
  answers.forEach((found, i) => {
    const metric = metrics[i] as Metric;
    const byOp = new Map<string, Counter>();
    for (const [op, value, samples, on, scaled, unreliable] of found.rows) {
      const words = [`${metric.name}: n = ${str(samples)} launches`, how.get(str(op)) ?? ""];
      if (on !== null) words.push(`measured on ${str(on)} launches, scaled to ${str(scaled)}`);
      if (unreliable === 1) words.push("values above 100 % were left out");
      byOp.set(str(op), {value: value ?? null, n: str(samples), note: words.filter(Boolean).join("; ")});
    }
    all.set(metric.name, byOp);
  });
  return all;
}

function withCounters(rows: Rows, metrics: Metric[], counters: Map<string, Map<string, Counter>>): Cell[][] {
  const id = rows.columns.indexOf("op_id");
  return rows.rows.map((row) => [
    ...row,
    ...metrics.map((metric) => counters.get(metric.name)?.get(str(row[id]))?.value ?? null),
  ]);
}

function wanted(metrics: Metric[]): Metric[] {
  const asked = (chosen.state.more["ops.counters"] ?? "").split(",").filter(Boolean);
  if (asked.length > 0) return metrics.filter((metric) => asked.includes(metric.name));
  const first = (starts: string[]): Metric | undefined =>
    starts.map((start) => metrics.find((metric) => metric.name.startsWith(start))).find((found) => found !== undefined);
  return PREFERRED.map(first).filter((metric): metric is Metric => metric !== undefined);
}

// Which counters are columns.
function counterChooser(metrics: Metric[], shown: Metric[], again: () => void): HTMLElement {
  const list = h("ul", {class: "columns"});
  const boxes = metrics.map((metric) => {
    const box = h("input", {type: "checkbox", value: metric.name});
    box.checked = shown.includes(metric);
    box.addEventListener("change", () => {
      chosen.keep(
        "ops.counters",
        boxes
          .filter((one) => one.checked)
          .map((one) => one.value)
          .join(","),
      );
      again();
    });
    list.append(
      h(
        "li",
        {},
        h("label", {}, box, ` ${metric.label}${metric.unit ? ` (${metric.unit})` : ""}`),
        h("span", {}, ` ${metric.name}`),
      ),
    );
    return box;
  });
  return h(
    "details",
    {},
    h("summary", {}, `Counters: ${shown.length} of ${metrics.length}`),
    metrics.length > 0 ? list : h("p", {}, "No counters were measured."),
  );
}

async function opTable(context: Context, place: HTMLElement): Promise<void> {
  const range = rangeOf(context.state);
  const metrics = await metricsOf(context);
  const shown = wanted(metrics);
  const names = [
    "op_name",
    ...(context.facts.views.detail?.columns ?? []).map(([name]) => name).filter((name) => name !== "op_name"),
  ];
  const rows = range
    ? await opsOfRange(context)
    : await context.query(
        `SELECT ${names.join(", ")} FROM detail ${chosen.state.more["ops.all"] === "1" ? "" : "WHERE gpu_total_ns > 0"}`,
      );
  const at = (name: string): number => rows.columns.indexOf(name);
  const howOf = (row: Cell[]): string =>
    [str(row[at("collected_by")]), str(row[at("cache_control")]) && `caches: ${str(row[at("cache_control")])}`]
      .filter(Boolean)
      .join("; ");
  const counters = await countersOf(context, shown, new Map(rows.rows.map((row) => [str(row[at("op_id")]), howOf(row)])));
  const id = at("op_id");
  const columns: Column[] = rows.columns.map((name) => ({
    name,
    hidden: !FROM_START.includes(name) && !(range && name.startsWith("gpu_")),
    bar: name === "gpu_total_ns",
    help: range ? RANGE_HELP[name] : undefined,
    note: name === "samples" ? howOf : undefined,
  }));
  for (const metric of shown) {
    const byOp = counters.get(metric.name);
    columns.push({
      name: metric.name,
      label: metric.label,
      unit: metric.unit,
      help: `${metric.name}. Of the iterations aggregated in the database.`,
      note: (row) => byOp?.get(str(row[id]))?.note ?? "",
      small: (row) => `n ${byOp?.get(str(row[id]))?.n ?? ""}`,
    });
  }
  const table = new Table({
    id: "ops",
    caption: "Ops",
    view: context.facts.views.detail,
    viewName: range ? "page_steps" : "detail",
    columns,
    rows: withCounters(rows, shown, counters),
    keys: ["op_id"],
    order: "-gpu_total_ns",
    isChosen: (row) => row[id] === chosen.state.op,
    choose: (row) =>
      chosen.choose({op: row[id] === chosen.state.op ? undefined : str(row[id]), kernel: undefined, config: undefined}),
    empty: "No ops were recorded: profile with --mode pytorch, or for another framework with --timeline on.",
  });
  place.replaceChildren(
    counterChooser(metrics, shown, () => void opTable(context, place)),
    table.element,
  );
}

async function groupTable(context: Context, by: string): Promise<HTMLElement> {
  const range = rangeOf(context.state);
  const group = GROUPS[by]?.sql ?? "o.op_type";
  const pass = by === "layer" ? ", o.direction" : "";
  const rows = range
    ? await context.query(
        `SELECT coalesce(${group}, '') AS name ${pass}, count(DISTINCT s.op_id) AS ops, sum(s.calls) AS launches, sum(s.gpu_ns) AS gpu_total_ns, 100.0 * sum(s.gpu_ns) / sum(sum(s.gpu_ns)) OVER () AS gpu_pct FROM page_steps s JOIN page_op o ON o.op_id = s.op_id WHERE s.iteration BETWEEN ? AND ? GROUP BY ${group} ${pass} ORDER BY gpu_total_ns DESC`,
        [range.from, range.to],
      )
    : await context.query(
        `SELECT coalesce(${group}, '') AS name ${pass}, count(*) AS ops, sum(d.calls) AS calls, sum(d.gpu_total_ns) AS gpu_total_ns, 100.0 * sum(d.gpu_total_ns) / sum(sum(d.gpu_total_ns)) OVER () AS gpu_pct, sum(d.tc_gpu_ns) AS tc_gpu_ns, sum(d.cpu_total_ns) AS cpu_total_ns, sum(d.covered_ns) AS covered_ns, sum(d.samples) AS samples FROM detail d JOIN page_op o ON o.op_id = d.op_id GROUP BY ${group} ${pass} HAVING sum(d.gpu_total_ns) > 0 ORDER BY gpu_total_ns DESC`,
      );
  const table = new Table({
    id: `ops-${by}`,
    caption: `Ops by ${GROUPS[by]?.title.toLowerCase() ?? by}`,
    view: context.facts.views.detail,
    viewName: "detail",
    columns: rows.columns.map((name) => ({
      name,
      label: name === "name" ? GROUPS[by]?.title : undefined,
      unit: name === "gpu_pct" ? "%" : undefined,
      help: name === "gpu_pct" ? "Of the GPU time of all ops." : name === "ops" ? "Ops in the group." : undefined,
      bar: name === "gpu_total_ns",
    })),
    rows: rows.rows,
    order: "-gpu_total_ns",
  });
  return table.element;
}

const isLayered = (): boolean => chosen.state.more["ops.tree"] !== "path";

// SQL: where an op lies in the picture.
const placeOfOp = (): string =>
  `${isLayered() ? "o.layer || '/' || o.op_type" : "o.op_name"} || CASE o.direction WHEN '' THEN '' ELSE ' ' || o.direction END`;

// GPU time of what lies at a path of the picture and below, and its share.
async function figureOf(context: Context, path: string[]): Promise<string> {
  const range = rangeOf(context.state);
  const from = range
    ? `SELECT ltrim(${placeOfOp()}, '/') AS p, s.gpu_ns AS ns FROM page_steps s JOIN page_op o ON o.op_id = s.op_id WHERE s.iteration BETWEEN ${range.from} AND ${range.to}`
    : `SELECT ltrim(${placeOfOp()}, '/') AS p, d.gpu_total_ns AS ns FROM detail d JOIN page_op o ON o.op_id = d.op_id`;
  const row = (
    await context.query(
      `SELECT sum(ns) FILTER (WHERE ?1 = '' OR p = ?1 OR substr(p, 1, length(?1) + 1) = ?1 || '/') AS ns, 100.0 * sum(ns) FILTER (WHERE ?1 = '' OR p = ?1 OR substr(p, 1, length(?1) + 1) = ?1 || '/') / sum(ns) AS pct FROM (${from})`,
      [path.join("/")],
    )
  ).rows[0];
  return `${quantity(row?.[0], "ns")}, ${quantity(row?.[1], "%")} of all`;
}

async function treeOf(context: Context): Promise<Tree> {
  const range = rangeOf(context.state);
  const layered = isLayered();
  const path = placeOfOp();
  const op = layered ? "CASE WHEN count(*) = 1 THEN min(o.op_id) END" : "o.op_id";
  const rows = range
    ? await context.query(
        `SELECT ${path}, sum(s.gpu_ns), ${layered ? "CASE WHEN count(DISTINCT o.op_id) = 1 THEN min(o.op_id) END" : "o.op_id"} FROM page_steps s JOIN page_op o ON o.op_id = s.op_id WHERE s.iteration BETWEEN ? AND ? GROUP BY ${layered ? "1" : "o.op_id"} HAVING sum(s.gpu_ns) > 0`,
        [range.from, range.to],
      )
    : await context.query(
        `SELECT ${path}, sum(d.gpu_total_ns), ${op} FROM detail d JOIN page_op o ON o.op_id = d.op_id GROUP BY ${layered ? "1" : "o.op_id"} HAVING sum(d.gpu_total_ns) > 0`,
      );
  const root: Tree = {name: "all ops", value: 0, children: new Map()};
  for (const [text, value, id] of rows.rows) {
    let node = root;
    root.value += num(value);
    for (const part of str(text).split("/").filter(Boolean)) {
      let child = node.children.get(part);
      if (!child) node.children.set(part, (child = {name: part, value: 0, children: new Map()}));
      child.value += num(value);
      node = child;
    }
    node.op = id === null || id === undefined ? undefined : str(id);
  }
  return root;
}

export const ops: Panel = {
  id: "ops",
  title: "Ops",
  marks: ["op", "kernel", "config"],
  about:
    "What the program's layers and functions cost. Choose an op to see its kernels, its place in the timeline and its source.",
  async show(place, context) {
    const by = chosen.state.more["ops.by"] ?? "op";
    const select = h(
      "select",
      {id: "ops-by"},
      ...Object.entries(GROUPS).map(([name, group]) => h("option", {value: name}, group.title)),
    );
    select.value = by in GROUPS ? by : "op";
    select.addEventListener("change", () => {
      chosen.keep("ops.by", select.value);
      chosen.choose({});
    });
    const shape = h(
      "select",
      {id: "ops-tree"},
      h("option", {value: "layer"}, "layer group and op type"),
      h("option", {value: "path"}, "path of the op"),
    );
    shape.value = chosen.state.more["ops.tree"] ?? "layer";
    shape.addEventListener("change", () => {
      chosen.keep("ops.tree", shape.value);
      chosen.choose({});
    });
    const all = h("input", {type: "checkbox", id: "ops-all"});
    all.checked = chosen.state.more["ops.all"] === "1";
    all.addEventListener("change", () => {
      chosen.keep("ops.all", all.checked ? "1" : "");
      chosen.choose({});
    });
    const rows = h("div");
    place.append(
      h("div", {class: "tools"}, h("label", {}, "Picture by ", shape)),
      icicle(await treeOf(context), {
        title: "GPU time of ops",
        figure: (path) => figureOf(context, path),
        isChosen: (op) => op === chosen.state.op,
        choose: (op) => chosen.choose({op: op === chosen.state.op ? undefined : op, kernel: undefined, config: undefined}),
      }),
      h("div", {class: "tools"}, h("label", {}, "A row per ", select), h("label", {}, all, " also ops without GPU time")),
      rows,
    );
    if (select.value === "op") await opTable(context, rows);
    else rows.append(await groupTable(context, select.value));
    const next = h("p");
    const lead = (): void =>
      next.replaceChildren(
        ...(chosen.state.op === undefined
          ? []
          : [h("a", {href: chosen.address({panel: "kernels", more: {}})}, "Kernels of the chosen op")]),
      );
    lead();
    whenChosen(next, lead);
    place.prepend(next);
  },
};
