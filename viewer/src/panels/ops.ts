// Ops: as a picture of what lies inside what, and as a table, op by op or in groups, with the counters of each.

import {icicle, type Tree} from "../charts/icicle";
import {h, whenChosen} from "../dom";
import {quantity} from "../format";
import {num, str, type Context, type Panel} from "../panel";
import {chosen} from "../state";
import {Table, type Column} from "../table";
import type {Cell} from "../types";
import {counterChooser, counterColumns, countersOf, metricsOf, wanted, withCounters} from "./op_counters";
import {opsOfRange, RANGE_HELP, stepsOf} from "./sums";

// How ops may be grouped: SQL of what a group is called.
const GROUPS: Record<string, {title: string; sql: string}> = {
  op: {title: "Op", sql: ""},
  layer: {title: "Layer group", sql: "o.layer"},
  module: {title: "Module", sql: "o.module"},
  type: {title: "Op type", sql: "o.op_type"},
  direction: {title: "Direction", sql: "coalesce(nullif(o.direction, ''), 'none')"},
  phase: {title: "Phase", sql: "o.phase"},
};

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

async function opTable(context: Context, place: HTMLElement): Promise<void> {
  const {isOwn} = context.range;
  const metrics = await metricsOf(context);
  const shown = wanted(metrics);
  const names = [
    "op_name",
    ...(context.facts.views.detail?.columns ?? []).map(([name]) => name).filter((name) => name !== "op_name"),
  ];
  const [rows, counters] = await Promise.all([
    isOwn
      ? context.query(
          `SELECT ${names.join(", ")} FROM detail ${chosen.state.more["ops.all"] === "1" ? "" : "WHERE gpu_total_ns > 0"}`,
        )
      : opsOfRange(context),
    countersOf(context, shown, "s.op_id"),
  ]);
  const id = rows.columns.indexOf("op_id");
  const opOf = (row: Cell[]): string => str(row[id]);
  const columns: Column[] = rows.columns.map((name) => ({
    name,
    hidden: !FROM_START.includes(name) && !(!isOwn && name.startsWith("gpu_")),
    bar: name === "gpu_total_ns",
    help: isOwn ? undefined : RANGE_HELP[name],
  }));
  const table = new Table({
    id: "ops",
    caption: "Ops",
    view: context.facts.views.detail,
    viewName: isOwn ? "detail" : "page_steps",
    columns: [...columns, ...counterColumns(shown, counters, opOf)],
    rows: withCounters(rows.rows, shown, counters, opOf),
    keys: ["op_id"],
    order: "-gpu_total_ns",
    isChosen: (row) => row[id] === chosen.state.op,
    choose: (row) =>
      chosen.choose({op: row[id] === chosen.state.op ? undefined : opOf(row), kernel: undefined, config: undefined}),
    empty: "No ops were recorded: profile with --mode pytorch, or for another framework with --timeline on.",
  });
  place.replaceChildren(
    counterChooser(metrics, shown, () => void opTable(context, place)),
    table.element,
  );
}

async function groupTable(context: Context, place: HTMLElement, by: string): Promise<void> {
  const group = GROUPS[by]?.sql ?? "o.op_type";
  const name = `coalesce(${group}, '')`;
  const pass = by === "layer" ? ", o.direction" : "";
  const metrics = await metricsOf(context);
  const shown = wanted(metrics);
  const sql = context.range.isOwn
    ? `SELECT ${name} AS name ${pass}, count(*) AS ops, sum(d.calls) AS calls, sum(d.gpu_total_ns) AS gpu_total_ns, 100.0 * sum(d.gpu_total_ns) / sum(sum(d.gpu_total_ns)) OVER () AS gpu_pct, sum(d.tc_gpu_ns) AS tc_gpu_ns, sum(d.cpu_total_ns) AS cpu_total_ns, sum(d.covered_ns) AS covered_ns FROM detail d JOIN page_op o ON o.op_id = d.op_id GROUP BY ${group} ${pass} HAVING sum(d.gpu_total_ns) > 0 ORDER BY gpu_total_ns DESC`
    : `SELECT ${name} AS name ${pass}, count(DISTINCT s.op_id) AS ops, sum(s.calls) AS launches, sum(s.gpu_ns) AS gpu_total_ns, 100.0 * sum(s.gpu_ns) / sum(sum(s.gpu_ns)) OVER () AS gpu_pct FROM ${stepsOf(context.range)} s JOIN page_op o ON o.op_id = s.op_id GROUP BY ${group} ${pass} ORDER BY gpu_total_ns DESC`;
  const [rows, counters] = await Promise.all([
    context.query(sql),
    countersOf(context, shown, pass ? `${name} || ' ' || o.direction` : name),
  ]);
  const groupOf = (row: Cell[]): string => (pass ? `${str(row[0])} ${str(row[1])}` : str(row[0]));
  const columns: Column[] = rows.columns.map((column) => ({
    name: column,
    label: column === "name" ? GROUPS[by]?.title : undefined,
    unit: column === "gpu_pct" ? "%" : undefined,
    help: column === "gpu_pct" ? "Of the GPU time of all ops." : column === "ops" ? "Ops in the group." : undefined,
    bar: column === "gpu_total_ns",
  }));
  const table = new Table({
    id: `ops-${by}`,
    caption: `Ops by ${GROUPS[by]?.title.toLowerCase() ?? by}`,
    view: context.facts.views.detail,
    viewName: "detail",
    columns: [...columns, ...counterColumns(shown, counters, groupOf)],
    rows: withCounters(rows.rows, shown, counters, groupOf),
    order: "-gpu_total_ns",
  });
  place.replaceChildren(
    counterChooser(metrics, shown, () => void groupTable(context, place, by)),
    table.element,
  );
}

const isLayered = (): boolean => chosen.state.more["ops.tree"] !== "path";

// SQL: where an op lies in the picture.
const placeOfOp = (): string =>
  `${isLayered() ? "o.layer || '/' || o.op_type" : "o.op_name"} || CASE o.direction WHEN '' THEN '' ELSE ' ' || o.direction END`;

// GPU time of what lies at a path of the picture and below, and its share.
async function figureOf(context: Context, path: string[]): Promise<string> {
  const from = !context.range.isOwn
    ? `SELECT ltrim(${placeOfOp()}, '/') AS p, s.gpu_ns AS ns FROM ${stepsOf(context.range)} s JOIN page_op o ON o.op_id = s.op_id`
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
  const group = isLayered() ? "1" : "o.op_id";
  const op = isLayered() ? "CASE WHEN min(o.op_id) = max(o.op_id) THEN min(o.op_id) END" : "o.op_id";
  const [ns, from] = context.range.isOwn
    ? ["d.gpu_total_ns", "(SELECT op_id, gpu_total_ns FROM detail)"]
    : ["d.gpu_ns", stepsOf(context.range)];
  const rows = await context.query(
    `SELECT ${placeOfOp()}, sum(${ns}), ${op} FROM ${from} d JOIN page_op o ON o.op_id = d.op_id GROUP BY ${group} HAVING sum(${ns}) > 0`,
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
    else await groupTable(context, rows, select.value);
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
