// Around the panels: the head of the page, what is chosen, and the foot.

import {h} from "./dom";
import {kernelNames} from "./kernel_names";
import {str, type Context} from "./panel";
import {allIterations, chosen, nothing, type State} from "./state";
import type {Facts} from "./types";

declare const NOTICES: {name: string; version: string; license: string; text: string}[];

type Theme = "auto" | "light" | "dark";
const THEMES: Theme[] = ["auto", "light", "dark"];

function remembered(): Theme {
  try {
    const theme = localStorage.getItem("dlkprof.theme") as Theme | null;
    return theme !== null && THEMES.includes(theme) ? theme : "auto";
  } catch {
    return "auto"; // no storage for this file
  }
}

const systemIsDark = matchMedia("(prefers-color-scheme: dark)");

let theTheme: Theme = "auto";

function setTheme(theme: Theme): void {
  theTheme = theme;
  document.documentElement.dataset.theme = theme === "auto" ? (systemIsDark.matches ? "dark" : "light") : theme;
  try {
    localStorage.setItem("dlkprof.theme", theme);
  } catch {
    // it is for this sight only, then
  }
  document.dispatchEvent(new Event("dlkprof:theme"));
}

export function themeFromStorage(): void {
  setTheme(remembered());
  systemIsDark.addEventListener("change", () => setTheme(theTheme));
}

export function header(facts: Facts, links: HTMLElement[]): HTMLElement {
  const theme = h(
    "select",
    {"aria-label": "Colours", id: "theme"},
    ...THEMES.map((name) => h("option", {value: name}, name === "auto" ? "Colours: as the system" : name)),
  );
  theme.value = remembered();
  theme.addEventListener("change", () => setTheme(theme.value as Theme));
  const runs = h("select", {"aria-label": "Run", id: "run"}, ...facts.runs.map((run, i) => h("option", {value: i}, run.label)));
  runs.value = String(chosen.state.run);
  runs.addEventListener("change", () => chosen.choose({...nothing, run: Number(runs.value)}));
  chosen.listen((state) => (runs.value = String(state.run)));
  const name = facts.runs.length > 1 ? runs : h("strong", {class: "run"}, facts.runs[0]?.label ?? "");
  return h("header", {}, h("span", {class: "brand"}, "dlkprof"), name, h("nav", {"aria-label": "Panels"}, ...links), theme);
}

function chip(words: string, title: string, change: Partial<State>): HTMLElement {
  return h(
    "button",
    {
      type: "button",
      class: "chip",
      title: `${title}: click to let go`,
      "aria-label": `Let go of ${words}`,
      onclick: () => chosen.choose(change),
    },
    words,
    h("span", {"aria-hidden": "true"}, " ×"),
  );
}

// What is chosen, each with a way to let go of it.
export async function contextBar({facts, state, query, keys, range}: Context): Promise<HTMLElement[]> {
  const chips: HTMLElement[] = [];
  if (facts.job) return chips;
  if (state.key !== undefined && state.key !== 0) {
    const name = keys.find((one) => one.key === state.key)?.name ?? "";
    chips.push(chip(`Key node ${shorten(name, 60)}`, "It parts iterations", {key: undefined, ...allIterations}));
  }
  if (state.from !== undefined || state.to !== undefined)
    chips.push(
      chip(`Iterations ${range.from} to ${range.to}`, "Figures are of these iterations", {from: undefined, to: undefined}),
    );
  if (state.kind !== undefined) {
    const name = range.kind === null ? "all kinds" : (range.kinds.get(range.kind) ?? "");
    chips.push(chip(`Iterations: ${name}`, "Figures are of these iterations", {kind: undefined}));
  }
  if (state.op !== undefined) {
    const found = await query("SELECT op_name, direction FROM page_op WHERE op_id = ?", [state.op]);
    const name = found.rows[0] ? `${str(found.rows[0][0])} ${str(found.rows[0][1])}`.trim() : state.op;
    chips.push(chip(`Op ${shorten(name, 60)}`, name, {op: undefined}));
  }
  if (state.kernel !== undefined) {
    const found = (await kernelNames(query)).get(state.kernel);
    const name = found?.telling ?? `kernel ${state.kernel}`;
    chips.push(chip(`Kernel ${shorten(name, 60)}`, found?.whole ?? name, {kernel: undefined, config: undefined}));
  }
  if (state.config !== undefined) chips.push(chip(`Configuration ${state.config}`, "Launch configuration", {config: undefined}));
  return chips;
}

export function shorten(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most / 2 - 1)}…${text.slice(text.length - most / 2)}`;
}

export function footer(facts: Facts): HTMLElement {
  const licences = h(
    "details",
    {},
    h("summary", {}, "Licences of what is inside"),
    ...NOTICES.map((one) =>
      h("div", {}, h("h2", {}, `${one.name} ${one.version}, ${one.license}`), h("pre", {tabindex: "0"}, one.text)),
    ),
  );
  const keys = "Keys: 1 to 9 panels, / filter, arrows and Enter in tables, Escape lets go of what is chosen.";
  return h(
    "footer",
    {},
    h(
      "p",
      {},
      `Written by dlkprof ${facts.version}. ${facts.served ? "Its figures come from the dlkprof that serves it." : "Nothing leaves this page."} ${keys}`,
    ),
    licences,
  );
}
