// Two runs beside each other: the whole, op by op, and findings that came and went.

import {h} from "../dom";
import {cellText, number, scaleFor} from "../format";
import {num, str, type Context, type Panel} from "../panel";
import {chosen} from "../state";
import {Table, type Column} from "../table";
import {notOfRange} from "./sums";

const WHOLE: [column: string, unit: string, label: string][] = [
  ["median_iteration_ns", "ns", "Iteration, median"],
  ["mean_iteration_ns", "ns", "Iteration, mean"],
  ["iteration_deviation_ns", "ns", "Iteration, standard deviation"],
  ["aggregated_iterations", "", "Iterations aggregated"],
  ["gpu_pct", "%", "A GPU is active"],
  ["tc_pct", "%", "Tensor cores are active"],
  ["memory_pct", "%", "Copies and sets are active"],
  ["tc_utilization_pct", "%", "Use of tensor cores by ops that can"],
  ["all_ops_gpu_ns", "ns", "GPU time of all ops"],
  ["all_kernels_count", "", "Kernels, copies and sets"],
];

async function whole(context: Context, names: string[], other: string): Promise<HTMLElement> {
  const columns = WHOLE.flatMap(([name]) => [`a.${name}`, `b.${name}`, `1.0 * b.${name} / nullif(a.${name}, 0)`]);
  const row =
    (await context.database.query(`SELECT ${columns.join(", ")} FROM main.summary a, ${other}.summary b`)).rows[0] ?? [];
  const body = WHOLE.map(([, unit, label], i) => {
    const [a, b, ratio] = row.slice(3 * i, 3 * i + 3);
    const scale = scaleFor(unit, Math.max(num(a), num(b)));
    const cell = (value: typeof a): string =>
      value === null ? "not measured" : `${cellText(value, unit, scale)} ${scale.name}`.trim();
    return h(
      "tr",
      {},
      h("th", {scope: "row"}, label),
      h("td", {class: "number"}, cell(a)),
      h("td", {class: "number"}, cell(b)),
      h("td", {class: "number"}, typeof ratio === "number" ? number(ratio) : ""),
    );
  });
  return h(
    "div",
    {class: "scroll"},
    h(
      "table",
      {"aria-label": "The whole"},
      h("thead", {}, h("tr", {}, ...["Figure", ...names, "Ratio"].map((name) => h("th", {scope: "col", class: "plain"}, name)))),
      h("tbody", {}, ...body),
    ),
  );
}

// Ops of both, and those of one alone.
async function byOp(context: Context, names: string[], other: string): Promise<HTMLElement> {
  const figures = "x.op_name, x.op_id, x.direction, x.op_type";
  const iterations = (run: string): string => `(SELECT max(1, aggregated_iterations) FROM ${run}.summary)`;
  const per = (column: string, run: string): string => `1.0 * ${column} / ${iterations(run)}`;
  const [a, b] = [per("a.gpu_total_ns", "main"), per("b.gpu_total_ns", other)];
  const both = `SELECT ${figures.replaceAll("x.", "a.")}, ${a} AS first_ns, ${b} AS second_ns, ${b} - ${a} AS change_ns, ${b} / nullif(${a}, 0) AS ratio FROM main.detail a JOIN ${other}.detail b ON b.op_id = a.op_id WHERE a.gpu_total_ns > 0 OR b.gpu_total_ns > 0`;
  const gone = `SELECT ${figures.replaceAll("x.", "a.")}, ${a}, NULL, -${a}, NULL FROM main.detail a WHERE a.gpu_total_ns > 0 AND a.op_id NOT IN (SELECT op_id FROM ${other}.detail)`;
  const come = `SELECT ${figures.replaceAll("x.", "b.")}, NULL, ${b}, ${b}, NULL FROM ${other}.detail b WHERE b.gpu_total_ns > 0 AND b.op_id NOT IN (SELECT op_id FROM main.detail)`;
  const rows = await context.database.query(`${both} UNION ALL ${gone} UNION ALL ${come} ORDER BY 7 DESC`);
  const columns: Column[] = [
    {name: "op_name"},
    {name: "op_id", hidden: true},
    {name: "direction"},
    {name: "op_type"},
    {name: "first_ns", unit: "ns", label: names[0], help: "GPU time per iteration in the first run; empty: the op is not in it."},
    {
      name: "second_ns",
      unit: "ns",
      label: names[1],
      help: "GPU time per iteration in the other run; empty: the op is not in it.",
    },
    {name: "change_ns", unit: "ns", label: "Change", help: "The other run's less the first one's.", bar: true},
    {name: "ratio", label: "Ratio", unit: "", help: "The other run's over the first one's."},
  ];
  return new Table({
    id: "compare",
    caption: "GPU time of ops per iteration, in both runs",
    view: context.facts.views.detail,
    columns,
    rows: rows.rows,
    keys: ["op_id"],
    isChosen: (row) => row[1] === context.state.op,
    choose: (row) => chosen.choose({op: row[1] === context.state.op ? undefined : str(row[1])}),
  }).element;
}

