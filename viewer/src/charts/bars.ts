// Iterations as bars: how long each took, and how much of that the GPU worked. A range is chosen by dragging, or by keys.

import {colour, fit, h, redrawn} from "../dom";
import {number, quantity, scaleFor} from "../format";

export interface Range {
  from: number;
  to: number;
  kind?: number | null; // of these: such alone
}

export interface IterationBar {
  iteration: number;
  duration: number; // ns
  gpu: number; // ns, sum over kernels
  aggregated: boolean; // part of the figures of the database; else warm-up, or after the loop
  kind: number; // NaN: of none
}

export interface BarsOptions {
  bars: IterationBar[]; // by number; where they are more than there is room for, those that are seen: fill() brings the others
  count: number; // of all iterations
  kinds: Map<number, string>;
  range: Range | undefined; // that is chosen
  choose: (from: number, to: number, kind: number | undefined) => void; // `kind`: of the first
}

// As many as a run has kinds at most (src/model/fold/iteration_kinds.h).
const KIND_COLOURS = ["c-tc", "c-4", "c-5", "c-6", "c-3", "c-memory", "c-7", "c-8"];
// By number, from 1.
const colourOf = (kind: number): string => KIND_COLOURS[(kind - 1) % KIND_COLOURS.length] ?? "c-none";

const HEIGHT = 180;
const LEFT = 64;
const BOTTOM = 20;

export class IterationBars {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", {tabindex: "0", role: "img", id: "iteration-bars"});
  private readonly words = h("p", {class: "hover", role: "status"});
  private from: number | undefined;
  private at = -1;
  private step = 1;

  private bars: IterationBar[];
  private range: Range | undefined;
  private readonly count: number;

  constructor(private readonly options: BarsOptions) {
    this.bars = options.bars;
    this.count = options.count;
    this.range = options.range;
    const kinds = [...options.kinds].map(([kind, name]) => key(colourOf(kind), name));
    if (kinds.length > 0 && options.bars.some((bar) => bar.aggregated && Number.isNaN(bar.kind)))
      kinds.push(key("c-none", "of no kind"));
    const legend = h(
      "p",
      {class: "keys"},
      ...(kinds.length > 0 ? kinds : [key("c-tc", "aggregated: figures are of these")]),
      key("c-other", kinds.length > 0 ? "not aggregated" : "warm-up and what follows the loop"),
      key("c-kernel", "sum of GPU time"),
      key("c-loader", "chosen"),
    );
    this.element = h("figure", {"aria-label": "Length of iterations"}, this.canvas, this.words, legend);
    this.canvas.setAttribute(
      "aria-label",
      "Length of iterations: a picture; the table below has its figures. Arrows go from one to the next, with Shift they choose a range.",
    );
    this.canvas.addEventListener("mousedown", (event) => (this.from = this.find(event)));
    this.canvas.addEventListener("mousemove", (event) => this.move(this.find(event)));
    this.canvas.addEventListener("mouseup", (event) => this.end(this.find(event)));
    this.canvas.addEventListener("keydown", (event) => this.onKey(event));
    this.say();
    redrawn(this.element, () => this.draw());
  }

  fill(all: IterationBar[]): void {
    this.bars = all;
    this.say();
    this.draw();
  }

