// Pictures of a launch configuration: roofline, memory, stalls and occupancy. Each says its figures in text as well.

import {h, svg} from "../dom";
import {number, quantity} from "../format";
import {num, str, type Named} from "../panel";

export interface RooflinePoint {
  precision: string;
  rate: number;
  dram_intensity: number | null;
  l2_intensity: number | null;
  l1_intensity: number | null;
  compute_peak: number | null;
  dram_peak: number | null;
  l2_peak: number | null;
  l1_peak: number | null;
  attainable: number | null;
  compute_source: string;
  dram_source: string;
}

const WIDTH = 520;
const HEIGHT = 300;
const EDGE = {left: 62, right: 12, top: 26, bottom: 40};

function card(title: string, ...children: (Node | string | null)[]): HTMLElement {
  return h("figure", {class: "card", "aria-label": title}, h("figcaption", {}, title), ...children);
}

interface Axes {
  x(value: number): number;
  y(value: number): number;
}

const decades = (from: number, to: number): number[] =>
  Array.from({length: Math.max(1, Math.round(Math.log10(to / from)) + 1)}, (_, i) => from * 10 ** i);

function logAxes(xs: number[], ys: number[]): {axes: Axes; xs: number[]; ys: number[]} {
  const around = (values: number[]): [number, number] => [
    10 ** Math.floor(Math.log10(Math.min(...values))),
    10 ** Math.ceil(Math.log10(Math.max(...values) * 1.01)),
  ];
  const [x0, x1] = around(xs);
  const [y0, y1] = around(ys);
  const along = (value: number, from: number, to: number): number => Math.log10(value / from) / Math.log10(to / from);
  return {
    axes: {
      x: (value) => EDGE.left + along(value, x0, x1) * (WIDTH - EDGE.left - EDGE.right),
      y: (value) => HEIGHT - EDGE.bottom - along(value, y0, y1) * (HEIGHT - EDGE.top - EDGE.bottom),
    },
    xs: decades(x0, x1),
    ys: decades(y0, y1),
  };
}

const text = (x: number, y: number, words: string, anchor = "middle", name = ""): SVGElement =>
  svg("text", {x, y, "text-anchor": anchor, class: name}, words);
const line = (x1: number, y1: number, x2: number, y2: number, name: string): SVGElement =>
  svg("line", {x1, y1, x2, y2, class: name});

