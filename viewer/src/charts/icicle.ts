// What lies inside what, and how much time each takes: a box is as wide as its share. By keys: arrows move, Enter zooms, Escape goes back.

import {colour, fit, h, redrawn, whenChosen} from "../dom";

export interface Tree {
  name: string;
  value: number; // ns: how wide it is
  children: Map<string, Tree>;
  op?: string; // op_id, where the box is one op
}

export interface IcicleOptions {
  title: string;
  isChosen(op: string): boolean;
  choose(op: string): void;
  // Of a box, by the names from the root's children to its own: what the database says of it.
  figure(path: string[]): Promise<string>;
}

interface Box {
  tree: Tree;
  path: string[];
  x: number;
  width: number;
  depth: number;
}

const ROW = 22;
const MOST_ROWS = 14;
const COLOURS = ["c-1", "c-2", "c-3", "c-4", "c-5", "c-6"];

// The same name has the same colour everywhere.
function colourOf(name: string): string {
  let hash = 0;
  for (let i = 0; i < name.length; ++i) hash = (hash * 31 + name.charCodeAt(i)) >>> 0;
  return colour(COLOURS[hash % COLOURS.length] ?? "c-1");
}

function depthOf(tree: Tree): number {
  let deepest = 0;
  for (const child of tree.children.values()) deepest = Math.max(deepest, depthOf(child));
  return deepest + 1;
}

class Icicle {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", {tabindex: "0", role: "img"});
  private readonly words = h("p", {class: "hover", role: "status"});
  private boxes: Box[] = [];
  private top: Tree[]; // from the root to what fills the width
  private at: Box | undefined;

  constructor(
    root: Tree,
    private readonly options: IcicleOptions,
  ) {
    this.top = [root];
    this.element = h("figure", {class: "icicle", "aria-label": options.title}, this.canvas, this.words);
    this.canvas.setAttribute(
      "aria-label",
      `${options.title}: a picture; the table below has its figures. Arrows move, Enter zooms in or chooses an op, Escape zooms out.`,
    );
    this.canvas.addEventListener("mousemove", (event) => this.hover(this.find(event)));
    this.canvas.addEventListener("mouseleave", () => this.hover(undefined));
    this.canvas.addEventListener("click", (event) => this.open(this.find(event)));
    this.canvas.addEventListener("keydown", (event) => this.onKey(event));
    this.say(undefined);
    redrawn(this.element, () => this.draw());
    whenChosen(this.element, () => this.draw());
  }

  private layOut(width: number): void {
    this.boxes = [];
    const root = this.top[this.top.length - 1] as Tree;
    const place = (tree: Tree, path: string[], x: number, room: number, depth: number): void => {
      if (room < 0.5 || depth >= MOST_ROWS) return;
      this.boxes.push({tree, path, x, width: room, depth});
      let left = x;
      for (const child of [...tree.children.values()].sort((a, b) => b.value - a.value)) {
        const share = tree.value > 0 ? (room * child.value) / tree.value : 0;
        place(child, [...path, child.name], left, share, depth + 1);
        left += share;
      }
    };
    place(
      root,
      this.top.map((tree) => tree.name),
      0,
      width,
      0,
    );
  }

  private draw(): void {
    const root = this.top[this.top.length - 1] as Tree;
    const {context, width} = fit(this.canvas, Math.min(MOST_ROWS, depthOf(root)) * ROW);
    this.layOut(width);
    const [ground, edge] = [colour("ground"), colour("ink")];
    context.textBaseline = "middle";
    for (const box of this.boxes) {
      const y = box.depth * ROW;
      const isChosen = box.tree.op !== undefined && this.options.isChosen(box.tree.op);
      context.fillStyle = box.depth === 0 ? colour("quiet") : colourOf(box.tree.name.replace(/\d+/g, ""));
      context.fillRect(box.x, y, Math.max(0.5, box.width - 0.5), ROW - 1);
      if (isChosen || box.tree === this.at?.tree) {
        context.strokeStyle = edge;
        context.lineWidth = isChosen ? 3 : 2;
        context.strokeRect(box.x + 1, y + 1, Math.max(1, box.width - 3), ROW - 3);
      }
      if (box.width < 30) continue;
      context.save();
      context.beginPath();
      context.rect(box.x + 3, y, box.width - 6, ROW);
      context.clip();
      context.fillStyle = box.depth === 0 ? edge : colour("on-colour");
      context.fillText(box.tree.name, box.x + 4, y + ROW / 2);
      context.restore();
    }
    if (this.boxes.length === 0) {
      context.fillStyle = ground;
      context.fillRect(0, 0, width, ROW);
    }
  }

  private find(event: MouseEvent): Box | undefined {
    const {left, top} = this.canvas.getBoundingClientRect();
    const [x, depth] = [event.clientX - left, Math.floor((event.clientY - top) / ROW)];
    return this.boxes.find((box) => box.depth === depth && x >= box.x && x < box.x + box.width);
  }

  private say(box: Box | undefined): void {
    if (!box) {
      this.words.textContent =
        this.top.length > 1
          ? "Escape, or a click on the topmost box, goes back."
          : "A box is as wide as its share of GPU time. A click zooms in.";
      return;
    }
    const path = box.path.slice(1);
    const name = path.join("/") || box.tree.name;
    this.words.textContent = name;
    void this.options.figure(path).then((figure) => {
      if (this.at?.tree === box.tree) this.words.textContent = `${name}: ${figure}`;
    });
  }

  private hover(box: Box | undefined): void {
    if (box?.tree === this.at?.tree) return;
    this.at = box;
    this.say(box);
    this.draw();
  }

  private open(box: Box | undefined): void {
    if (!box) return;
    if (box.depth === 0) this.back();
    else if (box.tree.children.size === 0 && box.tree.op !== undefined) this.options.choose(box.tree.op);
    else this.zoom(box);
  }

  private zoom(box: Box): void {
    let tree = this.top[this.top.length - 1] as Tree;
    for (const name of box.path.slice(this.top.length)) {
      const child = tree.children.get(name);
      if (!child) return;
      this.top.push((tree = child));
    }
    this.at = undefined;
    this.draw();
    this.say(undefined);
  }

  private back(): void {
    if (this.top.length > 1) this.top.pop();
    this.draw();
    this.say(undefined);
  }

  private onKey(event: KeyboardEvent): void {
    const index = this.boxes.findIndex((box) => box.tree === this.at?.tree);
    const here = this.boxes[Math.max(0, index)];
    if (!here) return;
    const row = this.boxes.filter((box) => box.depth === here.depth);
    const beside = (step: number): Box | undefined => row[row.indexOf(here) + step];
    const middle = here.x + here.width / 2;
    const over = (depth: number): Box | undefined =>
      this.boxes.find((box) => box.depth === depth && middle >= box.x && middle < box.x + box.width) ??
      this.boxes.find((box) => box.depth === depth);
    const next: Record<string, () => Box | undefined> = {
      ArrowRight: () => beside(1),
      ArrowLeft: () => beside(-1),
      ArrowDown: () => over(here.depth + 1),
      ArrowUp: () => over(here.depth - 1),
    };
    const go = next[event.key];
    if (go) this.hover(index < 0 ? here : (go() ?? here));
    else if (event.key === "Enter") this.open(this.at ?? here);
    else if (event.key === "Escape" && this.top.length > 1) this.back();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

export function icicle(root: Tree, options: IcicleOptions): HTMLElement {
  return new Icicle(root, options).element;
}
