// Draws lanes of events on a canvas. What is narrower than a pixel is drawn as one with what follows it.

import {colour, type Surface} from "../dom";
import {scaleFor} from "../format";
import {KINDS, type Busy, type Lane, type Row, type TimelineData} from "./data";

export const LABELS = 170; // width of the names of lanes
export const ROW = 16;
export const AXIS = 22;
const BUSY_ROW = 26;

export interface View {
  from: number;
  to: number;
}

export interface Marks {
  matches(lane: Lane, row: Row, event: number): boolean; // a search, or what is chosen
  active: boolean; // whether anything is looked for
  range?: {start: number; end: number}; // the iterations chosen
  exact(from: number, to: number): boolean; // whether events of that time are loaded
}

export interface LanePlace {
  lane: Lane;
  top: number;
  height: number;
}

export function places(data: TimelineData): LanePlace[] {
  let top = AXIS;
  return data.lanes.map((lane) => {
    const height = Math.max(lane.rows.length * ROW, lane.busy.length > 0 && lane.rows.length === 0 ? BUSY_ROW : ROW) + 4;
    const place = {lane, top, height};
    top += height;
    return place;
  });
}

export const heightOf = (data: TimelineData): number => places(data).reduce((sum, place) => sum + place.height, AXIS) + 4;

// The first event that ends after `time`: none lies over another, so that ends rise as starts do.
export function firstAfter(row: Row, time: number): number {
  let [low, high] = [0, row.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((row.end[middle] ?? 0) > time) high = middle;
    else low = middle + 1;
  }
  return low;
}

const FILLS: Record<string, string> = {
  iteration: "quiet",
  kernel: "c-tc",
  copy: "c-memory",
  set: "c-io",
  gap: "c-loader",
  range: "c-cpu",
  call: "c-kernel",
};

class Painter {
  private readonly fills: string[];
  private readonly scale: number;
  private readonly ink = colour("ink");
  private readonly onColour = colour("on-colour");
  private readonly mark = colour("mark");

  constructor(
    private readonly surface: Surface,
    private readonly data: TimelineData,
    private readonly view: View,
    private readonly marks: Marks,
  ) {
    this.fills = KINDS.map((kind) => colour(FILLS[kind] ?? "c-other"));
    this.scale = (surface.width - LABELS) / (view.to - view.from);
  }

  private x(time: number): number {
    return LABELS + (time - this.view.from) * this.scale;
  }

  paint(): void {
    const {context, width, height} = this.surface;
    context.clearRect(0, 0, width, height);
    this.axis();
    for (const place of places(this.data)) {
      context.save();
      context.beginPath();
      context.rect(LABELS, place.top, width - LABELS, place.height);
      context.clip();
      this.busyLane(place);
      place.lane.rows.forEach((row, i) => this.row(place.lane, row, place.top + 2 + i * ROW));
      context.restore();
      context.fillStyle = this.ink;
      context.textBaseline = "top";
      context.save();
      context.beginPath();
      context.rect(0, place.top, LABELS - 6, place.height);
      context.clip();
      context.fillText(place.lane.title, 2, place.top + 3);
      context.restore();
      context.fillStyle = colour("line");
      context.fillRect(0, place.top + place.height - 1, width, 1);
    }
  }

  private axis(): void {
    const {context, width, height} = this.surface;
    const room = this.view.to - this.view.from;
    const step = niceStep(room / Math.max(2, (width - LABELS) / 110));
    const scale = scaleFor("ns", Math.max(Math.abs(this.view.to), step * 10));
    context.textBaseline = "top";
    for (let time = Math.ceil(this.view.from / step) * step; time < this.view.to; time += step) {
      context.fillStyle = colour("line");
      context.fillRect(this.x(time), 0, 1, height);
      context.fillStyle = colour("soft");
      context.fillText(`${Number((time / scale.factor).toPrecision(8))} ${scale.name}`, this.x(time) + 3, 3);
    }
    if (this.marks.range) {
      context.fillStyle = colour("shade");
      context.fillRect(
        this.x(this.marks.range.start),
        AXIS,
        (this.marks.range.end - this.marks.range.start) * this.scale,
        height - AXIS,
      );
    }
  }

  // How busy the lane is, where its events are not loaded.
  private busyLane({lane, top, height}: LanePlace): void {
    if (lane.busy.length === 0 || this.marks.exact(this.view.from, this.view.to)) return;
    for (const id of lane.busy) {
      const busy = this.data.busy.get(id);
      if (busy) this.bins(busy, top + 2, Math.min(height - 5, BUSY_ROW - 5), lane.names === "kernel" ? "c-tc" : "c-cpu");
    }
  }

  private bins(busy: Busy, top: number, height: number, fill: string): void {
    const {context} = this.surface;
    const fine = (busy.bin[0] ?? 1) * this.scale > 4 && busy.levels[1] ? 1 : 0;
    const level = busy.levels[fine];
    const width = busy.bin[fine] ?? 1;
    if (!level) return;
    context.fillStyle = colour(fill);
    for (let i = 0; i < level.at.length; ++i) {
      const start = (level.at[i] ?? 0) * width;
      if (start + width < this.view.from || start > this.view.to) continue;
      if (this.marks.exact(start, start + width)) continue;
      const share = Math.min(1, (level.busy[i] ?? 0) / width);
      const tall = Math.max(1, height * share);
      context.fillRect(this.x(start), top + height - tall, Math.max(1, width * this.scale), tall);
    }
  }

  private row(lane: Lane, row: Row, top: number): void {
    const {context} = this.surface;
    const right = this.view.to;
    let drawn = -1; // the pixel that is full
    for (let i = firstAfter(row, this.view.from); i < row.length && (row.start[i] ?? 0) < right; ++i) {
      const x = this.x(row.start[i] ?? 0);
      const wide = Math.max(1, ((row.end[i] ?? 0) - (row.start[i] ?? 0)) * this.scale);
      const isMatch = this.marks.active && this.marks.matches(lane, row, i);
      if (x + wide < drawn + 1 && !isMatch) continue;
      context.globalAlpha = this.marks.active && !isMatch ? 0.3 : 1;
      context.fillStyle = isMatch ? this.mark : (this.fills[row.kind[i] ?? 0] ?? this.ink);
      context.fillRect(x, top, wide > 3 ? wide - 0.5 : wide, ROW - 2);
      context.globalAlpha = 1;
      drawn = Math.floor(x + wide);
      if (wide > 40) this.label(lane, row, i, Math.max(x, LABELS), Math.min(x + wide, this.surface.width), top);
    }
  }

  private label(lane: Lane, row: Row, event: number, left: number, right: number, top: number): void {
    const {context} = this.surface;
    context.save();
    context.beginPath();
    context.rect(left + 2, top, right - left - 4, ROW);
    context.clip();
    context.fillStyle = row.kind[event] === 0 ? this.ink : this.onColour;
    context.textBaseline = "middle";
    context.fillText(this.data.names[lane.names].get(row.name[event] ?? -1) ?? "", left + 4, top + ROW / 2);
    context.restore();
  }
}

export function paint(surface: Surface, data: TimelineData, view: View, marks: Marks): void {
  new Painter(surface, data, view, marks).paint();
}

// 1, 2 or 5 times a power of ten.
function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  const times = [1, 2, 5, 10].find((one) => one * power >= least) ?? 10;
  return times * power;
}
