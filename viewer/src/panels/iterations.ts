// Iterations: how long each took, which of them figures are of, and the choice of others.

import {IterationBars, type IterationBar} from "../charts/bars";
import {series} from "../charts/series";
import {h, keepFocus} from "../dom";
import {choiceOfKind, isOf, iterationsOf, num, str, type Context, type Panel, type Range} from "../panel";
import {allIterations, chosen} from "../state";
import {FIRST_ROWS, mayBeginInPart, Table} from "../table";
import type {Rows} from "../types";
import {kindChooser, kindTable} from "./kinds";

function chooseRange(from: number | undefined, to: number | undefined): void {
  chosen.choose({from, to});
}

// Chooses one iteration, and lets go of the kind where it is of another.
function chooseOne(context: Context, iteration: number, isOfKind: boolean): void {
  chosen.choose({from: iteration, to: iteration, ...(isOfKind ? {} : {kind: choiceOfKind(context, null)})});
}

// Said where a range and a kind are chosen that have no iteration in common.
async function noneOfKind({range, query}: Context): Promise<HTMLElement[]> {
  if (range.kind === null) return [];
  const {rows} = await query(`SELECT EXISTS (SELECT 1 FROM page_iteration WHERE ${iterationsOf(range)})`);
  const words = `None of the iterations ${range.from} to ${range.to} is of the kind that is chosen: ${range.kinds.get(range.kind) ?? ""}.`;
  return num(rows[0]?.[0]) > 0 ? [] : [h("p", {class: "hint"}, words)];
}

// The same choice by keys alone.
function rangeForm(context: Context, last: number): HTMLElement {
  const {range} = context;
  const isChosen = context.state.from !== undefined;
  const field = (id: string, words: string, value: number): [HTMLInputElement, HTMLElement] => {
    const input = h("input", {type: "number", id, min: 0, max: last, value});
    return [input, h("label", {for: id}, words, " ", input)];
  };
  const [from, fromLabel] = field("range-from", "From iteration", range.from);
  const [to, toLabel] = field("range-to", "to", range.to);
  const form = h(
    "form",
    {class: "tools"},
    fromLabel,
    toLabel,
    h("button", {type: "submit", id: "range-use"}, "Show figures of these"),
    isChosen
      ? h(
          "button",
          {type: "button", id: "range-drop", onclick: () => chooseRange(undefined, undefined)},
          "Back to the iterations aggregated",
        )
      : null,
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const [a, b] = [Number(from.value), Number(to.value)].sort((x, y) => x - y);
    chooseRange(a, b);
  });
  return form;
}

// Iterations parted by the ends of another op: all figures are summed up anew from then on.
function keyNodes(context: Context): HTMLElement {
  const select = h(
    "select",
    {id: "key-node"},
    ...context.keys.map((one) =>
      h("option", {value: one.key}, `${one.name || "none"} (${one.found} times${one.key === 0 ? ", of the database" : ""})`),
    ),
  );
  select.value = String(context.range.key);
  select.addEventListener("change", () => chosen.choose({key: Number(select.value) || undefined, ...allIterations}));
  const grain = context.keys.find((one) => one.key === context.range.key)?.grain ?? 1;
  return h(
    "div",
    {class: "tools"},
    h("label", {}, "Key node, whose ends part iterations ", select),
    ...kindChooser(context),
    grain > 1
      ? h("span", {}, `In this page ranges begin and end at multiples of ${grain} iterations; dlkprof view --serve has all.`)
      : null,
  );
}

// What GPUs did over time, where they were sampled.
async function utilization(context: Context): Promise<HTMLElement | null> {
  const metrics = await context.query(
    "SELECT id, name FROM metric WHERE id IN (SELECT metric FROM sample_bin WHERE device = 0) ORDER BY name",
    [],
    false,
  );
  if (metrics.rows.length === 0) return null;
  const names = metrics.rows.map((row) => str(row[1]));
  const select = h("select", {id: "utilization-metric"}, ...names.map((name) => h("option", {}, name)));
  const asked = chosen.state.more["iterations.metric"];
  const usual = names.find((name) => name.includes("sm__throughput") || name.includes("cycles_active"));
  select.value = names.find((name) => name === asked) ?? usual ?? names[0] ?? ""; // another run may lack what was asked for
  const place = h("div");
  const draw = async (): Promise<void> => {
    const metric = num(metrics.rows[select.selectedIndex]?.[0]);
    const {columns} = await context.database.arrays(
      `SELECT (start_ns - (SELECT first_ns FROM about)) / 1e9, value FROM sample_bin WHERE metric = ${metric} AND device = 0 ORDER BY start_ns`,
      context.state.run,
      false,
    );
    const [times = new Float64Array(), values = new Float64Array()] = columns;
    place.replaceChildren(series([...times], [...values], "time (s)", select.value));
  };
  select.addEventListener("change", () => {
    chosen.keep("iterations.metric", select.value);
    void draw();
  });
  await draw();
  return h(
    "section",
    {"aria-label": "GPU over time"},
    h("h2", {}, "GPU over time, sampled"),
    h("div", {class: "tools"}, h("label", {}, "Metric ", select)),
    place,
  );
}

