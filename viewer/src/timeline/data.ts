// What the timeline shows: lanes of events, and how busy each was over time, for where single events are too many or not in the page.
// Times are nanoseconds since the first event of the run.

import {num, str, type Context} from "../panel";
import type {Arrays} from "../types";

export type Kind = "iteration" | "kernel" | "copy" | "set" | "gap" | "range" | "call";

// Events of one row, by start; none lies over another.
export interface Row {
  start: Float64Array;
  end: Float64Array;
  name: Int32Array; // into the names of the lane's kind
  op: Int32Array; // table op, or -1
  kind: Uint8Array; // into KINDS
  length: number;
}

export const KINDS: Kind[] = ["iteration", "kernel", "copy", "set", "gap", "range", "call"];

export interface Busy {
  bin: Float64Array; // width, by level
  levels: {at: Float64Array; busy: Float64Array; events: Float64Array}[];
}

export interface Lane {
  title: string;
  rows: Row[];
  busy: number[]; // lanes of page_lane that it is made of
  names: "kernel" | "string" | "iteration";
}

export interface TimelineData {
  span: number;
  lanes: Lane[];
  busy: Map<number, Busy>;
  names: Record<Lane["names"], Map<number, string>>;
  opIds: Map<number, string>; // loadOps()
  opNames: Map<number, string>;
  iterations: {iteration: number; start: number; end: number; aggregated: boolean}[];
  kept: {start: number; end: number}[]; // where events are; empty: everywhere
  events: number; // in the run
}

// So many events are loaded at once; of a longer run those of the window that is looked at.
export const MOST_EVENTS = 400_000;
const DEEPEST = 12;
const SINCE = "(SELECT first_ns FROM about)";
const NEWEST = "(SELECT max(id) FROM aggregation)";

async function dictionary(context: Context, sql: string, isUrgent = true): Promise<Map<number, string>> {
  return new Map((await context.query(sql, [], isUrgent)).rows.map((row) => [num(row[0]), str(row[1])]));
}

// One level: of a screen's width at first, finer ones once that is shown.
async function loadBusy(context: Context, level: number, into: Map<number, Busy>): Promise<void> {
  const {length, columns} = await context.database.arrays(
    `SELECT lane, bin, bin_ns, busy_ns, events FROM page_busy WHERE level = ${level} ORDER BY lane, bin`,
    context.state.run,
    level === 0,
  );
  const [lane, at, width, busy, events] = columns;
  if (!lane || !at || !width || !busy || !events) return;
  for (let i = 0; i < length; ) {
    let end = i;
    while (end < length && lane[end] === lane[i]) ++end;
    const key = lane[i] ?? 0;
    const one = into.get(key) ?? {bin: new Float64Array(2), levels: []};
    one.bin[level] = width[i] ?? 1;
    one.levels[level] = {at: at.subarray(i, end), busy: busy.subarray(i, end), events: events.subarray(i, end)};
    into.set(key, one);
    i = end;
  }
}

// Of ops there may be tens of thousands, and the picture needs none of their names.
export async function loadOps(context: Context, data: TimelineData): Promise<void> {
  [data.opIds, data.opNames] = await Promise.all([
    dictionary(context, `SELECT id, op_id FROM op WHERE aggregation = ${NEWEST}`, false),
    dictionary(context, `SELECT id, name || ' ' || direction FROM op WHERE aggregation = ${NEWEST}`, false),
  ]);
}

export const loadFineBusy = (context: Context, data: TimelineData): Promise<void> => loadBusy(context, 1, data.busy);

