// What the timeline shows: lanes of events, and how busy each was over time, for where single events are too many or not in the page.
// Times are nanoseconds since the first event of the run.

import {kernelNames, type KernelName} from "../kernel_names";
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
  kernels: Map<number, KernelName>;
  iterations: {iteration: number; start: number; end: number}[];
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

// Of ops there may be tens of thousands: one is asked for when it is pointed at.
export async function opOf(context: Context, op: number): Promise<{id: string; name: string} | undefined> {
  if (op < 0) return undefined;
  const sql = `SELECT op_id, name || ' ' || direction FROM op WHERE aggregation = ${NEWEST} AND id = ?`;
  const [row] = (await context.query(sql, [op])).rows;
  return row && {id: str(row[0]), name: str(row[1])};
}

// Its number in table op.
export async function numberOfOp(context: Context, id: string): Promise<number | undefined> {
  const sql = `SELECT id FROM op WHERE aggregation = ${NEWEST} AND op_id = ?`;
  const [row] = (await context.query(sql, [id], false)).rows;
  return row && num(row[0]);
}

// Names of ranges and calls, which come with their events.
export async function loadStrings(context: Context, data: TimelineData): Promise<void> {
  const sql = "SELECT id, value FROM string WHERE id IN (SELECT message FROM range UNION SELECT name FROM call)";
  data.names.string = await dictionary(context, sql, false);
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
    const {length, columns} = await context.database.arrays(
      `SELECT iteration, start_ns - ${SINCE}, start_ns + duration_ns - 1 - ${SINCE} FROM page_iteration WHERE key = ${key} ORDER BY 1`,
      context.state.run,
    );
    const cell = (column: number, i: number): number => columns[column]?.[i] ?? NaN;
    return Array.from({length}, (_, i) => ({iteration: cell(0, i), start: cell(1, i), end: cell(2, i)}));
  };
  const own = await timesOf(0); // whose events are kept
  const iterations = context.range.key === 0 ? own : await timesOf(context.range.key);
  const keptNames = context.facts.runs[context.state.run]?.kept ?? [];
  const filling = new Filling();
  filling.addIterations(iterations);
  const lanes = await lanesOf(context);
  const busy = new Map<number, Busy>();
  await loadBusy(context, 0, busy);
  const row = filling.row("iterations");
  if (lanes[0] && row) lanes[0].rows = [row];
  const events = num(
    (await context.query("SELECT (SELECT count(*) FROM activity) + (SELECT count(*) FROM range) + (SELECT count(*) FROM call)"))
      .rows[0]?.[0],
  );
  const kernels = await kernelNames(context.query);
  return {
    span,
    lanes,
    busy,
    kernels,
    names: {
      kernel: new Map([...kernels].map(([id, {telling}]) => [id, telling])),
      string: new Map(), // loadStrings()
      iteration: new Map(iterations.map((one) => [one.iteration, `Iteration ${one.iteration}`])),
    },
    iterations,
    kept: own.filter((one) => keptNames.includes(one.iteration)).map(({start, end}) => ({start, end})),
    events,
  };
}

// A row that grows while events come.
class Growing implements Row {
  start = new Float64Array(64);
  end = new Float64Array(64);
  name = new Int32Array(64);
  op = new Int32Array(64);
  kind = new Uint8Array(64);
  length = 0;

  add(start: number, end: number, name: number, op: number, kind: number): void {
    const at = this.length++;
    if (at === this.start.length) this.grow();
    this.start[at] = start;
    this.end[at] = end;
    this.name[at] = name;
    this.op[at] = op;
    this.kind[at] = kind;
  }

  private grow(): void {
    const more = <T extends Float64Array | Int32Array | Uint8Array>(old: T, grown: T): T => (grown.set(old), grown);
    const room = 2 * this.start.length;
    this.start = more(this.start, new Float64Array(room));
    this.end = more(this.end, new Float64Array(room));
    this.name = more(this.name, new Int32Array(room));
    this.op = more(this.op, new Int32Array(room));
    this.kind = more(this.kind, new Uint8Array(room));
  }
}

class Filling {
  private readonly rows = new Map<string, Growing>();

  of(key: string): Growing {
    let one = this.rows.get(key);
    if (!one) this.rows.set(key, (one = new Growing()));
    return one;
  }

  addIterations(iterations: TimelineData["iterations"]): void {
    const row = this.of("iterations");
    for (const one of iterations) row.add(one.start, one.end, one.iteration, -1, KINDS.indexOf("iteration"));
  }

  row(key: string): Row | undefined {
    return this.rows.get(key);
  }
}

const NONE = new Float64Array();
const columnsOf =
  ({columns}: Arrays): ((column: number) => Float64Array) =>
  (column) =>
    columns[column] ?? NONE;