// Every roof of memory with the point's intensity against that memory.
export function roofline(points: RooflinePoint[]): HTMLElement | null {
  const roofs = (["dram", "l2", "l1"] as const).map((level) => ({level, peak: points[0]?.[`${level}_peak`] ?? null}));
  const marks = points.flatMap((point) =>
    roofs
      .map(({level}) => ({level, point, x: point[`${level}_intensity`]}))
      .filter((mark) => mark.x !== null && mark.x > 0 && point.rate > 0),
  );
  const computes = points.filter((point) => point.compute_peak !== null);
  if (marks.length === 0 || roofs.every((roof) => roof.peak === null)) return null;
  const top = Math.max(...computes.map((point) => num(point.compute_peak)), ...points.map((point) => point.rate));
  const ridges = roofs.flatMap((roof) => (roof.peak ? [top / roof.peak] : []));
  const xs = [...marks.map((mark) => mark.x as number), ...ridges, Math.min(...marks.map((mark) => mark.x as number)) / 3];
  const {axes, xs: xTicks, ys: yTicks} = logAxes(xs, [top, ...points.map((point) => point.rate / 3)]);
  const picture = svg("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    role: "img",
    "aria-label": "Roofline: performance over arithmetic intensity, both logarithmic",
  });
  for (const x of xTicks)
    picture.append(
      line(axes.x(x), EDGE.top, axes.x(x), HEIGHT - EDGE.bottom, "grid"),
      text(axes.x(x), HEIGHT - EDGE.bottom + 14, x.toExponential(0).replace("e+", "e")),
    );
  for (const y of yTicks)
    picture.append(
      line(EDGE.left, axes.y(y), WIDTH - EDGE.right, axes.y(y), "grid"),
      text(EDGE.left - 4, axes.y(y) + 4, quantity(y, "op/s").replace("op/s", ""), "end"),
    );
  picture.append(text((EDGE.left + WIDTH) / 2, HEIGHT - 6, "operations per byte"), text(EDGE.left - 4, 12, "op/s", "end"));
  const first = xTicks[0] ?? 1;
  const last = xTicks[xTicks.length - 1] ?? 1;
  for (const {level, peak} of roofs) {
    if (peak === null) continue;
    const ridge = Math.min(last, top / peak);
    const bottom = yTicks[0] ?? 1;
    const start = Math.max(first, bottom / peak);
    picture.append(line(axes.x(start), axes.y(start * peak), axes.x(ridge), axes.y(ridge * peak), `roof ${level}`));
    const name = start * (ridge / start) ** {l1: 0.3, l2: 0.5, dram: 0.75}[level]; // one beside another
    picture.append(text(axes.x(name) - 6, axes.y(name * peak) - 4, level.toUpperCase(), "end", "label"));
  }
  for (const point of computes) {
    const peak = num(point.compute_peak);
    picture.append(
      line(axes.x(Math.max(first, Math.min(...ridges))), axes.y(peak), WIDTH - EDGE.right, axes.y(peak), "roof compute"),
      text(WIDTH - EDGE.right, axes.y(peak) - 4, `${point.precision}: ${quantity(peak, "op/s")}`, "end", "label"),
    );
  }
  for (const {level, point, x} of marks) {
    const [cx, cy] = [axes.x(x as number), axes.y(point.rate)];
    const shape =
      level === "dram"
        ? svg("circle", {cx, cy, r: 5, class: `point ${level}`})
        : level === "l2"
          ? svg("rect", {x: cx - 4.5, y: cy - 4.5, width: 9, height: 9, class: `point ${level}`})
          : svg("path", {d: `M${cx} ${cy - 6}l6 11h-12z`, class: `point ${level}`});
    shape.append(
      svg(
        "title",
        {},
        `${point.precision} against ${level.toUpperCase()}: ${number(x as number)} op/byte, ${quantity(point.rate, "op/s")}`,
      ),
    );
    picture.append(shape);
  }
  const lines = points.map((point) =>
    h(
      "li",
      {},
      `${point.precision}: ${quantity(point.rate, "op/s")}, ${quantity(point.dram_intensity, "op/byte")} of DRAM; attainable ${quantity(point.attainable, "op/s")}`,
    ),
  );
  return card(
    "Roofline",
    picture,
    h("ul", {class: "legend"}, h("li", {}, "Circle: against DRAM; square: L2; triangle: L1"), ...lines),
  );
}

// Where bytes go. Metrics by the names that chips have for them, best first.
const FLOWS: {name: string; metrics: string[]; unit: string}[] = [
  {name: "L1 hit rate", metrics: ["l1tex__t_sector_hit_rate.pct"], unit: "%"},
  {name: "L1 bytes", metrics: ["l1tex__t_bytes.sum"], unit: "bytes"},
  {name: "L2 hit rate", metrics: ["lts__t_sector_hit_rate.pct"], unit: "%"},
  {name: "L2 bytes", metrics: ["lts__t_bytes.sum"], unit: "bytes"},
  {name: "DRAM read", metrics: ["dram__bytes_read.sum", "dram__bytes_op_read.sum"], unit: "bytes"},
  {name: "DRAM written", metrics: ["dram__bytes_write.sum", "dram__bytes_op_write.sum"], unit: "bytes"},
  {name: "DRAM bytes", metrics: ["dram__bytes.sum"], unit: "bytes"},
];

export function memoryChart(values: Map<string, number>): HTMLElement | null {
  const figure = (name: string): string | undefined => {
    const flow = FLOWS.find((one) => one.name === name);
    const metric = flow?.metrics.find((one) => values.has(one));
    return flow && metric ? quantity(values.get(metric) ?? null, flow.unit) : undefined;
  };
  if (!FLOWS.some((flow) => figure(flow.name) !== undefined)) return null;
  const picture = svg("svg", {
    viewBox: "0 0 520 150",
    role: "img",
    "aria-label": "Memory: what moved between kernel, L1, L2 and DRAM",
  });
  const box = (x: number, name: string, words: string | undefined): void => {
    picture.append(
      svg("rect", {x, y: 40, width: 92, height: 70, rx: 6, class: "unit"}),
      text(x + 46, 70, name, "middle", "label"),
    );
    if (words !== undefined) picture.append(text(x + 46, 90, words));
  };
  const flow = (x: number, above: string | undefined, below?: string): void => {
    picture.append(line(x, 75, x + 44, 75, "flow"));
    if (above !== undefined) picture.append(text(x + 22, 30, above, "middle", "small"));
    if (below !== undefined) picture.append(text(x + 22, 130, below, "middle", "small"));
  };
  const hit = (name: string): string | undefined => (figure(name) === undefined ? undefined : `hit ${figure(name) ?? ""}`);
  box(4, "Kernel", undefined);
  flow(98, figure("L1 bytes"));
  box(144, "L1", hit("L1 hit rate"));
  flow(238, figure("L2 bytes"));
  box(284, "L2", hit("L2 hit rate"));
  const [read, written] = [figure("DRAM read"), figure("DRAM written")];
  flow(378, read === undefined ? figure("DRAM bytes") : `read ${read}`, written === undefined ? undefined : `written ${written}`);
  box(424, "DRAM", undefined);
  return card("Memory, per launch", picture);
}

