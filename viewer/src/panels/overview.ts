// What holds the run back, and DLProf's dashboard.

import {stack} from "../charts/stack";
import {h} from "../dom";
import {number, quantity} from "../format";
import {named, num, str, type Context, type Named, type Panel} from "../panel";
import {chosen} from "../state";
import {Table, type Column} from "../table";
import {kindTable} from "./kinds";
import {notOfRange, summaryOfRange, topOps} from "./sums";

async function one(context: Context, sql: string): Promise<Named | undefined> {
  return named(await context.query(sql))[0];
}

function facts(summary: Named, covered: Named, isOfRange: boolean, kind: string | undefined): HTMLElement {
  const hasDeviation = summary.iteration_deviation_ns !== null && num(summary.aggregated_iterations) > 1;
  const deviation = hasDeviation ? ` ± ${quantity(summary.iteration_deviation_ns, "ns")}` : "";
  const range = `${number(num(summary.aggregated_iterations))} of ${number(num(summary.total_iterations))} iterations`;
  const measured = num(covered.gpu_ns) > 0 ? `${number(num(covered.covered_pct))} %` : "none";
  const figures: [string, string, string][] = [
    [
      "Iteration, median",
      summary.median_iteration_ns === null ? "" : quantity(summary.median_iteration_ns, "ns"), // of several kinds
      "Of the iterations aggregated.",
    ],
    [
      "Iteration, mean",
      quantity(summary.mean_iteration_ns, "ns") + deviation,
      `Standard deviation of the sample; n = ${str(summary.aggregated_iterations)}.`,
    ],
    [
      "Aggregated",
      range,
      `Iterations ${str(summary.start_iteration)} to ${str(summary.stop_iteration)}, ${kind === undefined ? "" : `${kind} alone, `}${str(summary.range_source)}. Key node: ${str(summary.key_node) || "none"}.`,
    ],
    ["GPU time with counters", measured, "GPU time in launch configurations that were measured, of all GPU time of ops."],
    [
      isOfRange ? "Launches measured, of the whole run" : "Launches measured",
      `${number(num(covered.measured))} of ${number(num(covered.launches))}`,
      "See the panel Coverage for why others were not.",
    ],
  ];
  return h(
    "dl",
    {class: "facts"},
    ...figures
      .filter(([, value]) => value !== "")
      .map(([name, value, help]) => h("div", {title: help}, h("dt", {}, name), h("dd", {}, value))),
  );
}

function findingCard(finding: Named): HTMLElement {
  const gain =
    finding.gain_pct === null
      ? ""
      : `at most ${number(num(finding.gain_pct))} %, ${quantity(finding.gain_ns_per_iteration, "ns")} per iteration`;
  const toOp =
    finding.op_id === null
      ? null
      : h(
          "button",
          {type: "button", onclick: () => chosen.choose({panel: "ops", op: str(finding.op_id), more: {}})},
          "Show the op",
        );
  return h(
    "li",
    {class: "card"},
    h("h3", {}, str(finding.headline)),
    gain ? h("p", {class: "gain"}, gain) : null,
    h("p", {}, str(finding.problem)),
    h("p", {class: "advice"}, str(finding.recommendation)),
    h("p", {class: "basis"}, `Basis: ${str(finding.basis)}. Rule: ${str(finding.rule)}`),
    toOp,
  );
}

// The greatest of each rule.
async function findings(context: Context): Promise<HTMLElement> {
  const all = named(
    await context.query(
      "SELECT rule, headline, problem, recommendation, op_id, basis, gain_pct, gain_ns_per_iteration FROM findings",
    ),
  );
  const seen = new Set<string>();
  const greatest = all.filter((finding) => !seen.has(str(finding.rule)) && seen.add(str(finding.rule)));
  const list = h("ol", {class: "findings"}, ...greatest.slice(0, 3).map(findingCard));
  const rest = all.length - Math.min(3, greatest.length);
  const more = h(
    "details",
    {},
    h("summary", {}, `${rest} more`),
    h("ol", {class: "findings"}, ...all.filter((finding) => !greatest.slice(0, 3).includes(finding)).map(findingCard)),
  );
  return h(
    "section",
    {"aria-label": "Findings"},
    h("h2", {}, "What to change"),
    ...notOfRange(context, "Findings are of the iterations aggregated in the database"),
    all.length === 0 ? h("p", {}, "No rule found anything.") : list,
    rest > 0 ? more : null,
  );
}

function dashboard(summary: Named): HTMLElement {
  const pct = (name: string, column: string, colour: string, help = "") => ({
    name,
    value: num(summary[column]),
    unit: "%",
    colour,
    help,
  });
  const ns = (name: string, column: string, colour: string, help = "") => ({
    name,
    value: num(summary[column]),
    unit: "ns",
    colour,
    help,
  });
  return h(
    "div",
    {class: "cards"},
    stack("GPU utilization, of the wall clock", [pct("A GPU is active", "gpu_pct", "c-tc")], 100),
    stack(
      "Resource usage, of the wall clock",
      [
        pct("Tensor cores", "tc_pct", "c-tc", "Kernels that use tensor cores are active."),
        pct("Other kernels", "non_tc_pct", "c-kernel"),
        pct("Memory", "memory_pct", "c-memory", "Copies and sets are active."),
        pct("Data loader", "dataloader_pct", "c-loader"),
        pct("Input/output", "io_pct", "c-io"),
        pct("CPU", "cpu_pct", "c-cpu"),
        pct("Other", "other_pct", "c-other"),
      ],
      100,
    ),
    stack("GPU time of kernels, copies and sets", [
      ns("Kernels using tensor cores", "tc_kernels_gpu_ns", "c-tc"),
      ns("Copies and sets", "memory_gpu_ns", "c-memory"),
      ns("All other kernels", "other_kernels_gpu_ns", "c-kernel"),
    ]),
    stack("GPU time of ops", [
      ns("Ops using tensor cores", "tc_ops_gpu_ns", "c-tc"),
      ns("Ops that could and do not", "eligible_without_tc_gpu_ns", "c-loader"),
      ns("All other ops", "other_ops_gpu_ns", "c-kernel"),
    ]),
  );
}

