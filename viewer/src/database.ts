// Where figures come from: the runs inside the page, or the server that the page comes from.

import type {Arrays, Cell, Database, Facts, Rows} from "./types";

const MOST_ROWS = 200_000;

const text = (id: string): string => document.getElementById(id)?.textContent ?? "";

export function readFacts(): Facts {
  return JSON.parse(text("facts")) as Facts;
}

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

class Embedded implements Database {
  private worker!: Worker;
  private waiting = new Map<number, Waiting>();
  private next = 0;
  private opened!: Promise<unknown>;

  constructor(private readonly runs: number) {
    this.start();
  }

  private start(): void {
    this.worker = new Worker(URL.createObjectURL(new Blob([text("engine")], {type: "text/javascript"})));
    this.worker.onmessage = (event: MessageEvent<{id: number; result?: unknown; error?: string}>) => {
      const one = this.waiting.get(event.data.id);
      this.waiting.delete(event.data.id);
      if (event.data.error === undefined) one?.resolve(event.data.result);
      else one?.reject(new Error(event.data.error));
    };
    this.worker.onerror = (event) => this.fail(new Error(`the database cannot be opened: ${event.message}`));
    const runs = Array.from({length: this.runs}, (_, i) => text(`run-${i}`));
    this.opened = this.ask({what: "open", runs});
    this.opened.catch(() => undefined); // each question says it
  }

  private fail(error: Error): void {
    for (const one of this.waiting.values()) one.reject(error);
    this.waiting.clear();
  }

  private ask(request: Record<string, unknown>): Promise<unknown> {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, {resolve, reject});
      this.worker.postMessage({id, ...request});
    });
  }

  async query(sql: string, parameters: Cell[] = [], run = 0): Promise<Rows> {
    await this.opened;
    return (await this.ask({what: "query", run, sql, parameters, most: MOST_ROWS})) as Rows;
  }

  async arrays(sql: string, run = 0): Promise<Arrays> {
    await this.opened;
    return (await this.ask({what: "arrays", run, sql})) as Arrays;
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

export function openDatabase(facts: Facts): Database {
  return facts.served ? new Served() : new Embedded(facts.runs.length);
}
