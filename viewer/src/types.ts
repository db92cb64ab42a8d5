// What the parts of the page hand to one another.

export type Cell = number | string | null;

export interface Rows {
  columns: string[];
  rows: Cell[][];
  cut?: boolean; // there were more than the most that a question is answered with
}

// Times and the like, a typed array a column: for pictures of many events.
export interface Arrays {
  length: number;
  columns: Float64Array[];
}

export interface RunFacts {
  label: string;
  kept: number[]; // iterations whose events are inside; none: all of them
  opsWithCounters?: number; // so many ops, by GPU time, have their counters inside; none: all of them
  launches: boolean; // counters launch by launch are inside
}

export interface ViewFacts {
  meaning: string;
  columns: [name: string, unit: string, meaning: string][];
}

export interface Facts {
  version: string;
  served: boolean;
  runs: RunFacts[];
  views: Record<string, ViewFacts>;
  job?: {notices: string[]}; // the page is of a job: what was left out of it, in sentences
}

export interface Database {
  // The first run is `main`, the others are attached to it as run1, run2, ... A question to another run sees that run alone.
  // What is not urgent waits for what is.
  query(sql: string, parameters?: Cell[], run?: number, isUrgent?: boolean): Promise<Rows>;
  // All columns must be numbers; NULL becomes NaN.
  arrays(sql: string, run?: number, isUrgent?: boolean): Promise<Arrays>;
  // Ends whatever is being answered.
  stop(): void;
}