  private draw(): void {
    const {context, width} = fit(this.canvas, HEIGHT);
    // Warm-up may take a hundred times as long as an iteration: it is cut, and its figure says so.
    const usual = Math.max(0, ...this.bars.map((bar) => (bar.aggregated ? bar.duration : 0)));
    const longest = Math.max(1, ...this.bars.map((bar) => bar.duration));
    const most = usual > 0 ? Math.min(longest, 1.25 * usual) : longest;
    const room = HEIGHT - BOTTOM - 8;
    this.step = (width - LEFT) / Math.max(1, this.count);
    const scale = scaleFor("ns", most);
    context.fillStyle = colour("soft");
    context.textBaseline = "middle";
    for (const share of [0, 0.5, 1]) {
      const y = 8 + room * (1 - share);
      context.fillText(`${number(Number(((most * share) / scale.factor).toPrecision(3)))} ${scale.name}`, 0, y);
      context.fillRect(LEFT, y, width - LEFT, 0.5);
    }
    this.drawn().forEach((bar) => {
      const x = LEFT + bar.iteration * this.step;
      const wide = Math.max(1, this.step - (this.step > 4 ? 1 : 0));
      const isChosen = this.isIn(bar);
      if (isChosen) {
        context.fillStyle = colour("c-loader");
        context.fillRect(x, 0, wide, HEIGHT - BOTTOM + 4);
      }
      const height = (room * Math.min(bar.duration, most)) / most;
      context.fillStyle = colour(this.colourOf(bar));
      context.fillRect(x + (isChosen ? wide * 0.15 : 0), 8 + room - height, isChosen ? wide * 0.7 : wide, height);
      const busy = (room * Math.min(bar.gpu, bar.duration)) / most;
      context.fillStyle = colour("c-kernel");
      context.fillRect(x + wide * 0.3, 8 + room - busy, Math.max(1, wide * 0.4), busy);
      if (bar.duration > most) {
        context.fillStyle = colour("ink");
        context.fillText("▲", x + wide / 2 - 5, 14);
      }
      if (bar.iteration === this.at) {
        context.strokeStyle = colour("ink");
        context.strokeRect(x + 0.5, 1, Math.max(1, wide - 1), HEIGHT - BOTTOM);
      }
    });
    context.fillStyle = colour("soft");
    const every = Math.max(1, Math.ceil(48 / this.step));
    for (let i = 0; i < this.count; i += every) context.fillText(String(i), LEFT + i * this.step, HEIGHT - 8);
  }

  private colourOf({aggregated, kind}: IterationBar): string {
    if (!aggregated) return "c-other";
    return this.options.kinds.size === 0 ? "c-tc" : colourOf(kind);
  }

  private isIn({iteration, kind}: IterationBar): boolean {
    const {range} = this;
    if (range === undefined || iteration < range.from || iteration > range.to) return false;
    return range.kind === undefined || range.kind === null || kind === range.kind;
  }

  // Of those that share a pixel the longest: thousands of bars take longer to draw than to look at.
  private drawn(): IterationBar[] {
    if (this.step >= 1) return this.bars;
    const longest = new Map<number, IterationBar>(); // by pixel
    for (const bar of this.bars) {
      const x = Math.floor(bar.iteration * this.step);
      const other = longest.get(x);
      if (!other || bar.iteration === this.at || (other.iteration !== this.at && other.duration < bar.duration))
        longest.set(x, bar);
    }
    return [...longest.values()];
  }

  private find(event: MouseEvent): number {
    const x = event.clientX - this.canvas.getBoundingClientRect().left - LEFT;
    return Math.max(0, Math.min(this.count - 1, Math.floor(x / this.step)));
  }

  private barOf(iteration: number): IterationBar | undefined {
    return this.bars.length === this.count ? this.bars[iteration] : this.bars.find((one) => one.iteration === iteration);
  }

  private say(): void {
    const bar = this.barOf(this.at);
    this.words.textContent = bar
      ? `Iteration ${bar.iteration}: ${quantity(bar.duration, "ns")}, GPU time ${quantity(bar.gpu, "ns")}${this.wordsOf(bar)}`
      : "Drag over iterations to choose them. An arrow marks those longer than the picture is high.";
  }

  private wordsOf({aggregated, kind}: IterationBar): string {
    const name = this.options.kinds.get(kind);
    return `${name === undefined ? "" : `, ${name}`}${aggregated ? "" : ", not aggregated"}`;
  }

  private move(to: number): void {
    this.at = to;
    if (this.from !== undefined) this.range = this.between(this.from, to);
    this.say();
    this.draw();
  }

  private between(a: number, b: number): Range {
    return {from: Math.min(a, b), to: Math.max(a, b), kind: this.range?.kind};
  }

  private end(to: number): void {
    if (this.from === undefined) return;
    const range = this.between(this.from, to);
    this.from = undefined;
    this.options.choose(range.from, range.to, this.barOf(range.from)?.kind);
  }

  private onKey(event: KeyboardEvent): void {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step !== 0) {
      const before = Math.max(0, this.at);
      const next = Math.max(0, Math.min(this.count - 1, this.at + step));
      if (event.shiftKey) this.from ??= before;
      else this.from = undefined;
      this.move(next);
    } else if (event.key === "Enter" && this.at >= 0) {
      this.from ??= this.at;
      this.end(this.at);
    } else {
      return;
    }
    event.preventDefault();
  }
}

function key(name: string, words: string): HTMLElement {
  const mark = h("span", {class: "mark"});
  mark.style.background = `var(--${name})`;
  return h("span", {}, mark, words);
}
