// Iterations: how long each took, which of them figures are of, and the choice of others.

import {iterationBars} from "../charts/bars";
import {series} from "../charts/series";
import {h} from "../dom";
import {isOf, named, num, str, type Context, type Panel, type Range} from "../panel";
import {chosen} from "../state";
import {Table} from "../table";

function chooseRange(from: number | undefined, to: number | undefined): void {
  chosen.choose({from, to});
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
    h("button", {type: "submit", id: "range-use"}, "Show these in every panel"),
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
  select.addEventListener("change", () =>
    chosen.choose({key: Number(select.value) || undefined, from: undefined, to: undefined}),
  );
  const grain = context.keys.find((one) => one.key === context.range.key)?.grain ?? 1;
  return h(
    "div",
    {class: "tools"},
    h("label", {}, "Key node, whose ends part iterations ", select),
    grain > 1
      ? h("span", {}, `In this page ranges begin and end at multiples of ${grain} iterations; dlkprof view --serve has all.`)
      : null,
  );
}

// What GPUs did over time, where they were sampled.
async function utilization(context: Context): Promise<HTMLElement | null> {
  const metrics = await context.query("SELECT metric, count(*) FROM utilization GROUP BY 1 ORDER BY 1");
  if (metrics.rows.length === 0) return null;
  const select = h("select", {id: "utilization-metric"}, ...metrics.rows.map((row) => h("option", {}, str(row[0]))));
  const asked = chosen.state.more["iterations.metric"];
  const usual = metrics.rows
    .map((row) => str(row[0]))
    .find((name) => name.includes("sm__throughput") || name.includes("cycles_active"));
  select.value = asked ?? usual ?? str(metrics.rows[0]?.[0]);
  const place = h("div");
  const draw = async (): Promise<void> => {
    const found = await context.query(
      "SELECT (start_ns - (SELECT first_ns FROM about)) / 1e9, value FROM utilization WHERE metric = ? AND device = 0 ORDER BY start_ns",
      [select.value],
    );
    place.replaceChildren(
      series(
        found.rows.map((row) => num(row[0])),
        found.rows.map((row) => num(row[1])),
        "time (s)",
        select.value,
      ),
    );
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

export const iterations: Panel = {
  id: "iterations",
  title: "Iterations",
  about: "How long each iteration took. Choose some, or another key node, and every panel shows the figures of these.",
  async show(place, context) {
    const {range} = context;
    const columns = "iteration, duration_ns, gpu_ns, calls, aggregated, steady";
    const rows = await context.query(
      `SELECT ${columns}, start_ns - (SELECT min(start_ns) FROM page_iteration WHERE key = ?1) AS start_ns FROM page_iteration WHERE key = ?1 ORDER BY iteration`,
      [range.key],
    );
    const all = named(rows).map((row) => ({
      iteration: num(row.iteration),
      duration: num(row.duration_ns),
      gpu: num(row.gpu_ns),
      aggregated: row.aggregated === 1,
      start: num(row.start_ns),
    }));
    const shown: Range | undefined = context.state.from === undefined ? undefined : range;
    place.append(keyNodes(context), iterationBars(all, shown, chooseRange), rangeForm(context, Math.max(0, all.length - 1)));
    const table = new Table({
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
      isChosen: (row) => shown !== undefined && isOf(shown, num(row[0])),
      choose: (row) => {
        const one = num(row[0]);
        if (shown?.from === one && shown.to === one) chooseRange(undefined, undefined);
        else chooseRange(one, one);
      },
    });
    place.append(table.element);
    const sampled = await utilization(context);
    if (sampled) place.append(sampled);
  },
};
