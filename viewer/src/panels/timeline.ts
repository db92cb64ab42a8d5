// The timeline: what GPUs and threads did when.

import {announce, fit, h, redrawn} from "../dom";
import {number, quantity} from "../format";
import {isOf, type Context, type Panel} from "../panel";
import {chosen} from "../state";
import {
  KINDS,
  loadEvents,
  loadFineBusy,
  loadStrings,
  numberOfOp,
  opOf,
  loadTimeline,
  MOST_EVENTS,
  type Lane,
  type Row,
  type TimelineData,
} from "../timeline/data";
import {AXIS, firstAfter, heightOf, LABELS, paint, places, ROW, type Marks, type View} from "../timeline/draw";

interface Found {
  lane: Lane;
  row: Row;
  event: number;
}

class TimelineView {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", {tabindex: "0", role: "img", id: "timeline"});
  private readonly words = h(
    "p",
    {class: "hover", role: "status"},
    "Drag to pan, Ctrl and the wheel to zoom. Keys: arrows pan and zoom, 0 shows all, n and p go to the next and the last match.",
  );
  private readonly search = h("input", {
    type: "search",
    id: "timeline-search",
    placeholder: "Search: a regular expression",
    "aria-label": "Search events by regular expression",
    spellcheck: "false",
  });
  private readonly count = h("span", {class: "count"});
  private view: View;
  private loaded: View | undefined; // whose events are in the lanes
  private loading = false;
  private wanted: {kernel?: number; op?: number} = {};
  private matching: Record<Lane["names"], Set<number>> | undefined;
  private matches: Found[] = [];
  private match = -1;
  private drag: {x: number; view: View} | undefined;
  private frame = 0;

  constructor(
    private readonly context: Context,
    private readonly data: TimelineData,
  ) {
    const {state} = context;
    this.view = this.startView();
    this.wanted.kernel = state.kernel;
    this.search.value = chosen.state.more["timeline.search"] ?? "";
    this.element = h(
      "div",
      {},
      this.tools(),
      h("figure", {class: "timeline", "aria-label": "Timeline"}, this.canvas),
      this.words,
    );
    this.canvas.setAttribute(
      "aria-label",
      "Timeline of streams and threads: a picture. Its figures are in the panels Ops and Kernels. Arrow keys pan and zoom.",
    );
    this.listen();
    redrawn(this.element, () => this.draw());
  }

  async markOp(): Promise<void> {
    const {op} = this.context.state;
    if (op === undefined) return;
    this.wanted.op = await numberOfOp(this.context, op);
    if (this.wanted.op !== undefined && this.isShown()) this.draw();
  }

  isShown(): boolean {
    return this.element.isConnected;
  }

  private startView(): View {
    const asked = /^(\d+)-(\d+)$/.exec(chosen.state.more["timeline.view"] ?? "");
    if (asked) return {from: Number(asked[1]), to: Math.max(Number(asked[1]) + 10, Number(asked[2]))};
    const range = this.iterationsChosen();
    if (range) return {from: range.start, to: Math.max(range.start + 10, range.end)};
    return {from: 0, to: this.data.span};
  }

  private iterationsChosen(): {start: number; end: number} | undefined {
    if (this.context.state.from === undefined) return undefined;
    const inside = this.data.iterations.filter((one) => isOf(this.context.range, one.iteration));
    if (inside.length === 0) return undefined;
    return {start: Math.min(...inside.map((one) => one.start)), end: Math.max(...inside.map((one) => one.end))};
  }

