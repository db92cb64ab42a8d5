// Source: where warps were found waiting, and what they did, instruction by instruction or line by line, where PC sampling was on or
// instructions were counted.

import {h} from "../dom";
import {kernelNames} from "../kernel_names";
import {num, str, type Context, type Panel} from "../panel";
import {notOfRange} from "./sums";
import {chosen} from "../state";
import {Table, type Column} from "../table";
import type {Cell} from "../types";

// A kernel in one piece of machine code: a program may hold several of the same name.
interface Code {
  id: number; // of pc_function
  kernel: number;
  title: string;
  whole: string;
}

// Those with the most samples first, then those that executed the most instructions.
async function codesOf(context: Context): Promise<Code[]> {
  const names = await kernelNames(context.query);
  const {rows} = await context.query(
    "WITH every AS (SELECT function, kernel, sum(samples) AS samples, 0 AS executed FROM pc_samples GROUP BY 1, 2 UNION ALL SELECT function, kernel, 0, sum(instructions_executed) FROM instruction_counts GROUP BY 1, 2), " +
      "one AS (SELECT function, kernel, sum(samples) AS samples, sum(executed) AS executed FROM every GROUP BY 1, 2) " +
      "SELECT s.function, s.kernel, count(*) OVER (PARTITION BY s.kernel) AS pieces, printf('%016x', f.cubin_crc) AS crc FROM one s JOIN pc_function f ON f.id = s.function ORDER BY s.samples DESC, s.executed DESC, s.function",
  );
  return rows.map(([id, kernel, pieces, crc]) => {
    const name = names.get(num(kernel));
    const telling = name?.telling ?? `kernel ${str(kernel)}`;
    return {
      id: num(id),
      kernel: num(kernel),
      title: num(pieces) > 1 ? `${telling}, machine code ${str(crc)}` : telling,
      whole: name?.whole ?? "",
    };
  });
}

// What is shown at first: what was asked for, the chosen kernel, one of the chosen op, or the first.
async function wanted(context: Context, codes: [Code, ...Code[]]): Promise<Code> {
  const {state} = context;
  const asked = chosen.state.more["source.function"];
  const found =
    codes.find((code) => String(code.id) === asked) ??
    (state.kernel === undefined ? undefined : codes.find((code) => code.kernel === state.kernel));
  if (found !== undefined || state.op === undefined) return found ?? codes[0];
  const {rows} = await context.query("SELECT kernel FROM op_kernels WHERE op_id = ?", [state.op]);
  const kernels = rows.map((row) => num(row[0]));
  return codes.find((code) => kernels.includes(code.kernel)) ?? codes[0];
}

async function stallList(context: Context, code: Code): Promise<HTMLElement[]> {
  const rows = await context.query(
    "SELECT coalesce(r.name, s.reason) AS name, sum(s.samples) AS samples, 100.0 * sum(s.samples) / sum(sum(s.samples)) OVER () AS pct, r.meaning, r.remedy FROM pc_samples s LEFT JOIN page_pc_reason r ON r.reason = s.reason WHERE s.function = ? GROUP BY s.reason ORDER BY 2 DESC",
    [code.id],
  );
  if (rows.rows.length === 0) return [];
  const table = new Table({
    id: "reasons",
    caption: "What warps of the kernel were found waiting for",
    view: context.facts.views.pc_samples,
    viewName: "pc_samples",
    columns: [
      {name: "name", label: "Reason", help: "As counters have it."},
      {name: "samples", bar: true},
      {name: "pct", unit: "%", label: "Of these samples"},
      {name: "meaning", help: "What a warp waits for."},
      {name: "remedy", label: "What usually helps"},
    ],
    rows: rows.rows,
  });
  return [table.element];
}

async function launchesCounted(context: Context, code: Code): Promise<HTMLElement[]> {
  const {rows} = await context.query("SELECT count(DISTINCT config) FROM instruction_counts WHERE function = ?", [code.id]);
  const launches = num(rows[0]?.[0]);
  if (launches === 0) return [];
  const words = launches === 1 ? "one launch" : `${launches} launches, one of each launch configuration, added up`;
  return [h("p", {class: "hint"}, `Counts of instructions are of ${words}.`)];
}

