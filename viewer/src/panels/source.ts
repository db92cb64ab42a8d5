// Source: where warps were found waiting, instruction by instruction or line by line, where PC sampling was on.

import {h} from "../dom";
import {kernelNames} from "../kernel_names";
import {num, str, type Context, type Panel} from "../panel";
import {notOfRange} from "./sums";
import {chosen} from "../state";
import {Table} from "../table";
import type {Cell} from "../types";

// A kernel in one piece of machine code: a program may hold several of the same name.
interface Code {
  id: number; // of pc_function
  kernel: number;
  title: string;
  whole: string;
}

// Those with the most samples first.
async function codesOf(context: Context): Promise<Code[]> {
  const names = await kernelNames(context.query);
  const {rows} = await context.query(
    "SELECT s.function, s.kernel, count(*) OVER (PARTITION BY s.kernel) AS pieces, printf('%016x', f.cubin_crc) AS crc FROM (SELECT function, kernel, sum(samples) AS samples FROM pc_samples GROUP BY 1, 2) s JOIN pc_function f ON f.id = s.function ORDER BY s.samples DESC, s.function",
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

// What is shown at first: what was asked for, the chosen kernel, one of the chosen op, or that with the most samples.
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

async function stallList(context: Context, code: Code): Promise<HTMLElement> {
  const rows = await context.query(
    "SELECT coalesce(r.name, s.reason) AS name, sum(s.samples) AS samples, 100.0 * sum(s.samples) / sum(sum(s.samples)) OVER () AS pct, r.meaning, r.remedy FROM pc_samples s LEFT JOIN page_pc_reason r ON r.reason = s.reason WHERE s.function = ? GROUP BY s.reason ORDER BY 2 DESC",
    [code.id],
  );
  return new Table({
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
  }).element;
}

// SQL: the samples of a function by place, with the reason that most of them have. Each row is looked at once: of those of a place
// SQLite gives the columns of the one with max(), where that is the only min() or max().
function placesSql(byLine: boolean): string {
  const [place, at, line] = byLine
    ? ["source_file, source_line", "coalesce(source_file, '(not known)') || ':' || coalesce(source_line, '?')", "NULL"]
    : ["byte_offset", "printf('0x%04x', byte_offset)", "source_file || ':' || source_line"];
  return (
    `WITH one AS (SELECT function, byte_offset, source_file, source_line, reason, sum(samples) AS samples, sum(cycles) AS cycles FROM pc_samples WHERE function = ? GROUP BY ${place}, reason), ` +
    `place AS (SELECT ${at} AS place, ${line} AS line, sum(samples) AS all_samples, sum(cycles) AS all_cycles, max(samples), reason, function, byte_offset, source_file, source_line FROM one GROUP BY ${place}) ` +
    "SELECT s.place, s.line, s.all_samples AS samples, 100.0 * s.all_samples / sum(s.all_samples) OVER () AS pct, coalesce(r.name, s.reason) AS most_for, s.all_cycles AS cycles, " +
    (byLine ? "NULL, NULL, NULL" : "p.sass, p.loop, p.loop_pct") +
    " FROM place s LEFT JOIN page_pc_reason r ON r.reason = s.reason" +
    (byLine
      ? " ORDER BY s.source_file, s.source_line"
      : " LEFT JOIN page_sass p ON p.function = s.function AND p.byte_offset = s.byte_offset ORDER BY s.byte_offset")
  );
}

async function places(context: Context, code: Code, byLine: boolean): Promise<HTMLElement> {
  const rows = await context.query(placesSql(byLine), [code.id]);
  const largest = Math.max(0, ...rows.rows.map((row) => num(row[2])));
  const known = (column: number): boolean => rows.rows.some((row) => row[column] !== null);
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
      {name: "samples", bar: true},
      {name: "pct", unit: "%", label: "Of these samples"},
      {name: "most_for", label: "Most often", help: "The reason that most of its samples have."},
      {name: "cycles"},
      {name: "sass", label: "SASS", help: "As nvdisasm prints it.", hidden: !known(6)},
      {name: "loop", label: "Loop", help: "The innermost that it lies in, by its first and last offset.", hidden: !known(7)},
      {name: "loop_pct", unit: "%", label: "Loop, of the kernel's samples", hidden: !known(8)},
    ],
    rows: rows.rows,
  });
  return h(
    "section",
    {"aria-label": byLine ? "Source lines" : "Instructions"},
    h("h2", {}, byLine ? "Source lines" : "Instructions"),
    heat(rows.rows, largest),
    table.element,
  );
}

// The kernel from its first place to its last, each as warm as its samples.
function heat(rows: Cell[][], largest: number): HTMLElement {
  const strip = h("div", {class: "heat", "aria-hidden": "true"});
  for (const row of rows.slice(0, 2000)) {
    const piece = h("span", {title: `${str(row[0])}: ${str(row[2])} samples, most for ${str(row[4])}`});
    piece.style.setProperty("--heat", `${largest > 0 ? Math.round((100 * num(row[2])) / largest) : 0}%`);
    strip.append(piece);
  }
  return strip;
}

export const source: Panel = {
  id: "source",
  title: "Source",
  about: "Instructions and source lines at which warps were found waiting, by PC sampling.",
  async show(place, context) {
    const [first, ...others] = await codesOf(context);
    if (first === undefined) {
      place.append(
        h(
          "p",
          {class: "hint"},
          "No PC samples were taken in this run. Profile with --pc-sampling, and build kernels with line information (nvcc -lineinfo) to see source lines.",
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
    const lines = await context.query("SELECT EXISTS (SELECT 1 FROM pc_samples WHERE function = ? AND source_line IS NOT NULL)", [
      code.id,
    ]);
    place.append(
      ...notOfRange(context, "PC samples are of the whole run"),
      h("div", {class: "tools"}, h("label", {}, "Kernel ", select)),
      h("p", {class: "mono"}, code.whole),
      await stallList(context, code),
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
