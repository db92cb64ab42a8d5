// Figures in the words of people. A column of a table has one unit, so that its figures can be compared at a glance.

import type {Cell} from "./types";

export interface Scale {
  name: string; // as it stands in the heading
  factor: number; // base units in one of these
}

const SCALES: Record<string, Scale[]> = {
  ns: [
    {name: "ns", factor: 1},
    {name: "µs", factor: 1e3},
    {name: "ms", factor: 1e6},
    {name: "s", factor: 1e9},
  ],
  bytes: [
    {name: "B", factor: 1},
    {name: "kB", factor: 1e3},
    {name: "MB", factor: 1e6},
    {name: "GB", factor: 1e9},
    {name: "TB", factor: 1e12},
  ],
  Hz: [
    {name: "Hz", factor: 1},
    {name: "kHz", factor: 1e3},
    {name: "MHz", factor: 1e6},
    {name: "GHz", factor: 1e9},
  ],
};
for (const [other, of, suffix] of [
  ["byte", "bytes", ""],
  ["hz", "Hz", ""],
  ["byte/s", "bytes", "/s"],
] as const) {
  SCALES[other] = (SCALES[of] ?? []).map(({name, factor}) => ({name: name + suffix, factor}));
}
const COUNTED = ["inst", "op", "op/s", "cycle", "request", "sector", "wavefront", "conflict"];
for (const unit of COUNTED) {
  SCALES[unit] = [
    ["", 1],
    ["k", 1e3],
    ["M", 1e6],
    ["G", 1e9],
    ["T", 1e12],
  ].map(([prefix, factor]) => ({
    name: `${prefix}${unit}`,
    factor: factor as number,
  }));
}

// That which gives the figure 1 to 999, if there is one.
export function scaleFor(unit: string, largest: number): Scale {
  const scales = SCALES[unit];
  if (!scales)
    return {
      name:
        unit === "%" || unit === "0 or 1" || unit.startsWith("of ") || unit.startsWith("id ") ? (unit === "%" ? "%" : "") : unit,
      factor: 1,
    };
  let chosen = scales[0] ?? {name: unit, factor: 1};
  for (const scale of scales) if (Math.abs(largest) >= scale.factor) chosen = scale;
  return chosen;
}

const grouped = new Intl.NumberFormat("en-US", {maximumFractionDigits: 0});

// Three or four digits that count, or all of a whole number.
export function number(value: number): string {
  if (!Number.isFinite(value)) return "";
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e15) return grouped.format(value);
  if (size >= 1000) return grouped.format(value);
  if (size >= 100) return value.toFixed(1);
  if (size >= 10) return value.toFixed(2);
  if (size >= 0.001) return value.toFixed(3);
  return size === 0 ? "0" : value.toExponential(2);
}

// "1 row", "1,552 rows".
export const counted = (count: number, one: string, many = `${one}s`): string => `${number(count)} ${count === 1 ? one : many}`;

export function cellText(cell: Cell | undefined, unit: string, scale: Scale): string {
  if (cell === null || cell === undefined) return "";
  if (typeof cell === "string") return cell;
  if (unit === "0 or 1") return cell ? "yes" : "no";
  if (unit.startsWith("id ")) return String(cell);
  return number(cell / scale.factor);
}

// On its own, with its unit: "4.180 ms".
export function quantity(cell: Cell | undefined, unit: string): string {
  if (typeof cell !== "number") return cell === null || cell === undefined ? "not measured" : cell;
  const scale = scaleFor(unit, cell);
  return `${number(cell / scale.factor)} ${scale.name}`.trim();
}

// What views call otherwise than people do.
const HEADINGS: Record<string, string> = {left_alone: "Skipped", pct: "Share"};
const ACRONYMS: Record<string, string> = {
  gpu: "GPU",
  cpu: "CPU",
  tc: "TC",
  api: "API",
  id: "ID",
  sm: "SM",
  sms: "SMs",
  pid: "PID",
  avg: "average",
  pct: "",
  ns: "",
};

// "GPU total" of gpu_total_ns.
export function heading(name: string): string {
  const own = HEADINGS[name];
  if (own !== undefined) return own;
  const words = name
    .split("_")
    .map((word) => ACRONYMS[word] ?? word)
    .filter((word) => word !== "");
  const text = words.join(" ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export const direction = (cell: Cell | undefined): string => (typeof cell === "string" ? cell : "");

export function csv(columns: string[], rows: Cell[][]): string {
  const quoted = (cell: Cell): string => {
    const text = cell === null ? "" : String(cell);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [columns, ...rows].map((row) => row.map(quoted).join(",")).join("\n") + "\n";
}