async function lanesOf(context: Context): Promise<Lane[]> {
  const rows = (
    await context.query(
      "SELECT l.id, l.what, l.device, l.stream, l.thread, t.tid, p.pid, (SELECT count(*) FROM process), d.name FROM page_lane l LEFT JOIN thread t ON t.id = l.thread LEFT JOIN process p ON p.id = t.process LEFT JOIN device d ON d.id = l.device ORDER BY l.device IS NULL, l.device, l.stream, l.thread, l.what DESC",
    )
  ).rows;
  const lanes = new Map<string, Lane>();
  lanes.set("iterations", {title: "Iterations", rows: [], busy: [], names: "iteration"}); // filled by loadTimeline()
  for (const [id, what, device, stream, thread, tid, pid, processes] of rows) {
    const onGpu = device !== null;
    const process = num(processes) > 1 ? `process ${str(pid)} ` : "";
    const key = onGpu ? `stream ${str(device)} ${str(stream)}` : `${str(what)} ${str(thread)}`;
    const title = onGpu
      ? `GPU ${str(device)}, stream ${str(stream)}`
      : `${process}thread ${str(tid)}: ${what === "range" ? "ranges" : "CUDA calls"}`;
    if (onGpu && !lanes.has(`gaps ${str(device)}`))
      lanes.set(`gaps ${str(device)}`, {title: `GPU ${str(device)}, gaps`, rows: [], busy: [], names: "kernel"});
    const lane = lanes.get(key) ?? {title, rows: [], busy: [], names: onGpu ? "kernel" : "string"};
    lane.busy.push(num(id));
    lanes.set(key, lane);
  }
  laneKeys = [...lanes.keys()];
  return [...lanes.values()];
}
// By place: "stream 0 7", "range 3", ...
let laneKeys: string[] = [];

export async function loadTimeline(context: Context): Promise<TimelineData> {
  const span = num((await context.query("SELECT max(1, last_ns - first_ns) FROM about")).rows[0]?.[0]);
  const timesOf = async (key: number): Promise<TimelineData["iterations"]> => {
    const rows = await context.query(
      `SELECT iteration, start_ns - ${SINCE}, start_ns + duration_ns - 1 - ${SINCE}, aggregated FROM page_iteration WHERE key = ${key} ORDER BY 1`,
    );
    return rows.rows.map((row) => ({iteration: num(row[0]), start: num(row[1]), end: num(row[2]), aggregated: row[3] === 1}));
  };
  const own = await timesOf(0); // whose events are kept
  const iterations = context.range.key === 0 ? own : await timesOf(context.range.key);
  const keptNames = context.facts.runs[context.state.run]?.kept ?? [];
  const filling = new Filling();
  for (const one of iterations) filling.add("iterations", one.start, one.end, one.iteration, -1, "iteration");
  const lanes = await lanesOf(context);
  const busy = new Map<number, Busy>();
  await loadBusy(context, 0, busy);
  const row = filling.row("iterations");
  if (lanes[0] && row) lanes[0].rows = [row];
  const events = num(
    (await context.query("SELECT (SELECT count(*) FROM activity) + (SELECT count(*) FROM range) + (SELECT count(*) FROM call)"))
      .rows[0]?.[0],
  );
  return {
    span,
    lanes,
    busy,
    names: {
      kernel: await dictionary(context, "SELECT id, name FROM kernel"),
      string: await dictionary(
        context,
        "SELECT id, value FROM string WHERE id IN (SELECT message FROM range UNION SELECT name FROM call)",
      ),
      iteration: new Map(iterations.map((one) => [one.iteration, `Iteration ${one.iteration}`])),
    },
    opIds: new Map(),
    opNames: new Map(),
    iterations,
    kept: own.filter((one) => keptNames.includes(one.iteration)).map(({start, end}) => ({start, end})),
    events,
  };
}

class Filling {
  private rows = new Map<string, {start: number[]; end: number[]; name: number[]; op: number[]; kind: number[]}>();

  add(row: string, start: number, end: number, name: number, op: number, kind: Kind): void {
    let one = this.rows.get(row);
    if (!one) this.rows.set(row, (one = {start: [], end: [], name: [], op: [], kind: []}));
    one.start.push(start);
    one.end.push(end);
    one.name.push(name);
    one.op.push(op);
    one.kind.push(KINDS.indexOf(kind));
  }