// The screen has fewer pixels than that.
const MOST_BARS = 2000;

// SQL: the name of the kind of an iteration; nothing where all do the same work.
const kindColumn = ({kinds, key}: Range): string =>
  kinds.size > 0 ? `, (SELECT name FROM page_iteration_kind n WHERE n.key = ${key} AND n.kind = i.kind) AS kind` : "";

// What bars show of all iterations, or of the longest of each group where they are to be few.
async function barsOf(context: Context, isFew: boolean): Promise<IterationBar[]> {
  const {key, all} = context.range;
  const [duration, groups] = isFew ? ["max(duration_ns)", `GROUP BY iteration * ${MOST_BARS} / ${all}`] : ["duration_ns", ""];
  const {length, columns} = await context.database.arrays(
    `SELECT iteration, ${duration}, gpu_ns, aggregated, kind FROM page_iteration WHERE key = ${key} ${groups} ORDER BY iteration`,
    context.state.run,
    isFew || all <= MOST_BARS,
  );
  const cell = (column: number, i: number): number => columns[column]?.[i] ?? NaN;
  return Array.from({length}, (_, i) => ({
    iteration: cell(0, i),
    duration: cell(1, i),
    gpu: cell(2, i),
    aggregated: cell(3, i) === 1,
    kind: cell(4, i),
  }));
}

// What is marked as chosen.
const chosenOf = ({state, range}: Context): Range | undefined =>
  state.from === undefined && state.kind === undefined ? undefined : range;

function tableOf(context: Context, rows: Rows, isPart: boolean): HTMLElement {
  const {range} = context;
  const shown = chosenOf(context);
  const kind = rows.columns.indexOf("kind");
  const name = range.kind === null ? undefined : range.kinds.get(range.kind);
  return new Table({
    id: "iterations",
    caption: "Iterations",
    view: context.facts.views.iterations,
    viewName: range.key === 0 ? "iterations" : undefined,
    columns: rows.columns.map((name) => ({
      name,
      bar: name === "duration_ns",
      help: name === "start_ns" ? "After the first iteration began." : undefined,
    })),
    rows: rows.rows,
    keys: ["iteration"],
    isPart,
    isChosen: (row) => shown !== undefined && isOf(shown, num(row[0])) && (name === undefined || row[kind] === name),
    choose: (row) => {
      const one = num(row[0]);
      if (shown?.from === one && shown.to === one) chooseRange(undefined, undefined);
      else chooseOne(context, one, name === undefined || row[kind] === name);
    },
  }).element;
}

export const iterations: Panel = {
  id: "iterations",
  title: "Iterations",
  about:
    "How long each iteration took. Choose some, or another key node, and Overview, Ops and Kernels show the figures of these.",
  async show(place, context) {
    const {range} = context;
    const fetch = (most: number): Promise<Rows> =>
      context.query(
        `SELECT iteration, duration_ns, gpu_ns, calls, aggregated, steady, start_ns - (SELECT start_ns FROM page_iteration WHERE key = ?1 AND iteration = 0) AS start_ns ${kindColumn(range)} FROM page_iteration i WHERE key = ?1 ORDER BY iteration LIMIT ?2`,
        [range.key, most],
        most >= 0,
      );
    const begins = mayBeginInPart("iterations", "");
    const isFew = range.all > MOST_BARS;
    const [bars, rows] = await Promise.all([barsOf(context, isFew), fetch(begins ? FIRST_ROWS : -1)]);
    const isPart = begins && rows.rows.length < range.all;
    const picture = new IterationBars({
      bars,
      count: range.all,
      kinds: range.kinds,
      range: chosenOf(context),
      choose: (from, to, kind) => {
        if (from === to) chooseOne(context, from, range.kind === null || kind === range.kind);
        else chooseRange(from, to);
      },
    });
    const table = h("div", {}, tableOf(context, rows, isPart));
    const form = rangeForm(context, Math.max(0, range.all - 1));
    place.append(keyNodes(context), ...(await noneOfKind(context)), picture.element, form, ...(await kindTable(context)), table);
    if (isFew) context.later(async () => picture.fill(await barsOf(context, false)));
    if (isPart)
      context.later(async () => {
        const all = await fetch(-1);
        keepFocus(table, () => table.replaceChildren(tableOf(context, all, false)));
      });
    context.later(async () => {
      const sampled = await utilization(context); // below what a screen shows
      if (sampled) place.append(sampled);
    });
  },
};
