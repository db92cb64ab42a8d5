// A heat map: a figure for each row and column. The lighter or darker a cell, the greater its figure: one hue, so that it is told
// apart with any eyes. By keys: arrows move, Enter chooses a row.

import {colour, fit, h, redrawn} from "../dom";
import {quantity} from "../format";

export interface HeatCell {
  row: number; // from 0
  column: number;
  value: number;
  words: string; // where it is: "Rank 3, iteration 7"
  isMarked?: boolean;
}

export interface HeatOptions {
  id: string;
  title: string;
  unit: string;
  rows: string[]; // labels
  columns: string[];
  cells: HeatCell[];
  rowsAre: string; // "ranks"
  columnsAre: string;
  mark?: string; // what a mark says
  choose?(cell: HeatCell): void;
}

const LEFT = 64;
const BOTTOM = 20;
const STEPS = 16;

function mixed(from: string, to: string, share: number): string {
  const parts = (text: string): number[] => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
  const [a, b] = [parts(from), parts(to)];
  return `rgb(${a.map((value, i) => Math.round(value + ((b[i] ?? 0) - value) * share)).join(" ")})`;
}

class Heat {
  readonly element: HTMLElement;
  private readonly canvas: HTMLCanvasElement;
  private readonly words = h("p", {class: "hover", role: "status"});
  private readonly places = new Map<number, HeatCell>();
  private readonly least: number;
  private readonly most: number;
  private at: HeatCell | undefined;
  private wide = 1;
  private high = 1;

  constructor(private readonly options: HeatOptions) {
    for (const cell of options.cells) this.places.set(cell.row * options.columns.length + cell.column, cell);
    // A few cells far below all others do not set the least; those far above are what one looks for.
    const sorted = options.cells.map((cell) => cell.value).sort((a, b) => a - b);
    this.least = sorted[Math.floor((sorted.length - 1) * 0.01)] ?? 0;
    this.most = sorted[sorted.length - 1] ?? 0;
    this.canvas = h("canvas", {tabindex: "0", role: "img", id: options.id});
    this.canvas.setAttribute(
      "aria-label",
      `${options.title}: a picture of ${options.rows.length} ${options.rowsAre} by ${options.columns.length} ${options.columnsAre}; the tables below have its figures. Arrows move from cell to cell${options.choose ? ", Enter chooses a row" : ""}.`,
    );
    this.canvas.addEventListener("mousemove", (event) => this.hover(this.find(event)));
    this.canvas.addEventListener("mouseleave", () => this.hover(undefined));
    this.canvas.addEventListener("click", (event) => this.open(this.find(event)));
    this.canvas.addEventListener("keydown", (event) => this.onKey(event));
    this.element = h("figure", {class: "heatmap", "aria-label": options.title}, this.canvas, this.words, this.legend());
    this.say();
    redrawn(this.element, () => this.draw());
  }

  private legend(): HTMLElement {
    const steps = h("span", {class: "steps", "aria-hidden": "true"});
    const show = (text: number): string => quantity(text, this.options.unit);
    const words = `${show(this.least)} and less to ${show(this.most)}, by the square root`;
    const mark = this.options.mark === undefined ? null : h("span", {}, h("b", {"aria-hidden": "true"}, "● "), this.options.mark);
    return h("p", {class: "keys"}, h("span", {}, steps, words), mark);
  }

  private colourOf(value: number): string {
    const span = this.most - this.least;
    // The square root: one cell far beyond all others leaves their differences to be seen.
    const share = span > 0 ? Math.sqrt(Math.max(0, (value - this.least) / span)) : 0;
    return mixed(colour("heat-least"), colour("heat-most"), Math.round(share * STEPS) / STEPS);
  }

