// Iterations as bars: how long each took, and how much of that the GPU worked. A range is chosen by dragging, or by keys.

import {colour, fit, h, redrawn} from "../dom";
import {number, quantity, scaleFor} from "../format";

export interface Range {
  from: number;
  to: number;
}

export interface IterationBar {
  iteration: number;
  duration: number; // ns
  gpu: number; // ns, sum over kernels
  aggregated: boolean; // part of the figures of the database; else warm-up, or after the loop
  start: number;
}

const HEIGHT = 180;
const LEFT = 64;
const BOTTOM = 20;

class Bars {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", {tabindex: "0", role: "img", id: "iteration-bars"});
  private readonly words = h("p", {class: "hover", role: "status"});
  private from: number | undefined;
  private at = -1;
  private step = 1;

  constructor(
    private readonly bars: IterationBar[],
    private range: Range | undefined,
    private readonly choose: (from: number, to: number) => void,
  ) {
    const legend = h(
      "p",
      {class: "keys"},
      key("c-tc", "aggregated: figures are of these"),
      key("c-other", "warm-up and what follows the loop"),
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

  private draw(): void {
    const {context, width} = fit(this.canvas, HEIGHT);
    // Warm-up may take a hundred times as long as an iteration: it is cut, and its figure says so.
    const usual = Math.max(0, ...this.bars.map((bar) => (bar.aggregated ? bar.duration : 0)));
    const longest = Math.max(1, ...this.bars.map((bar) => bar.duration));
    const most = usual > 0 ? Math.min(longest, 1.25 * usual) : longest;
    const room = HEIGHT - BOTTOM - 8;
    this.step = (width - LEFT) / Math.max(1, this.bars.length);
    const scale = scaleFor("ns", most);
    context.fillStyle = colour("soft");
    context.textBaseline = "middle";
    for (const share of [0, 0.5, 1]) {
      const y = 8 + room * (1 - share);
      context.fillText(`${number(Number(((most * share) / scale.factor).toPrecision(3)))} ${scale.name}`, 0, y);
      context.fillRect(LEFT, y, width - LEFT, 0.5);
    }
    this.bars.forEach((bar, i) => {
      const x = LEFT + i * this.step;
      const wide = Math.max(1, this.step - (this.step > 4 ? 1 : 0));
      const isChosen = this.range !== undefined && bar.iteration >= this.range.from && bar.iteration <= this.range.to;
      if (isChosen) {
        context.fillStyle = colour("c-loader");
        context.fillRect(x, 0, wide, HEIGHT - BOTTOM + 4);
      }
      const height = (room * Math.min(bar.duration, most)) / most;
      context.fillStyle = colour(bar.aggregated ? "c-tc" : "c-other");
      context.fillRect(x + (isChosen ? wide * 0.15 : 0), 8 + room - height, isChosen ? wide * 0.7 : wide, height);
      const busy = (room * Math.min(bar.gpu, bar.duration)) / most;
      context.fillStyle = colour("c-kernel");
      context.fillRect(x + wide * 0.3, 8 + room - busy, Math.max(1, wide * 0.4), busy);
      if (bar.duration > most) {
        context.fillStyle = colour("ink");
        context.fillText("▲", x + wide / 2 - 5, 14);
      }
      if (i === this.at) {
        context.strokeStyle = colour("ink");
        context.strokeRect(x + 0.5, 1, Math.max(1, wide - 1), HEIGHT - BOTTOM);
      }
    });
    context.fillStyle = colour("soft");
    const every = Math.max(1, Math.ceil(48 / this.step));
    this.bars.forEach((bar, i) => i % every === 0 && context.fillText(String(bar.iteration), LEFT + i * this.step, HEIGHT - 8));
  }

  private find(event: MouseEvent): number {
    const x = event.clientX - this.canvas.getBoundingClientRect().left - LEFT;
    return Math.max(0, Math.min(this.bars.length - 1, Math.floor(x / this.step)));
  }

  private say(): void {
    const bar = this.bars[this.at];
    this.words.textContent = bar
      ? `Iteration ${bar.iteration}: ${quantity(bar.duration, "ns")}, GPU time ${quantity(bar.gpu, "ns")}${bar.aggregated ? "" : ", not aggregated"}`
      : "Drag over iterations to choose them. An arrow marks those longer than the picture is high.";
  }

  private move(to: number): void {
    this.at = to;
    if (this.from !== undefined) this.range = this.between(this.from, to);
    this.say();
    this.draw();
  }

  private between(a: number, b: number): Range {
    const [first, last] = [this.bars[Math.min(a, b)], this.bars[Math.max(a, b)]];
    return {from: first?.iteration ?? 0, to: last?.iteration ?? 0};
  }

  private end(to: number): void {
    if (this.from === undefined) return;
    const range = this.between(this.from, to);
    this.from = undefined;
    this.choose(range.from, range.to);
  }

  private onKey(event: KeyboardEvent): void {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step !== 0) {
      const before = Math.max(0, this.at);
      const next = Math.max(0, Math.min(this.bars.length - 1, this.at + step));
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

export function iterationBars(
  bars: IterationBar[],
  range: Range | undefined,
  choose: (from: number, to: number) => void,
): HTMLElement {
  return new Bars(bars, range, choose).element;
}