  private tools(): HTMLElement {
    const button = (id: string, words: string, act: () => void): HTMLElement =>
      h("button", {type: "button", id, onclick: act}, words);
    // A list of ten thousand would take longer to make than the picture.
    const last = this.data.iterations[this.data.iterations.length - 1]?.iteration ?? 0;
    const jump = h("input", {type: "number", id: "timeline-iteration", min: 0, max: last, placeholder: "number"});
    jump.addEventListener("change", () => {
      const one = this.data.iterations.find((found) => String(found.iteration) === jump.value);
      if (!one) return;
      this.go(one.start, one.end);
      this.words.textContent = `Iteration ${one.iteration}${this.isKept(one) ? "" : ": its single events are not in the page"}`;
    });
    return h(
      "div",
      {class: "tools"},
      button("zoom-in", "Zoom in", () => this.zoom(0.5)),
      button("zoom-out", "Zoom out", () => this.zoom(2)),
      button("zoom-all", "All", () => this.go(0, this.data.span)),
      h("label", {}, "Show iteration ", jump),
      this.search,
      this.count,
    );
  }

  private isKept(one: {start: number; end: number}): boolean {
    return this.data.kept.length === 0 || this.data.kept.some((kept) => kept.start === one.start && kept.end === one.end);
  }

  private listen(): void {
    const {canvas} = this;
    canvas.addEventListener("wheel", (event) => this.onWheel(event), {passive: false});
    canvas.addEventListener("mousedown", (event) => (this.drag = {x: event.clientX, view: this.view}));
    canvas.addEventListener("mousemove", (event) => this.onMove(event));
    canvas.addEventListener("mouseleave", () => (this.drag = undefined));
    canvas.addEventListener("mouseup", (event) => this.onUp(event));
    canvas.addEventListener("dblclick", (event) => this.zoom(0.25, this.timeAt(event)));
    canvas.addEventListener("keydown", (event) => this.onKey(event));
    this.search.addEventListener("input", () => {
      chosen.keep("timeline.search", this.search.value);
      this.lookFor();
    });
    this.search.addEventListener("keydown", (event) => event.key === "Enter" && this.step(event.shiftKey ? -1 : 1));
  }

  private timeAt(event: MouseEvent): number {
    const x = event.clientX - this.canvas.getBoundingClientRect().left - LABELS;
    const room = this.canvas.clientWidth - LABELS;
    return this.view.from + (Math.max(0, x) / room) * (this.view.to - this.view.from);
  }

  private go(from: number, to: number): void {
    const width = Math.min(this.data.span * 1.02, Math.max(50, to - from));
    const start = Math.max(-0.01 * this.data.span, Math.min(from, this.data.span * 1.01 - width));
    this.view = {from: start, to: start + width};
    chosen.keep("timeline.view", `${Math.max(0, Math.floor(this.view.from))}-${Math.ceil(this.view.to)}`);
    this.redraw();
    void this.load();
  }

  private zoom(by: number, around = (this.view.from + this.view.to) / 2): void {
    this.go(around - (around - this.view.from) * by, around + (this.view.to - around) * by);
  }

  private pan(share: number): void {
    const by = share * (this.view.to - this.view.from);
    this.go(this.view.from + by, this.view.to + by);
  }