// Columns of view instruction_counts.
const COUNTS = [
  "instructions_executed",
  "threads_executed",
  "threads_predicated_on",
  "divergent_branches",
  "global_sectors",
  "global_sectors_ideal",
  "shared_wavefronts",
  "shared_wavefronts_ideal",
];
const each = (sql: (count: string) => string): string => COUNTS.map(sql).join(", ");

// SQL: what was sampled and counted of a function by place, with the reason that most samples have. Each row is looked at once: of
// those of a place SQLite gives the columns of the one with max(), where that is the only min() or max().
function placesSql(byLine: boolean): string {
  const [place, at, line] = byLine
    ? ["source_file, source_line", "coalesce(s.source_file, '(not known)') || ':' || coalesce(s.source_line, '?')", "NULL"]
    : ["byte_offset", "printf('0x%04x', s.byte_offset)", "s.source_file || ':' || s.source_line"];
  return (
    `WITH one AS (SELECT byte_offset, source_file, source_line, reason, sum(samples) AS samples, sum(cycles) AS cycles FROM pc_samples WHERE function = ?1 GROUP BY ${place}, reason), ` +
    `every AS (SELECT byte_offset, source_file, source_line, sum(samples) AS samples, sum(cycles) AS cycles, reason, max(samples), ${each((count) => `NULL AS ${count}`)} FROM one GROUP BY ${place} ` +
    `UNION ALL SELECT byte_offset, source_file, source_line, NULL, NULL, NULL, NULL, ${each((count) => `sum(${count})`)} FROM instruction_counts WHERE function = ?1 GROUP BY ${place}), ` +
    `place AS (SELECT byte_offset, source_file, source_line, coalesce(sum(samples), 0) AS samples, sum(cycles) AS cycles, max(reason) AS reason, ${each((count) => `sum(${count}) AS ${count}`)} FROM every GROUP BY ${place}) ` +
    `SELECT ${at}, ${line}, s.samples, 100.0 * s.samples / nullif(sum(s.samples) OVER (), 0), coalesce(r.name, s.reason), s.cycles, ` +
    (byLine ? "NULL, NULL, NULL, " : "p.sass, p.loop, p.loop_pct, ") +
    "s.instructions_executed, 1.0 * s.threads_executed / nullif(s.instructions_executed, 0), 1.0 * s.threads_predicated_on / nullif(s.instructions_executed, 0), s.divergent_branches, " +
    "s.global_sectors, max(s.global_sectors - s.global_sectors_ideal, 0), s.shared_wavefronts, max(s.shared_wavefronts - s.shared_wavefronts_ideal, 0)" +
    " FROM place s LEFT JOIN page_pc_reason r ON r.reason = s.reason" +
    (byLine
      ? " ORDER BY s.source_file, s.source_line"
      : " LEFT JOIN page_sass p ON p.function = ?1 AND p.byte_offset = s.byte_offset ORDER BY s.byte_offset")
  );
}

// Columns of what was counted, the first of them at `first` in `rows`. Those that are 0 everywhere are not shown at first.
function countColumns(rows: Cell[][], first: number): Column[] {
  const columns: Column[] = [
    {name: "instructions_executed", label: "Executed", help: "How often warps executed it, in all launches counted."},
    {name: "threads", label: "Threads", help: "Active, of a warp that executed it, on average."},
    {name: "threads_on", label: "Threads predicated on", help: "Of these, those whose predicate was true."},
    {name: "divergent_branches", label: "Divergent branches", help: "Branches whose threads went different ways."},
    {name: "global_sectors", label: "Global sectors", help: "Of 32 bytes, that it asked global memory for."},
    {name: "excess_sectors", label: "Excess sectors", help: "More than the bytes of its threads need.", bar: true},
    {name: "shared_wavefronts", label: "Shared wavefronts", help: "Passes through shared memory."},
    {name: "excess_wavefronts", label: "Excess wavefronts", help: "More than the bytes of its threads need.", bar: true},
  ];
  return columns.map((column, at) => ({...column, hidden: !rows.some((row) => num(row[first + at]) > 0)}));
}