  private draw(): void {
    const rows = Math.max(1, this.options.rows.length);
    const room = Math.max(120, Math.min(420, rows * 18));
    const {context, width} = fit(this.canvas, room + BOTTOM);
    this.wide = (width - LEFT) / Math.max(1, this.options.columns.length);
    this.high = room / rows;
    const gap = this.wide > 6 && this.high > 6 ? 1 : 0;
    for (const cell of this.options.cells) {
      const [x, y] = [LEFT + cell.column * this.wide, cell.row * this.high];
      context.fillStyle = this.colourOf(cell.value);
      context.fillRect(x, y, Math.max(0.6, this.wide - gap), Math.max(0.6, this.high - gap));
      if (cell.isMarked) this.mark(context, x, y);
    }
    this.label(context, room);
    if (!this.at) return;
    context.strokeStyle = colour("focus");
    context.lineWidth = 2;
    context.strokeRect(
      LEFT + this.at.column * this.wide,
      this.at.row * this.high,
      Math.max(3, this.wide),
      Math.max(3, this.high),
    );
  }

  private mark(context: CanvasRenderingContext2D, x: number, y: number): void {
    const size = Math.max(1.5, Math.min(4, Math.min(this.wide, this.high) / 3));
    context.fillStyle = colour("mark");
    context.strokeStyle = colour("ground");
    context.lineWidth = 1;
    context.beginPath();
    context.arc(x + this.wide / 2, y + this.high / 2, size, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
  }

  private label(context: CanvasRenderingContext2D, room: number): void {
    context.fillStyle = colour("soft");
    context.textBaseline = "middle";
    const everyRow = Math.max(1, Math.ceil(14 / this.high));
    this.options.rows.forEach(
      (text, i) => i % everyRow === 0 && context.fillText(text, 0, Math.max(7, (i + 0.5) * this.high), LEFT - 6),
    );
    const everyColumn = Math.max(1, Math.ceil(56 / this.wide));
    this.options.columns.forEach(
      (text, i) =>
        i % everyColumn === 0 && context.fillText(text, LEFT + i * this.wide, room + BOTTOM / 2, everyColumn * this.wide),
    );
  }

  private find(event: MouseEvent): HeatCell | undefined {
    const {left, top} = this.canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - left - LEFT) / this.wide);
    if (column < 0 || column >= this.options.columns.length) return undefined;
    return this.places.get(Math.floor((event.clientY - top) / this.high) * this.options.columns.length + column);
  }

  private say(): void {
    const cell = this.at;
    this.words.textContent = cell
      ? `${cell.words}: ${quantity(cell.value, this.options.unit)}${cell.isMarked ? `, ${this.options.mark ?? ""}` : ""}`
      : "Point at a cell, or move by arrows, for its figure.";
  }

  private hover(cell: HeatCell | undefined): void {
    if (cell === this.at) return;
    this.at = cell;
    this.say();
    this.draw();
  }

  private open(cell: HeatCell | undefined): void {
    if (cell) this.options.choose?.(cell);
  }

  private onKey(event: KeyboardEvent): void {
    const steps: Record<string, [number, number]> = {
      ArrowRight: [0, 1],
      ArrowLeft: [0, -1],
      ArrowDown: [1, 0],
      ArrowUp: [-1, 0],
    };
    const step = steps[event.key];
    if (step) this.hover(this.at ? this.next(this.at, step) : this.options.cells[0]);
    else if (event.key === "Enter" && this.at) this.open(this.at);
    else if (event.key === "Escape" && this.at) this.hover(undefined);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // Over cells that nothing is known of.
  private next(from: HeatCell, [down, right]: [number, number]): HeatCell {
    for (let row = from.row + down, column = from.column + right; ; row += down, column += right) {
      if (row < 0 || column < 0 || row >= this.options.rows.length || column >= this.options.columns.length) return from;
      const found = this.places.get(row * this.options.columns.length + column);
      if (found) return found;
    }
  }
}

export function heat(options: HeatOptions): HTMLElement {
  return new Heat(options).element;
}
