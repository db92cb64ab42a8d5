// What every panel is given, and what it gives.

import type {State} from "./state";
import type {Cell, Database, Facts, Rows} from "./types";

export interface Context {
  facts: Facts;
  state: State;
  keys: KeyNode[];
  range: Range;
  // To the run that is shown.
  query(sql: string, parameters?: Cell[], isUrgent?: boolean): Promise<Rows>;
  database: Database;
  // What is filled in after the panel is shown.
  later(work: () => Promise<void>): void;
}

export interface Panel {
  id: string;
  title: string;
  about: string; // a sentence under the heading
  // What is only marked when it is chosen: the panel stays as it is, and listens by whenChosen().
  marks?: (keyof State)[];
  // Fills `place`, which is empty. Called again when what is chosen changes.
  show(place: HTMLElement, context: Context): Promise<void>;
}

// A row as an object, by the names of its columns.
export type Named = Record<string, Cell>;
export function named(rows: Rows): Named[] {
  return rows.rows.map((row) => Object.fromEntries(rows.columns.map((column, i) => [column, row[i] ?? null])));
}

export const num = (cell: Cell | undefined): number => (typeof cell === "number" ? cell : NaN);
export const str = (cell: Cell | undefined): string => (cell === null || cell === undefined ? "" : String(cell));

// A key node that the page can part iterations by: the first is that of the database.
export interface KeyNode {
  key: number;
  name: string;
  source: string;
  found: number; // how often
  first: number; // the iterations that figures are of unless others are chosen
  last: number;
  kind: number | null; // of these: such alone
  kinds: Map<number, string>; // that its iterations are of, by number; none: all do the same work
  grain: number; // ranges begin and end at multiples of it
}

export async function keyNodesOf(query: Context["query"]): Promise<KeyNode[]> {
  const rows = named(await query("SELECT * FROM page_key ORDER BY key"));
  const kinds = named(await query("SELECT * FROM page_iteration_kind ORDER BY key, kind"));
  return rows.map((row) => ({
    key: num(row.key),
    name: str(row.key_node),
    source: str(row.source),
    found: num(row.found),
    first: num(row.first),
    last: num(row.last),
    kind: row.kind === null ? null : num(row.kind),
    kinds: new Map(kinds.filter((kind) => kind.key === row.key).map((kind) => [num(kind.kind), str(kind.name)])),
    grain: num(row.grain),
  }));
}

// The iterations that figures are of.
export interface Range {
  key: number;
  from: number;
  to: number;
  kind: number | null; // of these: such alone
  kinds: Map<number, string>; // that there are, by number
  all: number; // so many iterations there are, from 0
  isUsual: boolean; // those that figures are of unless others are chosen, or those of a kind among them
  isOwn: boolean; // those of the database, whose views have all figures
  blocks: number[]; // the rows of page_block that they are made of
}

export async function rangeOf(state: State, keys: KeyNode[], iterations: number, query: Context["query"]): Promise<Range> {
  const node = keys.find((one) => one.key === (state.key ?? 0)) ?? keys[0];
  if (!node) throw new Error("the page holds no iterations");
  const isAsked = state.from !== undefined || state.to !== undefined;
  const from = snapped(isAsked ? (state.from ?? 0) : node.first, node.grain, 0);
  const to = snapped(isAsked ? (state.to ?? from) : node.last, node.grain, node.grain - 1);
  const last = Math.max(0, iterations - 1);
  const kind = state.kind === undefined ? node.kind : node.kinds.has(state.kind) ? state.kind : null;
  const range = {key: node.key, kind, kinds: node.kinds, from: Math.min(from, last), to: Math.min(to, last), all: iterations};
  const isUsual = !isAsked || (range.from === node.first && range.to === node.last);
  if (isUsual) [range.from, range.to] = [node.first, node.last];
  const inside = (name: string): string => `${name}first >= ${range.from} AND ${name}last <= ${range.to}`;
  // Those aggregated are a block of their own. A single iteration is one of all kinds, too.
  const blocks = isUsual
    ? `level < 0 AND kind IS ${kind}`
    : `level >= 0 AND ${inside("")} AND NOT (${inside("parent_")}) AND ${kind === null ? "(kind IS NULL OR level = 0)" : `kind = ${kind}`}`;
  const {rows} = await query(`SELECT id FROM page_block WHERE key = ${node.key} AND ${blocks}`);
  return {...range, isUsual, isOwn: isUsual && node.key === 0 && kind === node.kind, blocks: rows.map(([id]) => num(id))};
}

// To where a block of so many iterations begins, or ends.
const snapped = (iteration: number, grain: number, offset: number): number => Math.floor(iteration / grain) * grain + offset;

// The choice of a kind, null for all: none where it is the usual one.
export function choiceOfKind({keys, range}: Context, kind: number | null): number | undefined {
  const usual = keys.find((one) => one.key === range.key)?.kind ?? null;
  return kind === usual ? undefined : (kind ?? 0);
}

export const isOf = (range: Range, iteration: number): boolean => iteration >= range.from && iteration <= range.to;

// SQL: rows of page_iteration.
export const iterationsOf = ({key, from, to, kind}: Range): string =>
  `key = ${key} AND iteration BETWEEN ${from} AND ${to}${kind === null ? "" : ` AND kind = ${kind}`}`;