function addActivities(filling: Filling, found: Arrays): void {
  const column = columnsOf(found);
  const [start, end, kernel, kind] = [column(0), column(1), column(2), column(3)];
  const [device, stream, op] = [column(4), column(5), column(6)];
  const kinds = (["kernel", "copy", "set"] as const).map((name) => KINDS.indexOf(name));
  let row: Growing | undefined;
  for (let i = 0; i < found.length; ++i) {
    if (!row || device[i] !== device[i - 1] || stream[i] !== stream[i - 1]) row = filling.of(`stream ${device[i]} ${stream[i]}`);
    const of = op[i] ?? NaN;
    row.add(start[i] ?? 0, end[i] ?? 0, kernel[i] ?? 0, Number.isNaN(of) ? -1 : of, kinds[kind[i] ?? 0] ?? 1);
  }
}

function addGaps(filling: Filling, found: Arrays): void {
  const column = columnsOf(found);
  const [start, end, device] = [column(0), column(1), column(2)];
  let row: Growing | undefined;
  for (let i = 0; i < found.length; ++i) {
    if (!row || device[i] !== device[i - 1]) row = filling.of(`gaps ${device[i]}`);
    row.add(start[i] ?? 0, end[i] ?? 0, -1, -1, KINDS.indexOf("gap"));
  }
}

// The depth of each range, by its parents.
function addRanges(filling: Filling, found: Arrays): void {
  const column = columnsOf(found);
  const [id, start, end, parent, thread, message] = [column(0), column(1), column(2), column(3), column(4), column(5)];
  const depths = new Map<number, number>();
  const threads = new Map<number, Growing[]>();
  for (let i = 0; i < found.length; ++i) {
    const depth = (depths.get(parent[i] ?? NaN) ?? -1) + 1;
    depths.set(id[i] ?? 0, depth);
    if (depth >= DEEPEST) continue;
    let rows = threads.get(thread[i] ?? NaN);
    if (!rows) threads.set(thread[i] ?? NaN, (rows = []));
    const row = (rows[depth] ??= filling.of(`range ${thread[i]} ${depth}`));
    row.add(start[i] ?? 0, end[i] ?? 0, message[i] ?? 0, -1, KINDS.indexOf("range"));
  }
}

function addCalls(filling: Filling, found: Arrays): void {
  const column = columnsOf(found);
  const [start, end, thread, name] = [column(0), column(1), column(2), column(3)];
  let row: Growing | undefined;
  for (let i = 0; i < found.length; ++i) {
    if (!row || thread[i] !== thread[i - 1]) row = filling.of(`call ${thread[i]}`);
    row.add(start[i] ?? 0, end[i] ?? 0, name[i] ?? 0, -1, KINDS.indexOf("call"));
  }
}

// Puts the events between two times into the lanes, unless they are no longer wanted meanwhile. Gives whether it did.
export async function loadEvents(
  context: Context,
  data: TimelineData,
  from: number,
  to: number,
  isWanted: () => boolean,
): Promise<boolean> {
  const window = (start: string, end: string): string =>
    `${start} < ${SINCE} + ${Math.ceil(to)} AND ${end} > ${SINCE} + ${Math.floor(from)}`;
  const steps: [string, (filling: Filling, found: Arrays) => void][] = [
    [
      `SELECT a.start_ns - ${SINCE}, a.end_ns - ${SINCE}, a.kernel, k.kind, a.device, a.stream, p.op FROM activity a JOIN kernel k ON k.id = a.kernel LEFT JOIN placement p ON p.aggregation = ${NEWEST} AND p.activity = a.id WHERE ${window("a.start_ns", "a.end_ns")} ORDER BY a.id`,
      addActivities,
    ],
    [
      `SELECT g.start_ns - ${SINCE}, g.start_ns + g.gap_ns - ${SINCE}, g.device FROM gaps g WHERE ${window("g.start_ns", "g.start_ns + g.gap_ns")} ORDER BY 1`,
      addGaps,
    ],
    [
      `SELECT r.id, r.start_ns - ${SINCE}, r.end_ns - ${SINCE}, r.parent, r.thread, r.message FROM range r WHERE ${window("r.start_ns", "r.end_ns")} ORDER BY r.id`,
      addRanges,
    ],
    [
      `SELECT c.start_ns - ${SINCE}, c.end_ns - ${SINCE}, c.thread, c.name FROM call c WHERE ${window("c.start_ns", "c.end_ns")} ORDER BY c.id`,
      addCalls,
    ],
  ];
  const filling = new Filling();
  filling.addIterations(data.iterations);
  for (const [sql, add] of steps) {
    const found = await context.database.arrays(sql, context.state.run, false);
    if (!isWanted()) return false;
    add(filling, found);
  }
  data.lanes.forEach((lane, at) => {
    const key = laneKeys[at] ?? "";
    const rows = key.startsWith("range ")
      ? Array.from({length: DEEPEST}, (_, depth) => filling.row(`${key} ${depth}`))
      : [filling.row(key)];
    lane.rows = rows.filter((row): row is Row => row !== undefined);
  });
  return true;
}
