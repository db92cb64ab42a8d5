// Coverage: what was not measured, and why; and what the captures warn of.

import {h} from "../dom";
import {number, quantity} from "../format";
import {kernelNameColumn, kernelNames} from "../kernel_names";
import {named, num, str, type Context, type Panel} from "../panel";
import {chosen} from "../state";
import {Table} from "../table";
import {notOfRange} from "./sums";

const FROM_START = [
  "kernel_name",
  "grid",
  "block",
  "launches",
  "matched",
  "measured",
  "left_alone",
  "timed_gpu_ns",
  "timed_gpu_pct",
  "reason",
];

function missing(context: Context): HTMLElement | null {
  const run = context.facts.runs[context.state.run];
  if (!run) return null;
  const words: string[] = [];
  if (run.kept.length > 0)
    words.push(
      `To keep this page small, single events are those of iterations ${run.kept.join(", ")} (the first, the median and the slowest): views kernels, ranges and gaps hold these alone. Everything else is of the whole run.`,
    );
  if (!run.launches) words.push("Counters launch by launch were left out as well; those of launch configurations are all here.");
  if (run.opsWithCounters !== undefined)
    words.push(`Counters and stall reasons of ops are those of the ${number(run.opsWithCounters)} ops with the most GPU time.`);
  if (words.length === 0) return null;
  words.push("dlkprof view --serve shows all of it.");
  return h("p", {class: "hint"}, words.join(" "));
}

async function totals(context: Context): Promise<HTMLElement> {
  const row =
    named(
      await context.query(
        "SELECT sum(launches) AS launches, sum(matched) AS matched, sum(measured) AS measured, sum(left_alone) AS left_alone, sum(near_missed) AS near_missed, (SELECT sum(graph_launches) FROM process) AS graphs, (SELECT sum(graph_gpu_ns) FROM process) AS graph_ns, (SELECT sum(held_ns) FROM process) AS held_ns FROM coverage",
      ),
    )[0] ?? {};
  const pairs: [string, string][] = [
    ["Launches seen", number(num(row.launches))],
    ["Taken by the selector", number(num(row.matched))],
    ["Measured", number(num(row.measured))],
    ["Skipped", number(num(row.left_alone))],
    ["Nearly matched", number(num(row.near_missed))],
    ["Launches of CUDA graphs", number(num(row.graphs))],
    ["GPU time in CUDA graphs", quantity(row.graph_ns, "ns")],
    ["Profiler overhead, cut out of all times", quantity(row.held_ns, "ns")],
  ];
  return h("dl", {class: "facts"}, ...pairs.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value || "0"))));
}

async function reasons(context: Context): Promise<HTMLElement> {
  const rows = await context.query(
    "SELECT coalesce(nullif(reason, ''), 'Measured as asked, or not asked for.') AS reason, count(*) AS configurations, sum(launches) AS launches, sum(measured) AS measured, sum(timed_gpu_pct) AS timed_gpu_pct FROM coverage GROUP BY 1 ORDER BY 3 DESC",
  );
  return new Table({
    id: "reasons-of-coverage",
    caption: "Why configurations are not complete",
    view: context.facts.views.coverage,
    columns: rows.columns.map((name) => ({
      name,
      help: name === "configurations" ? "Launch configurations, or functions that no filter takes." : undefined,
      bar: name === "launches",
    })),
    rows: rows.rows,
  }).element;
}

async function notices(context: Context): Promise<HTMLElement | null> {
  const rows = await context.query("SELECT severity, what, detail, remedy FROM notice ORDER BY severity DESC, id");
  if (rows.rows.length === 0) return null;
  const kinds = ["Note", "Warning", "Error"];
  return h(
    "section",
    {"aria-label": "Notices"},
    h("h2", {}, "What the captures say"),
    h(
      "ul",
      {},
      ...rows.rows.map(([severity, what, detail, remedy]) =>
        h(
          "li",
          {},
          h("b", {}, `${kinds[num(severity)] ?? "Note"}: `),
          [what, detail, remedy].map(str).filter(Boolean).join(". "),
        ),
      ),
    ),
  );
}

export const coverage: Panel = {
  id: "coverage",
  title: "Coverage",
  about: "What was measured, what was not, and why.",
  async show(place, context) {
    const left = missing(context);
    if (left) place.append(left);
    place.append(...notOfRange(context, "Coverage is of the whole run"));
    place.append(await totals(context), h("h2", {}, "Why"), await reasons(context));
    const said = await notices(context);
    if (said) place.append(said);
    const plain = (context.facts.views.coverage?.columns ?? [])
      .map(([name]) => name)
      .filter((name) => !/^(grid|block)_[xyz]$|^kernel_name$/.test(name));
    const rows = await context.query(
      `SELECT coalesce(kernel_name, '(not described)') AS kernel_name, grid_x || ' x ' || grid_y || ' x ' || grid_z AS grid, block_x || ' x ' || block_y || ' x ' || block_z AS block, ${plain.join(", ")}, (SELECT kernel FROM config f WHERE f.id = coverage.config) AS kernel FROM coverage`,
    );
    const names = await kernelNames(context.query);
    const at = rows.columns.indexOf("config");
    const table = new Table({
      id: "coverage",
      caption: "Launch configurations",
      view: context.facts.views.coverage,
      viewName: "coverage",
      columns: rows.columns.map((name) => ({
        name,
        hidden: !FROM_START.includes(name),
        bar: name === "timed_gpu_ns",
        help: name === "grid" ? "Blocks of the grid." : name === "block" ? "Threads of a block." : undefined,
        ...(name === "kernel_name" ? kernelNameColumn(names, rows) : {}),
      })),
      rows: rows.rows,
      keys: ["config", "pid", "kernel_name"],
      isChosen: (row) => row[at] !== null && row[at] === context.state.config,
      choose: (row) => row[at] !== null && chosen.choose({panel: "kernels", config: Number(row[at]), more: {}}),
    });
    place.append(h("h2", {}, "By launch configuration"), table.element);
  },
};
