// Ops: as a picture of what lies inside what, and as a table, op by op or in groups, with the counters of each.

import {icicle, type Tree} from "../charts/icicle";
import {h, keepFocus, whenChosen} from "../dom";
import {quantity} from "../format";
import {num, str, type Context, type Panel} from "../panel";
import {chosen} from "../state";
import {columnsAsked, FIRST_ROWS, mayBeginInPart, Table, type Column} from "../table";
import type {Cell} from "../types";
import {counterChooser, counterColumns, countersOf, metricsOf, wanted, withCounters, type Counters} from "./op_counters";
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

// The columns of view detail that the table is made with: what is not asked for need not be fetched.
function columnsOf(context: Context): {fetched: string[]; absent: string[]} {
  const known = (context.facts.views.detail?.columns ?? []).map(([name]) => name);
  const asked = new Set([...FROM_START, "op_id", ...columnsAsked("ops")]);
  const fetched = ["op_name", ...known.filter((name) => name !== "op_name" && asked.has(name))];
  return {fetched, absent: known.filter((name) => !fetched.includes(name))};
}

const ORDER = "-gpu_total_ns";

// Gives what fills in the rest.
async function opTable(context: Context, place: HTMLElement): Promise<() => Promise<void>> {
  const {isOwn} = context.range;
  const {fetched, absent} = columnsOf(context);
  const all = `SELECT ${fetched.join(", ")} FROM detail ${chosen.state.more["ops.all"] === "1" ? "" : "WHERE gpu_total_ns > 0"}`;
  const begins = mayBeginInPart("ops", ORDER);
  const [metrics, first] = await Promise.all([
    metricsOf(context),
    isOwn ? context.query(begins ? `${all} LIMIT ${FIRST_ROWS}` : all) : opsOfRange(context, begins ? FIRST_ROWS : -1),
  ]);
  const isPart = begins && first.rows.length === FIRST_ROWS;
  const shown = wanted(metrics);
  const id = first.columns.indexOf("op_id");
  const opOf = (row: Cell[]): string => str(row[id]);
  const again = (): void => context.later(() => opTable(context, place).then((rest) => rest()));
  const column = (name: string): Column => ({
    name,
    hidden: !FROM_START.includes(name) && !(!isOwn && name.startsWith("gpu_")),
    bar: name === "gpu_total_ns",
    help: isOwn ? undefined : RANGE_HELP[name],
  });
  const fill = (rows: Cell[][], counters: Counters, more: boolean): void => {
    const table = new Table({
      id: "ops",
      caption: "Ops",
      view: context.facts.views.detail,
      viewName: isOwn ? "detail" : "page_steps",
      columns: [
        ...first.columns.map(column),
        ...counterColumns(shown, counters, opOf),
        ...(isOwn ? absent : []).map((name) => ({...column(name), absent: true})),
      ],
      rows: withCounters(rows, shown, counters, opOf),
      keys: ["op_id"],
      order: ORDER,
      isPart: more,
      isChosen: (row) => row[id] === chosen.state.op,
      choose: (row) =>
        chosen.choose({op: row[id] === chosen.state.op ? undefined : opOf(row), kernel: undefined, config: undefined}),
      empty: "No ops were recorded: profile with --mode pytorch, or for another framework with --timeline on.",
      again,
    });
    keepFocus(place, () => place.replaceChildren(counterChooser(metrics, shown, again), table.element));
  };
  fill(first.rows, new Map(), isPart);
  return async () => {
    if (!isPart && shown.length === 0) return;
    const [rows, counters] = await Promise.all([
      !isPart ? first : isOwn ? context.query(all, [], false) : opsOfRange(context, -1),
      countersOf(context, shown, "s.op_id"),
    ]);
    fill(rows.rows, counters, false);
  };
}

// SQL: of the iterations chosen, launches and GPU time of each op.
const opSums = (context: Context): string =>
  `(SELECT op, sum(calls) AS calls, sum(gpu_ns) AS ns FROM ${stepsOf(context.range)} GROUP BY op)`;

