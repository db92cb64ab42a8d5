// Kernels, of the chosen op or of all; the launch configurations of a kernel; and a page for each configuration.

import {h, keepFocus} from "../dom";
import {kernelNameColumn, kernelNames, type KernelName} from "../kernel_names";
import {str, type Context, type Panel} from "../panel";
import {chosen} from "../state";
import {columnsAsked, FIRST_ROWS, mayBeginInPart, Table, type Column, type TableOptions} from "../table";
import type {Cell, Rows} from "../types";
import {configPage} from "./config";
import {kernelsOfRange, RANGE_HELP, stepsOf} from "./sums";

const KERNEL_COLUMNS = ["kernel_name", "op_name", "direction", "calls", "gpu_total_ns", "gpu_avg_ns", "uses_tc", "samples"];
// What rows are told apart by, and what is said of cells.
const KERNEL_NOTES = ["op_id", "kernel", "collected_by", "cache_control"];
const CONFIG_COLUMNS = [
  "kernel_name",
  "config",
  "grid",
  "block",
  "launches",
  "gpu_total_ns",
  "samples",
  "theoretical_pct",
  "achieved_pct",
  "limiter",
  "waves",
];

const ORDER = "-gpu_total_ns";

// Gives what fills in the rest.
async function fillKernels(context: Context, place: HTMLElement): Promise<() => Promise<void>> {
  const {state, facts} = context;
  const {isOwn} = context.range;
  const known = facts.views.op_kernels?.columns.map(([name]) => name) ?? [];
  const asked = new Set([...KERNEL_COLUMNS, ...KERNEL_NOTES, ...columnsAsked("kernels")]);
  const fetched = known.filter((name) => asked.has(name));
  const sql = `SELECT ${fetched.join(", ")} FROM op_kernels ${state.op === undefined ? "" : "WHERE op_id = ?"}`;
  const begins = mayBeginInPart("kernels", ORDER);
  const fetch = (most: number): Promise<Rows> =>
    isOwn
      ? context.query(`${sql} LIMIT ${most}`, state.op === undefined ? [] : [state.op], most >= 0 || !begins)
      : kernelsOfRange(context, most);
  const first = await fetch(begins ? FIRST_ROWS : -1);
  const names = await kernelNames(context.query);
  const isPart = begins && first.rows.length === FIRST_ROWS;
  const absent = isOwn ? known.filter((name) => !asked.has(name)) : [];
  const again = (): void => context.later(() => fillKernels(context, place).then((rest) => rest()));
  const fill = (rows: Rows, more: boolean): void => {
    const table = new Table({...kernelTable(context, rows, absent, names), isPart: more, again});
    keepFocus(place, () => place.replaceChildren(table.element));
  };
  fill(first, isPart);
  return async () => {
    if (isPart) fill(await fetch(-1), false);
  };
}

function kernelTable({state, facts, range}: Context, rows: Rows, absent: string[], names: Map<number, KernelName>): TableOptions {
  const at = (name: string): number => rows.columns.indexOf(name);
  const column = (name: string): Column => ({
    name,
    hidden: !KERNEL_COLUMNS.includes(name),
    bar: name === "gpu_total_ns",
    help: range.isOwn ? undefined : RANGE_HELP[name],
    note:
      name === "samples"
        ? (row) => [str(row[at("collected_by")]), `caches: ${str(row[at("cache_control")])}`].join("; ")
        : undefined,
    ...(name === "kernel_name" ? kernelNameColumn(names, rows) : {}),
  });
  const isChosen = (row: Cell[]): boolean =>
    row[at("kernel")] === state.kernel && (state.op === undefined || row[at("op_id")] === state.op);
  return {
    id: "kernels",
    caption: "Kernels",
    view: facts.views.op_kernels,
    viewName: range.isOwn ? "op_kernels" : "page_steps",
    columns: [...rows.columns.map(column), ...absent.map((name) => ({...column(name), absent: true}))],
    rows: rows.rows,
    keys: ["op_id", "kernel", "uses_tc"],
    order: ORDER,
    isChosen,
    choose: (row) =>
      chosen.choose(
        isChosen(row) ? {kernel: undefined, config: undefined} : {kernel: Number(row[at("kernel")]), config: undefined},
      ),
  };
}

// Those of the chosen kernel and op; all where neither is chosen.
async function configTable(context: Context): Promise<HTMLElement> {
  const {state, facts} = context;
  const conditions: string[] = [];
  const parameters: Cell[] = [];
  if (state.kernel !== undefined) {
    conditions.push("c.kernel = ?");
    parameters.push(state.kernel);
  }
  if (state.op !== undefined) {
    conditions.push("c.config IN (SELECT k.config FROM page_kind k WHERE k.op_id = ?)");
    parameters.push(state.op);
  }
  const plain = (facts.views.occupancy?.columns ?? [])
    .map(([name]) => name)
    .filter((name) => !/^(grid|block)_[xyz]$|^kernel_name$/.test(name));
  const {isOwn} = context.range;
  const ofRange = (name: string): string => {
    if (isOwn || !["launches", "gpu_total_ns"].includes(name)) return `c.${name}`;
    return name === "launches" ? "coalesce(r.launches, 0) AS launches" : "r.gpu_ns AS gpu_total_ns";
  };
  const sql = `SELECT kernel_name, grid_x || ' x ' || grid_y || ' x ' || grid_z AS grid, block_x || ' x ' || block_y || ' x ' || block_z AS block, ${plain.map(ofRange).join(", ")} FROM occupancy c ${isOwn ? "" : `LEFT JOIN (SELECT config, sum(calls) AS launches, sum(gpu_ns) AS gpu_ns FROM ${stepsOf(context.range)} GROUP BY config) r ON r.config = c.config`} ${conditions.length > 0 ? `WHERE ${conditions.join(" AND ")}` : ""}`;
  const [rows, names] = await Promise.all([context.query(sql, parameters), kernelNames(context.query)]);
  const at = (name: string): number => rows.columns.indexOf(name);
  const table = new Table({
    id: "configs",
    caption: "Launch configurations",
    view: facts.views.occupancy,
    viewName: isOwn ? "occupancy" : undefined,
    columns: rows.columns.map((name) => ({
      name,
      hidden: !CONFIG_COLUMNS.includes(name),
      bar: name === "gpu_total_ns",
      help: name === "grid" ? "Blocks of the grid." : name === "block" ? "Threads of a block." : undefined,
      ...(name === "kernel_name" ? kernelNameColumn(names, rows) : {}),
    })),
    rows: rows.rows,
    keys: ["config"],
    order: "-gpu_total_ns",
    isChosen: (row) => row[at("config")] === state.config,
    choose: (row) => chosen.choose({config: row[at("config")] === state.config ? undefined : Number(row[at("config")])}),
    empty: "No launch configuration is known of these kernels: copies, sets and kernels of CUDA graphs have none.",
  });
  return h("section", {"aria-label": "Launch configurations"}, h("h2", {}, "Launch configurations"), table.element);
}

export const kernels: Panel = {
  id: "kernels",
  title: "Kernels",
  about: "What ran on the GPU, by op. Choose a kernel for its launch configurations, and one of these for its page.",
  async show(place, context) {
    const {state} = context;
    if (state.config !== undefined) place.append(await configPage(context, state.config));
    const table = h("div");
    const rest = await fillKernels(context, table);
    place.append(table, await configTable(context));
    context.later(rest);
    if (state.kernel !== undefined)
      place.append(h("p", {}, h("a", {href: chosen.address({panel: "source", more: {}})}, "Source of the chosen kernel")));
  },
};