  private onWheel(event: WheelEvent): void {
    if (event.ctrlKey || event.metaKey) this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.timeAt(event));
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.pan((event.deltaX || event.deltaY) / 1000);
    else return;
    event.preventDefault();
  }

  private onMove(event: MouseEvent): void {
    if (this.drag && event.buttons === 1) {
      const room = this.canvas.clientWidth - LABELS;
      const by = ((this.drag.x - event.clientX) / room) * (this.drag.view.to - this.drag.view.from);
      this.go(this.drag.view.from + by, this.drag.view.to + by);
      return;
    }
    const found = this.find(event);
    if (found) this.say(found);
  }

  private onUp(event: MouseEvent): void {
    const moved = this.drag !== undefined && Math.abs(this.drag.x - event.clientX) > 3;
    this.drag = undefined;
    if (moved) return;
    const found = this.find(event);
    if (found) void this.chooseOp(found);
  }

  private async chooseOp({row, event}: Found): Promise<void> {
    const op = await opOf(this.context, row.op[event] ?? -1);
    if (op && this.isShown())
      chosen.choose({op: op.id === this.context.state.op ? undefined : op.id, kernel: undefined, config: undefined});
  }

  private onKey(event: KeyboardEvent): void {
    const acts: Record<string, () => void> = {
      ArrowLeft: () => this.pan(-0.2),
      ArrowRight: () => this.pan(0.2),
      ArrowUp: () => this.zoom(0.5),
      ArrowDown: () => this.zoom(2),
      "+": () => this.zoom(0.5),
      "-": () => this.zoom(2),
      "0": () => this.go(0, this.data.span),
      n: () => this.step(1),
      p: () => this.step(-1),
    };
    const act = acts[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    act();
    event.preventDefault();
    event.stopPropagation();
  }

  private find(event: MouseEvent): Found | undefined {
    const y = event.clientY - this.canvas.getBoundingClientRect().top;
    const time = this.timeAt(event);
    const place = places(this.data).find((one) => y >= one.top && y < one.top + one.height);
    const row = place?.lane.rows[Math.floor((y - place.top - 2) / ROW)];
    if (!place || !row || y < AXIS) return undefined;
    const near = (2 * (this.view.to - this.view.from)) / this.canvas.clientWidth; // two pixels
    const index = firstAfter(row, time - near);
    return index < row.length && (row.start[index] ?? 0) <= time + near ? {lane: place.lane, row, event: index} : undefined;
  }

  private nameOf({lane, row, event}: Found): string {
    const kind = KINDS[row.kind[event] ?? 0] ?? "kernel";
    return kind === "gap" ? "GPU idle" : (this.data.names[lane.names].get(row.name[event] ?? -1) ?? kind);
  }

  private say(found: Found): void {
    const {row, event, lane} = found;
    const [start, end] = [row.start[event] ?? 0, row.end[event] ?? 0];
    const words = `${this.nameOf(found)}: ${quantity(end - start, "ns")} from ${quantity(start, "ns")}; ${lane.title}`;
    this.words.textContent = words;
    this.words.title = lane.names === "kernel" ? (this.data.kernels.get(row.name[event] ?? -1)?.whole ?? "") : "";
    void opOf(this.context, row.op[event] ?? -1).then((op) => {
      if (op && this.words.textContent === words) this.words.textContent = `${words}; op ${op.name}`;
    });
  }

  // Names that match, then every event that has one of them.
  private lookFor(): void {
    this.matches = [];
    this.match = -1;
    this.matching = undefined;
    this.count.textContent = "";
    if (this.search.value !== "") this.collect();
    this.redraw();
  }

  private collect(): void {
    let pattern: RegExp;
    try {
      pattern = new RegExp(this.search.value, "i");
    } catch {
      this.count.textContent = "not a regular expression";
      return;
    }
    const of = (names: Map<number, string>): Set<number> =>
      new Set([...names].filter(([, name]) => pattern.test(name)).map(([id]) => id));
    const wholes = [...this.data.kernels].filter(([, {whole}]) => pattern.test(whole)).map(([id]) => id);
    const matching = {
      kernel: new Set([...of(this.data.names.kernel), ...wholes]),
      string: of(this.data.names.string),
      iteration: of(this.data.names.iteration),
    };
    this.matching = matching;
    for (const lane of this.data.lanes) {
      for (const row of lane.rows)
        for (let i = 0; i < row.length; ++i)
          if (matching[lane.names].has(row.name[i] ?? -1)) this.matches.push({lane, row, event: i});
    }
    this.matches.sort((a, b) => (a.row.start[a.event] ?? 0) - (b.row.start[b.event] ?? 0));
    this.count.textContent = `${number(this.matches.length)} events${this.isWhole() ? "" : " of those loaded"}`;
  }

  private step(by: number): void {
    if (this.matches.length === 0) return;
    const visible = this.matches.findIndex((one) => (one.row.end[one.event] ?? 0) >= this.view.from);
    this.match = this.match < 0 ? Math.max(0, visible) : (this.match + by + this.matches.length) % this.matches.length;
    const found = this.matches[this.match];
    if (!found) return;
    const [start, end] = [found.row.start[found.event] ?? 0, found.row.end[found.event] ?? 0];
    const room = Math.max(20 * (end - start), Math.min(this.view.to - this.view.from, 200 * (end - start)), 1000);
    this.go((start + end) / 2 - room / 2, (start + end) / 2 + room / 2);
    this.say(found);
    announce(this.words.textContent ?? "");
  }

  private isWhole(): boolean {
    return this.loaded !== undefined && this.loaded.from <= 0 && this.loaded.to >= this.data.span;
  }

  // All events where they are few enough; else those around the window.
  async load(): Promise<void> {
    const whole = this.data.events <= MOST_EVENTS;
    if (this.loading || (this.loaded && (whole || (this.loaded.from <= this.view.from && this.loaded.to >= this.view.to))))
      return;
    const width = this.view.to - this.view.from;
    const expected = whole ? 0 : this.eventsIn(this.view.from - width, this.view.to + width);
    if (!whole && expected > MOST_EVENTS) return;
    this.loading = true;
    const asked = whole ? {from: -1, to: this.data.span + 1} : {from: this.view.from - width, to: this.view.to + width};
    const isThere = await loadEvents(this.context, this.data, asked.from, asked.to, () => this.isShown());
    this.loading = false;
    if (!isThere) return;
    this.loaded = asked;
    if (this.search.value !== "") this.lookFor();
    this.draw();
    this.canvas.dataset.loaded = "yes";
    if (!whole) void this.load(); // the window may have moved on
  }

  private eventsIn(from: number, to: number): number {
    let sum = 0;
    for (const busy of this.data.busy.values()) {
      const finest = busy.levels[1] ? 1 : 0;
      const level = busy.levels[finest];
      const width = busy.bin[finest] ?? 1;
      if (level)
        for (let i = 0; i < level.at.length; ++i)
          if ((level.at[i] ?? 0) * width < to && ((level.at[i] ?? 0) + 1) * width > from) sum += level.events[i] ?? 0;
    }
    return sum;
  }

  private isExact(from: number, to: number): boolean {
    if (!this.loaded || this.loaded.from > Math.max(0, from) || this.loaded.to < Math.min(this.data.span, to)) return false;
    return this.data.kept.length === 0 || this.data.kept.some((kept) => kept.start <= from && kept.end >= to);
  }

  private redraw(): void {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.draw());
  }

  draw(): void {
    const {wanted, matching} = this;
    const marks: Marks = {
      active: matching !== undefined || wanted.op !== undefined || wanted.kernel !== undefined,
      matches: (lane, row, event) => {
        if (matching) return matching[lane.names].has(row.name[event] ?? -1);
        if (lane.names !== "kernel" || row.op[event] === -1) return false;
        return (
          (wanted.op === undefined || row.op[event] === wanted.op) &&
          (wanted.kernel === undefined || row.name[event] === wanted.kernel)
        );
      },
      range: this.iterationsChosen(),
      exact: (from, to) => this.isExact(from, to),
    };
    paint(fit(this.canvas, heightOf(this.data)), this.data, this.view, marks);
  }
}

// What comes once the picture is there, as long as somebody looks at it.
async function fill(context: Context, data: TimelineData, view: TimelineView): Promise<void> {
  await loadFineBusy(context, data);
  if (view.isShown()) await loadStrings(context, data);
  if (view.isShown()) await view.load();
  if (view.isShown()) await view.markOp();
}

export const timeline: Panel = {
  id: "timeline",
  title: "Timeline",
  about: "What GPUs and threads did when. Where single events are too many to draw, a lane shows how busy it was.",
  async show(place, context) {
    const data = await loadTimeline(context);
    const kept = context.facts.runs[context.state.run]?.kept ?? [];
    if (kept.length > 0)
      place.append(
        h(
          "p",
          {class: "hint"},
          `Single events are inside for iterations ${kept.join(", ")}: the first, the median and the slowest.`,
        ),
      );
    const view = new TimelineView(context, data);
    place.append(view.element);
    place.addEventListener("dlkprof:placed", () =>
      fill(context, data, view).catch((error: unknown) =>
        place.append(h("p", {class: "wrong", role: "alert"}, `Events cannot be shown: ${String(error)}`)),
      ),
    );
  },
};
