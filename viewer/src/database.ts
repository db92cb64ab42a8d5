// Where figures come from: the runs inside the page, or the server that the page comes from.

import type {Arrays, Cell, Database, Facts, Rows} from "./types";

const MOST_ROWS = 200_000;

const text = (id: string): string => document.getElementById(id)?.textContent ?? "";

export function readFacts(): Facts {
  return JSON.parse(text("facts")) as Facts;
}

interface Waiting {
  request: Record<string, unknown>;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

// One urgent question is asked at a time, and one other: what somebody waits for goes before what is filled in later, and the worker
// interrupts the latter for it.
class Embedded implements Database {
  private worker!: Worker;
  private urgent: Waiting[] = [];
  private others: Waiting[] = [];
  private asked = new Map<number, Waiting>(); // that the worker is at: by 1 where urgent, else 0
  private broken: Error | undefined; // it cannot be opened

  constructor(private readonly runs: number) {
    this.start();
  }

  private start(): void {
    this.worker = new Worker(URL.createObjectURL(new Blob([text("engine")], {type: "text/javascript"})));
    this.worker.onmessage = (event: MessageEvent<{id: number; result?: unknown; error?: string}>) => {
      const one = this.asked.get(event.data.id);
      this.asked.delete(event.data.id);
      if (event.data.error === undefined) one?.resolve(event.data.result);
      else one?.reject(new Error(event.data.error));
      this.next();
    };
    this.worker.onerror = (event) => this.fail(new Error(`the database cannot be opened: ${event.message}`));
    const runs = Array.from({length: this.runs}, (_, i) => text(`run-${i}`));
    const {worker} = this;
    this.ask({what: "open", runs}, true).catch((error: unknown) => {
      if (worker !== this.worker) return; // stopped while it was opening: another one is
      this.broken = error as Error;
      this.fail(this.broken);
    });
  }

  private next(): void {
    if (this.asked.has(1)) return;
    const id = this.urgent.length > 0 ? 1 : 0;
    const one = id === 1 ? this.urgent.shift() : this.asked.has(0) ? undefined : this.others.shift();
    if (!one) return;
    this.asked.set(id, one);
    this.worker.postMessage({...one.request, id, isUrgent: id === 1});
  }

  private fail(error: Error): void {
    for (const one of [...this.asked.values(), ...this.urgent, ...this.others]) one.reject(error);
    this.asked.clear();
    this.urgent = [];
    this.others = [];
  }

  private ask(request: Record<string, unknown>, isUrgent: boolean): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.broken) return reject(this.broken);
      (isUrgent ? this.urgent : this.others).push({request, resolve, reject});
      this.next();
    });
  }

  async query(sql: string, parameters: Cell[] = [], run = 0, isUrgent = true): Promise<Rows> {
    return (await this.ask({what: "query", run, sql, parameters, most: MOST_ROWS}, isUrgent)) as Rows;
  }

  async arrays(sql: string, run = 0, isUrgent = true): Promise<Arrays> {
    return (await this.ask({what: "arrays", run, sql}, isUrgent)) as Arrays;
  }

  stop(): void {
    this.worker.terminate();
    this.fail(new Error("stopped"));
    this.start();
  }
}

class Served implements Database {
  private running = new AbortController();

  async query(sql: string, parameters: Cell[] = [], run = 0): Promise<Rows> {
    const answer = await fetch("sql", {
      method: "POST",
      headers: {"Content-Type": "application/json"},
      body: JSON.stringify({run, sql, parameters}),
      signal: this.running.signal,
    });
    const body = (await answer.json()) as Rows & {error?: string};
    if (!answer.ok) throw new Error(body.error ?? answer.statusText);
    return body;
  }

  async arrays(sql: string, run = 0): Promise<Arrays> {
    const {columns, rows} = await this.query(sql, [], run);
    const filled = columns.map((_, i) =>
      Float64Array.from(rows, (row) => (typeof row[i] === "number" ? (row[i] as number) : NaN)),
    );
    return {length: rows.length, columns: filled};
  }

  stop(): void {
    this.running.abort();
    this.running = new AbortController();
  }
}

const MOST_REMEMBERED = 2_000_000; // cells

// Runs never change: what was asked before is answered from memory, as far as there is room.
class Remembering implements Database {
  private answers = new Map<string, {answer: Promise<unknown>; cells: number}>();
  private cells = 0;

  constructor(private readonly asked: Database) {}

  private remember<T>(key: string, ask: () => Promise<T>, size: (answer: T) => number): Promise<T> {
    const known = this.answers.get(key);
    if (known) return known.answer as Promise<T>;
    const answer = ask();
    const one = {answer, cells: 0};
    this.answers.set(key, one);
    answer.then(
      (found) => {
        one.cells = size(found);
        this.cells += one.cells;
        this.forget();
      },
      () => this.answers.delete(key),
    );
    return answer;
  }

  query(sql: string, parameters: Cell[] = [], run = 0, isUrgent = true): Promise<Rows> {
    const key = JSON.stringify(["rows", run, sql, parameters]);
    const ask = (): Promise<Rows> => this.asked.query(sql, parameters, run, isUrgent);
    return this.remember(key, ask, ({rows, columns}) => (rows.length + 1) * columns.length);
  }

  // Those that come later are of single events, which are too many.
  arrays(sql: string, run = 0, isUrgent = true): Promise<Arrays> {
    const ask = (): Promise<Arrays> => this.asked.arrays(sql, run, isUrgent);
    if (!isUrgent) return ask();
    return this.remember(JSON.stringify(["arrays", run, sql]), ask, ({length, columns}) => (length + 1) * columns.length);
  }

  // The oldest first.
  private forget(): void {
    for (const [key, {cells}] of this.answers) {
      if (this.cells <= MOST_REMEMBERED) return;
      this.cells -= cells;
      this.answers.delete(key);
    }
  }

  stop(): void {
    this.asked.stop();
  }
}

export function openDatabase(facts: Facts): Database {
  return new Remembering(facts.served ? new Served() : new Embedded(facts.runs.length));
}
