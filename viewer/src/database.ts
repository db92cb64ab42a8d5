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

// SQLite answers one question at a time: what somebody waits for goes before what is filled in later.
class Embedded implements Database {
  private worker!: Worker;
  private urgent: Waiting[] = [];
  private others: Waiting[] = [];
  private asked: Waiting | undefined; // that the worker is at
  private broken: Error | undefined; // it cannot be opened

  constructor(private readonly runs: number) {
    this.start();
  }

  private start(): void {
    this.worker = new Worker(URL.createObjectURL(new Blob([text("engine")], {type: "text/javascript"})));
    this.worker.onmessage = (event: MessageEvent<{result?: unknown; error?: string}>) => {
      const one = this.asked;
      this.asked = undefined;
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
    if (this.asked) return;
    this.asked = this.urgent.shift() ?? this.others.shift();
    if (this.asked) this.worker.postMessage(this.asked.request);
  }

  private fail(error: Error): void {
    for (const one of [this.asked, ...this.urgent, ...this.others]) one?.reject(error);
    this.asked = undefined;
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
  private answers = new Map<string, {rows: Promise<Rows>; cells: number}>();
  private cells = 0;

  constructor(private readonly asked: Database) {}

  query(sql: string, parameters: Cell[] = [], run = 0, isUrgent = true): Promise<Rows> {
    const key = JSON.stringify([run, sql, parameters]);
    const known = this.answers.get(key);
    if (known) return known.rows;
    const rows = this.asked.query(sql, parameters, run, isUrgent);
    const answer = {rows, cells: 0};
    this.answers.set(key, answer);
    rows.then(
      (found) => {
        answer.cells = (found.rows.length + 1) * found.columns.length;
        this.cells += answer.cells;
        this.forget();
      },
      () => this.answers.delete(key),
    );
    return rows;
  }

  // The oldest first.
  private forget(): void {
    for (const [key, {cells}] of this.answers) {
      if (this.cells <= MOST_REMEMBERED) return;
      this.cells -= cells;
      this.answers.delete(key);
    }
  }

  arrays(sql: string, run = 0, isUrgent = true): Promise<Arrays> {
    return this.asked.arrays(sql, run, isUrgent);
  }

  stop(): void {
    this.asked.stop();
  }
}

export function openDatabase(facts: Facts): Database {
  return new Remembering(facts.served ? new Served() : new Embedded(facts.runs.length));
}