// Likewise.
async function groupTable(context: Context, place: HTMLElement, by: string): Promise<() => Promise<void>> {
  const group = GROUPS[by]?.sql ?? "o.op_type";
  const name = `coalesce(${group}, '')`;
  const pass = by === "layer" ? ", o.direction" : "";
  const metrics = await metricsOf(context);
  const shown = wanted(metrics);
  const sql = context.range.isOwn
    ? `SELECT name ${pass && ", direction"}, ops, calls, gpu_total_ns, gpu_pct, tc_gpu_ns, cpu_total_ns, covered_ns FROM page_group WHERE grouping = ? ORDER BY gpu_total_ns DESC`
    : `SELECT ${name} AS name ${pass}, count(*) AS ops, sum(s.calls) AS launches, sum(s.ns) AS gpu_total_ns, 100.0 * sum(s.ns) / sum(sum(s.ns)) OVER () AS gpu_pct FROM ${opSums(context)} s CROSS JOIN page_op o ON o.op = s.op GROUP BY ${group} ${pass} ORDER BY gpu_total_ns DESC`;
  const rows = await context.query(sql, context.range.isOwn ? [by] : []);
  const groupOf = (row: Cell[]): string => (pass ? `${str(row[0])} ${str(row[1])}` : str(row[0]));
  const columns: Column[] = rows.columns.map((column) => ({
    name: column,
    label: column === "name" ? GROUPS[by]?.title : undefined,
    unit: column === "gpu_pct" ? "%" : undefined,
    help: column === "gpu_pct" ? "Of the GPU time of all ops." : column === "ops" ? "Ops in the group." : undefined,
    bar: column === "gpu_total_ns",
  }));
  const fill = (counters: Counters): void => {
    const table = new Table({
      id: `ops-${by}`,
      caption: `Ops by ${GROUPS[by]?.title.toLowerCase() ?? by}`,
      view: context.facts.views.detail,
      viewName: "detail",
      columns: [...columns, ...counterColumns(shown, counters, groupOf)],
      rows: withCounters(rows.rows, shown, counters, groupOf),
      order: "-gpu_total_ns",
    });
    const again = (): void => context.later(() => groupTable(context, place, by).then((rest) => rest()));
    keepFocus(place, () => place.replaceChildren(counterChooser(metrics, shown, again), table.element));
  };
  fill(new Map());
  const groups = pass ? `${name} || ' ' || o.direction` : name;
  return async () => {
    if (shown.length > 0) fill(await countersOf(context, shown, groups));
  };
}

const isLayered = (): boolean => chosen.state.more["ops.tree"] !== "path";

// SQL: where an op, or a group of ops, lies in the picture, and its GPU time. Table page_group has what view detail gives for groups.
function treeSql(context: Context): {place: string; ns: string; from: string; op: string} {
  const pass = (direction: string): string => ` || CASE ${direction} WHEN '' THEN '' ELSE ' ' || ${direction} END`;
  if (context.range.isOwn && isLayered())
    return {place: `name${pass("direction")}`, ns: "gpu_total_ns", from: "page_group WHERE grouping = 'place'", op: "op_id"};
  const place = `${isLayered() ? "o.layer || '/' || o.op_type" : "o.op_name"}${pass("o.direction")}`;
  if (context.range.isOwn)
    return {place, ns: "d.gpu_total_ns", from: "detail d JOIN page_op o ON o.op_id = d.op_id", op: "o.op_id"};
  return {place, ns: "d.ns", from: `${opSums(context)} d CROSS JOIN page_op o ON o.op = d.op`, op: "o.op_id"};
}

// GPU time of what lies at a path of the picture and below, and its share.
async function figureOf(context: Context, path: string[]): Promise<string> {
  const {place, ns, from} = treeSql(context);
  const inside = "sum(ns) FILTER (WHERE ?1 = '' OR p = ?1 OR substr(p, 1, length(?1) + 1) = ?1 || '/')";
  const row = (
    await context.query(
      `SELECT ${inside} AS ns, 100.0 * ${inside} / sum(ns) AS pct FROM (SELECT ltrim(${place}, '/') AS p, ${ns} AS ns FROM ${from})`,
      [path.join("/")],
    )
  ).rows[0];
  return `${quantity(row?.[0], "ns")}, ${quantity(row?.[1], "%")} of all`;
}

async function treeOf(context: Context): Promise<Tree> {
  const {place, ns, from, op} = treeSql(context);
  const rows = await context.query(
    isLayered() && !context.range.isOwn
      ? `SELECT ${place}, sum(${ns}), CASE WHEN min(${op}) = max(${op}) THEN min(${op}) END FROM ${from} GROUP BY 1 HAVING sum(${ns}) > 0`
      : `SELECT * FROM (SELECT ${place}, ${ns} AS ns, ${op} FROM ${from}) WHERE ns > 0`,
    [],
    context.range.isOwn && isLayered(),
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

async function drawTree(context: Context, place: HTMLElement): Promise<void> {
  const tree = await treeOf(context);
  place.replaceChildren(
    icicle(tree, {
      title: "GPU time of ops",
      figure: (path) => figureOf(context, path),
      isChosen: (op) => op === chosen.state.op,
      choose: (op) => chosen.choose({op: op === chosen.state.op ? undefined : op, kernel: undefined, config: undefined}),
    }),
  );
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
    const picture = h("div", {class: "icicle-place"});
    place.append(
      h("div", {class: "tools"}, h("label", {}, "Picture by ", shape)),
      picture,
      h("div", {class: "tools"}, h("label", {}, "A row per ", select), h("label", {}, all, " also ops without GPU time")),
      rows,
    );
    const rest = await (select.value === "op" ? opTable(context, rows) : groupTable(context, rows, select.value));
    if (context.range.isOwn && isLayered()) await drawTree(context, picture);
    else context.later(() => drawTree(context, picture)); // summed up from all ops
    context.later(rest);
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