  row(key: string): Row | undefined {
    const one = this.rows.get(key);
    return (
      one && {
        start: Float64Array.from(one.start),
        end: Float64Array.from(one.end),
        name: Int32Array.from(one.name),
        op: Int32Array.from(one.op),
        kind: Uint8Array.from(one.kind),
        length: one.start.length,
      }
    );
  }
}

// The depth of each range, by its parents.
function addRanges(filling: Filling, {length, columns}: Arrays): void {
  const [id, start, end, parent, thread, message] = columns as [
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  const depths = new Map<number, number>();
  for (let i = 0; i < length; ++i) {
    const depth = (depths.get(parent[i] ?? NaN) ?? -1) + 1;
    depths.set(id[i] ?? 0, depth);
    if (depth < DEEPEST) filling.add(`range ${thread[i]} ${depth}`, start[i] ?? 0, end[i] ?? 0, message[i] ?? 0, -1, "range");
  }
}

// Puts the events between two times into the lanes.
export async function loadEvents(context: Context, data: TimelineData, from: number, to: number): Promise<void> {
  const {run} = context.state;
  const window = (name: string): string =>
    `${name}.start_ns < ${SINCE} + ${Math.ceil(to)} AND ${name}.end_ns > ${SINCE} + ${Math.floor(from)}`;
  const ask = (sql: string): Promise<Arrays> => context.database.arrays(sql, run, false);
  const [activities, gaps, ranges, calls] = await Promise.all([
    ask(
      `SELECT a.start_ns - ${SINCE}, a.end_ns - ${SINCE}, a.kernel, k.kind, a.device, a.stream, p.op FROM activity a JOIN kernel k ON k.id = a.kernel LEFT JOIN placement p ON p.aggregation = ${NEWEST} AND p.activity = a.id WHERE ${window("a")} ORDER BY a.id`,
    ),
    ask(
      `SELECT g.start_ns - ${SINCE}, g.start_ns + g.gap_ns - ${SINCE}, g.device, g.called_late FROM gaps g WHERE g.start_ns < ${SINCE} + ${Math.ceil(to)} AND g.start_ns + g.gap_ns > ${SINCE} + ${Math.floor(from)} ORDER BY 1`,
    ),
    ask(
      `SELECT r.id, r.start_ns - ${SINCE}, r.end_ns - ${SINCE}, r.parent, r.thread, r.message FROM range r WHERE ${window("r")} ORDER BY r.id`,
    ),
    ask(`SELECT c.start_ns - ${SINCE}, c.end_ns - ${SINCE}, c.thread, c.name FROM call c WHERE ${window("c")} ORDER BY c.id`),
  ]);
  const filling = new Filling();
  for (const one of data.iterations) filling.add("iterations", one.start, one.end, one.iteration, -1, "iteration");
  const kinds: Kind[] = ["kernel", "copy", "set"];
  for (let i = 0; i < activities.length; ++i) {
    const [start, end, kernel, kind, device, stream, op] = activities.columns.map((column) => column[i] ?? NaN) as [
      number,
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    filling.add(`stream ${device} ${stream}`, start, end, kernel, Number.isNaN(op) ? -1 : op, kinds[kind] ?? "kernel");
  }
  for (let i = 0; i < gaps.length; ++i) {
    const [start, end, device] = gaps.columns.map((column) => column[i] ?? NaN) as [number, number, number];
    filling.add(`gaps ${device}`, start, end, -1, -1, "gap");
  }
  addRanges(filling, ranges);
  for (let i = 0; i < calls.length; ++i) {
    const [start, end, thread, name] = calls.columns.map((column) => column[i] ?? NaN) as [number, number, number, number];
    filling.add(`call ${thread}`, start, end, name, -1, "call");
  }
  data.lanes.forEach((lane, at) => {
    const key = laneKeys[at] ?? "";
    const rows = key.startsWith("range ")
      ? Array.from({length: DEEPEST}, (_, depth) => filling.row(`${key} ${depth}`))
      : [filling.row(key)];
    lane.rows = rows.filter((row): row is Row => row !== undefined);
  });
}
