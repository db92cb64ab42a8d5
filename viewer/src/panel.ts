// What every panel is given, and what it gives.

import type {State} from "./state";
import type {Cell, Database, Facts, Rows} from "./types";

export interface Context {
  facts: Facts;
  state: State;
  // To the run that is shown.
  query(sql: string, parameters?: Cell[]): Promise<Rows>;
  database: Database;
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

export interface Range {
  from: number;
  to: number;
}

// The iterations that somebody chose, if they chose any.
export function rangeOf(state: State): Range | undefined {
  if (state.from === undefined && state.to === undefined) return undefined;
  const from = state.from ?? 0;
  return {from, to: state.to ?? from};
}