// What dlkprof compare says of the two in words.
async function changes(context: Context, other: number): Promise<HTMLElement | null> {
  const rows = (
    await context.database.query("SELECT heading, sentence FROM page_change WHERE run = ? ORDER BY position", [other])
  ).rows;
  const headings = [...new Set(rows.map((row) => str(row[0])))];
  const parts = headings.flatMap((heading) => [
    headings.length > 1 ? h("h3", {}, heading) : null,
    h("ul", {}, ...rows.filter((row) => str(row[0]) === heading).map((row) => h("li", {}, str(row[1])))),
  ]);
  return rows.length === 0
    ? null
    : h("section", {"aria-label": "What changed", class: "words"}, h("h2", {}, "What changed"), ...parts);
}

async function findings(context: Context, names: string[], other: string): Promise<HTMLElement> {
  const list = async (words: string, from: string, of: string): Promise<HTMLElement> => {
    const rows = await context.database.query(
      `SELECT headline, problem FROM ${from}.findings a WHERE NOT EXISTS (SELECT 1 FROM ${of}.findings b WHERE b.rule = a.rule AND b.place = a.place)`,
    );
    return h(
      "div",
      {},
      h("h3", {}, words),
      rows.rows.length === 0
        ? h("p", {}, "None.")
        : h("ul", {}, ...rows.rows.map((row) => h("li", {}, h("b", {}, `${str(row[0])}. `), str(row[1])))),
    );
  };
  return h(
    "section",
    {"aria-label": "Findings"},
    h("h2", {}, "Findings"),
    await list(`Only in ${names[0] ?? ""}`, "main", other),
    await list(`Only in ${names[1] ?? ""}`, other, "main"),
  );
}

export const compare: Panel = {
  id: "compare",
  title: "Compare",
  about: "Two runs beside each other. The first run of the page is what another is compared with.",
  async show(place, context) {
    const {runs} = context.facts;
    if (runs.length < 2) {
      place.append(
        h(
          "p",
          {class: "hint"},
          "This page holds one run. To compare, name several: dlkprof view first_dldb.sqlite second_dldb.sqlite",
        ),
      );
      return;
    }
    const other = Math.min(runs.length - 1, Math.max(1, Number(chosen.state.more["compare.with"] ?? (context.state.run || 1))));
    const names = [runs[0]?.label ?? "", runs[other]?.label ?? ""];
    const select = h("select", {id: "compare-with"}, ...runs.slice(1).map((run, i) => h("option", {value: i + 1}, run.label)));
    select.value = String(other);
    select.addEventListener("change", () => {
      chosen.keep("compare.with", select.value);
      chosen.choose({});
    });
    const schema = `run${other}`;
    place.append(h("div", {class: "tools"}, h("span", {}, `${names[0] ?? ""} beside `), h("label", {}, "run ", select)));
    place.append(...notOfRange(context, "The comparison is of the iterations aggregated in the databases"));
    const said = await changes(context, other);
    if (said) place.append(said);
    place.append(
      await whole(context, names, schema),
      h("h2", {}, "Op by op"),
      await byOp(context, names, schema),
      await findings(context, names, schema),
    );
  },
};