async function system(context: Context): Promise<HTMLElement> {
  const pairs: [string, string][] = [];
  const add = (name: string, rows: Named[], column: string): void => {
    const values = [...new Set(rows.map((row) => str(row[column])).filter(Boolean))];
    if (values.length > 0) pairs.push([name, values.join(", ")]);
  };
  const processes = named(
    await context.query(
      "SELECT p.*, (SELECT group_concat(value, ' ') FROM (SELECT value FROM argument a WHERE a.process = p.id ORDER BY position)) AS command, (driver_version / 1000) || '.' || (driver_version % 1000 / 10) AS cuda FROM process p",
    ),
  );
  const devices = named(await context.query("SELECT name || ', ' || chip || ', ' || sm_count || ' SMs' AS gpu FROM device"));
  add("Command", processes, "command");
  add("Host", processes, "host");
  add("GPU", devices, "gpu");
  add("CUDA of the driver", processes, "cuda");
  add("CUPTI", processes, "cupti_version");
  add("dlkprof", processes, "dlkprof_version");
  for (const fact of named(await context.query("SELECT source, name, value FROM fact ORDER BY id")))
    pairs.push([`${str(fact.source)} ${str(fact.name)}`, str(fact.value)]);
  return h(
    "section",
    {"aria-label": "System configuration"},
    h("h2", {}, "System configuration"),
    h("dl", {class: "pairs"}, ...pairs.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
  );
}

async function opTable(context: Context): Promise<HTMLElement> {
  const {rows, columns} = await topOps(context, 10);
  const shown: Column[] = columns.map((name) => ({name, hidden: name === "op_id", bar: name === "gpu_total_ns"}));
  const table = new Table({
    id: "top",
    caption: "Ten ops with the most GPU time",
    view: context.facts.views.detail,
    viewName: context.range.isOwn ? "detail" : "page_steps",
    columns: shown,
    keys: ["op_id"],
    rows,
    isChosen: (row) => row[columns.indexOf("op_id")] === context.state.op,
    choose: (row) => chosen.choose({panel: "ops", op: str(row[columns.indexOf("op_id")]), more: {}}),
  });
  return h("section", {"aria-label": "Top ten ops"}, h("h2", {}, "Ten ops with the most GPU time"), table.element);
}

// What holds iterations of the chosen kind back, of those aggregated.
async function verdictOfKind(context: Context): Promise<Named | undefined> {
  const {key, kind, kinds, isUsual, isOwn} = context.range;
  if (isOwn || key !== 0 || kind === null || !isUsual) return undefined;
  const name = str(kinds.get(kind));
  const found = await context.query(
    "SELECT coalesce(nullif(verdict, ''), kind || ': not judged.') AS sentence FROM iteration_kinds WHERE kind = ?",
    [name],
  );
  return named(found)[0];
}

export const overview: Panel = {
  id: "overview",
  title: "Overview",
  about: "What holds the run back, and where its time goes.",
  async show(place, context) {
    const {isOwn, kind, kinds} = context.range;
    const kindName = kind === null ? undefined : kinds.get(kind);
    const summary = isOwn ? await one(context, "SELECT * FROM summary") : named(await summaryOfRange(context))[0];
    const ofKind = await verdictOfKind(context);
    const verdict = ofKind ?? (await one(context, "SELECT sentence FROM page_verdict"));
    const covered = await one(
      context,
      "SELECT coalesce((SELECT sum(launches) FROM coverage), 0) AS launches, coalesce((SELECT sum(measured) FROM coverage), 0) AS measured, sum(gpu_total_ns) AS gpu_ns, 100.0 * sum(covered_ns) / nullif(sum(gpu_total_ns), 0) AS covered_pct FROM page_group WHERE grouping = 'direction'",
    );
    place.append(h("p", {class: "verdict"}, str(verdict?.sentence)));
    if (!isOwn && ofKind === undefined)
      place.append(
        h(
          "p",
          {class: "hint"},
          "The sentence above is of the iterations aggregated in the database. To judge those chosen, make a page of them: --iter_start, --iter_stop, --iter_kind, --key_node.",
        ),
      );
    if (summary && covered) place.append(facts(summary, isOwn ? covered : {...covered, ...summary}, !isOwn, kindName));
    if (context.range.kind === null) place.append(...(await kindTable(context)));
    place.append(await findings(context));
    if (summary) place.append(h("section", {"aria-label": "Dashboard"}, h("h2", {}, "Where time goes"), dashboard(summary)));
    place.append(await opTable(context), await system(context));
  },
};
