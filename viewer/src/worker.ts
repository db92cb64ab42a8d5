// The database, on a thread of its own: unpacks the runs and answers questions with sql.js, whose script stands before this one.

import type {Arrays, Cell, Rows} from "./types";

interface SqlStatement {
  bind(values: Cell[]): boolean;
  step(): boolean;
  get(): (Cell | Uint8Array)[];
  getColumnNames(): string[];
  free(): void;
}
interface SqlDatabase {
  filename: string;
  run(sql: string): void;
  prepare(sql: string): SqlStatement;
}
declare function initSqlJs(options: {
  useOldExtensionFunctions: boolean;
}): Promise<{Database: new (bytes: Uint8Array) => SqlDatabase}>;
declare function postMessage(message: unknown, transfer?: Transferable[]): void;

type Request = {id: number; isUrgent: boolean} & (
  | {what: "open"; runs: string[]}
  | {what: "query"; run: number; sql: string; parameters: Cell[]; most: number}
  | {what: "arrays"; run: number; sql: string}
);

// What is not urgent is answered in pieces of so many ms; between them an urgent question is answered.
const PIECE_MS = 8;
const ROWS_BETWEEN_LOOKS = 64; // at the clock

class Pieces {
  private rows = 0;
  private since = performance.now();

  constructor(private readonly isUrgent: boolean) {}

  isOver(): boolean {
    return !this.isUrgent && ++this.rows % ROWS_BETWEEN_LOOKS === 0 && performance.now() - this.since > PIECE_MS;
  }

  // Until what has arrived meanwhile is answered.
  async pause(): Promise<void> {
    await new Promise((resolve) => {
      const channel = new MessageChannel();
      channel.port1.onmessage = resolve;
      channel.port2.postMessage(0);
    });
    this.since = performance.now();
  }
}

let databases: SqlDatabase[] = [];

async function unpack(text: string): Promise<Uint8Array> {
  const packed = atob(text);
  const bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; ++i) bytes[i] = packed.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function open(runs: string[]): Promise<void> {
  const [engine, ...images] = await Promise.all([initSqlJs({useOldExtensionFunctions: false}), ...runs.map(unpack)]);
  databases = images.map((image) => new engine.Database(image));
  databases.slice(1).forEach((other, i) => databases[0]?.run(`ATTACH '/${other.filename}' AS run${i + 1}`));
}

function database(run: number): SqlDatabase {
  const found = databases[run];
  if (!found) throw new Error("there is no such run");
  return found;
}

async function query(run: number, sql: string, parameters: Cell[], most: number, pieces: Pieces): Promise<Rows> {
  const statement = database(run).prepare(sql);
  try {
    statement.bind(parameters);
    const rows: Cell[][] = [];
    let cut = false;
    while (statement.step()) {
      if ((cut = rows.length === most)) break;
      rows.push(statement.get().map((cell) => (cell instanceof Uint8Array ? `(${cell.length} bytes)` : cell)));
      if (pieces.isOver()) await pieces.pause();
    }
    return {columns: statement.getColumnNames(), rows, cut};
  } finally {
    statement.free();
  }
}

async function arrays(run: number, sql: string, pieces: Pieces): Promise<Arrays> {
  const statement = database(run).prepare(sql);
  try {
    const width = statement.getColumnNames().length;
    let room = 4096;
    let columns = Array.from({length: width}, () => new Float64Array(room));
    let length = 0;
    for (; statement.step(); ++length) {
      if (length === room) {
        room *= 2;
        columns = columns.map((old) => {
          const grown = new Float64Array(room);
          grown.set(old);
          return grown;
        });
      }
      statement.get().forEach((cell, i) => {
        const column = columns[i];
        if (column) column[length] = typeof cell === "number" ? cell : NaN;
      });
      if (pieces.isOver()) await pieces.pause();
    }
    return {length, columns: columns.map((column) => column.slice(0, length))};
  } finally {
    statement.free();
  }
}

async function answer(request: Request): Promise<unknown> {
  const pieces = new Pieces(request.isUrgent);
  switch (request.what) {
    case "open":
      return open(request.runs);
    case "query":
      return query(request.run, request.sql, request.parameters, request.most, pieces);
    case "arrays":
      return arrays(request.run, request.sql, pieces);
  }
}

// The page asks one urgent question at a time, and one other.
onmessage = async (event: MessageEvent<Request>) => {
  const request = event.data;
  const {id} = request;
  try {
    const result = await answer(request);
    const transfer = request.what === "arrays" ? (result as Arrays).columns.map((column) => column.buffer) : [];
    postMessage({id, result}, transfer as Transferable[]);
  } catch (error) {
    postMessage({id, error: error instanceof Error ? error.message : String(error)});
  }
};