export function stallBars(stalls: Named[]): HTMLElement | null {
  const shown = stalls.filter((stall) => num(stall.pct) >= 0.5);
  if (shown.length === 0) return null;
  const rows = shown.map((stall) => {
    const bar = h("span", {class: "meter"});
    bar.style.width = `${num(stall.pct)}%`;
    const waits = str(stall.reason) !== "selected";
    return h(
      "li",
      {class: waits ? "wait" : "issue"},
      h("span", {class: "name"}, str(stall.reason)),
      h("span", {class: "track"}, bar),
      h("b", {}, `${number(num(stall.pct))} %`),
      h(
        "details",
        {},
        h("summary", {}, str(stall.meaning)),
        h(
          "p",
          {},
          `${number(num(stall.cycles))} warp cycles per instruction issued, n = ${str(stall.samples)}. ${str(stall.remedy)}`,
        ),
      ),
    );
  });
  return card("What warps wait for", h("ul", {class: "stalls"}, ...rows));
}

export interface CurvePoint {
  what: string;
  x: number;
  pct: number;
}

// Theoretical occupancy while one thing changes; the ring is where the launch stands.
export function curves(points: CurvePoint[], here: Named | undefined): HTMLElement | null {
  const kinds = [...new Set(points.map((point) => point.what))];
  if (kinds.length === 0 || !here) return null;
  const now: Record<string, number> = {
    "threads per block": num(here.threads),
    "registers per thread": num(here.registers_per_thread),
    "shared bytes per block": num(here.shared_bytes_per_block),
  };
  const pictures = kinds.map((kind) =>
    curve(
      kind,
      points.filter((point) => point.what === kind),
      now[kind] ?? NaN,
      num(here.theoretical_pct),
    ),
  );
  const limiter = str(here.limiter) ? `Limited by ${str(here.limiter)}. ` : "";
  return card(
    "Theoretical occupancy",
    h("p", {}, `${limiter}${quantity(here.theoretical_pct, "%")} theoretical, ${quantity(here.achieved_pct, "%")} achieved.`),
    ...pictures,
  );
}

function curve(kind: string, points: CurvePoint[], x: number, pct: number): SVGElement {
  const most = Math.max(1, ...points.map((point) => point.x));
  const at = (point: {x: number; pct: number}): [number, number] => [40 + (460 * point.x) / most, 8 + 84 * (1 - point.pct / 100)];
  const picture = svg("svg", {
    viewBox: "0 0 520 124",
    role: "img",
    "aria-label": `Occupancy over ${kind}; now ${number(x)}: ${number(pct)} %`,
  });
  for (const level of [0, 50, 100])
    picture.append(
      line(40, at({x: 0, pct: level})[1], 500, at({x: 0, pct: level})[1], "grid"),
      text(36, at({x: 0, pct: level})[1] + 4, `${level} %`, "end", "small"),
    );
  picture.append(svg("polyline", {points: points.map((point) => at(point).join(",")).join(" "), class: "curve"}));
  if (Number.isFinite(x) && Number.isFinite(pct)) {
    const [cx, cy] = at({x, pct});
    picture.append(svg("circle", {cx, cy, r: 5, class: "ring"}));
  }
  picture.append(
    text(40, 108, "0", "middle", "small"),
    text(500, 108, number(most), "end", "small"),
    text(270, 118, `${kind}, now ${Number.isFinite(x) ? number(x) : "not known"}`, "middle", "small"),
  );
  return picture;
}