async function places(context: Context, code: Code, byLine: boolean): Promise<HTMLElement> {
  const {rows} = await context.query(placesSql(byLine), [code.id]);
  const known = (column: number): boolean => rows.some((row) => row[column] !== null);
  const hidden = !known(3); // nothing was sampled
  const table = new Table({
    id: byLine ? "lines" : "instructions",
    caption: byLine ? "Source lines" : "Instructions",
    view: context.facts.views.pc_samples,
    viewName: "pc_samples",
    columns: [
      {
        name: "place",
        label: byLine ? "Source line" : "Instruction",
        help: byLine ? "File and line, from the line information of the kernel." : "Offset from the function's start, in bytes.",
      },
      {name: "line", label: "Source line", help: "Where line information is there.", hidden: byLine},
      {name: "samples", bar: true, hidden},
      {name: "pct", unit: "%", label: "Of these samples", hidden},
      {name: "most_for", label: "Most often", help: "The reason that most of its samples have.", hidden},
      {name: "cycles", hidden},
      {name: "sass", label: "SASS", help: "As nvdisasm prints it.", hidden: !known(6)},
      {name: "loop", label: "Loop", help: "The innermost that it lies in, by its first and last offset.", hidden: !known(7)},
      {name: "loop_pct", unit: "%", label: "Loop, of the kernel's samples", hidden: !known(8)},
      ...countColumns(rows, 9),
    ],
    rows,
  });
  return h(
    "section",
    {"aria-label": byLine ? "Source lines" : "Instructions"},
    h("h2", {}, byLine ? "Source lines" : "Instructions"),
    heat(rows, hidden),
    table.element,
  );
}

// The kernel from its first place to its last, each as warm as its samples; where nothing was sampled, as often as it was executed.
function heat(rows: Cell[][], byCounts: boolean): HTMLElement {
  const at = byCounts ? 9 : 2;
  const largest = rows.reduce((most, row) => Math.max(most, num(row[at])), 0);
  const strip = h("div", {class: "heat", "aria-hidden": "true"});
  for (const row of rows.slice(0, 2000)) {
    const said = byCounts
      ? `executed ${str(row[9])} times`
      : `${str(row[2])} samples` + (row[4] === null ? "" : `, most for ${str(row[4])}`);
    const piece = h("span", {title: `${str(row[0])}: ${said}`});
    piece.style.setProperty("--heat", `${largest > 0 ? Math.round((100 * num(row[at])) / largest) : 0}%`);
    strip.append(piece);
  }
  return strip;
}

export const source: Panel = {
  id: "source",
  title: "Source",
  about: "Instructions and source lines: where warps were found waiting, by PC sampling, and what they did, by counting.",
  async show(place, context) {
    const [first, ...others] = await codesOf(context);
    if (first === undefined) {
      place.append(
        h(
          "p",
          {class: "hint"},
          "Instructions were neither sampled nor counted in this run. Profile with --pc-sampling, or with --section source for counts, and build kernels with line information (nvcc -lineinfo) to see source lines.",
        ),
      );
      return;
    }
    const codes: [Code, ...Code[]] = [first, ...others];
    const code = await wanted(context, codes);
    const select = h(
      "select",
      {id: "source-function", title: code.whole},
      ...codes.map(({id, title, whole}) => h("option", {value: id, title: whole}, title)),
    );
    select.value = String(code.id);
    select.addEventListener("change", () => {
      chosen.keep("source.function", select.value);
      chosen.choose({});
    });
    const lines = await context.query("SELECT EXISTS (SELECT 1 FROM pc_instruction WHERE function = ? AND line > 0)", [code.id]);
    place.append(
      ...notOfRange(context, "PC samples and counts of instructions are of the whole run"),
      h("div", {class: "tools"}, h("label", {}, "Kernel ", select)),
      h("p", {class: "mono"}, code.whole),
      ...(await stallList(context, code)),
      ...(await launchesCounted(context, code)),
    );
    if (num(lines.rows[0]?.[0]) > 0) {
      place.append(await places(context, code, true));
      context.later(async () => place.append(await places(context, code, false))); // below what a screen shows
    } else {
      place.append(
        h("p", {class: "hint"}, "This kernel has no line information: build it with nvcc -lineinfo, or with Triton as it is."),
      );
      place.append(await places(context, code, false));
    }
  },
};
