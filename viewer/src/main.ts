// The page: its frame, and the panel that the address names.

import {openDatabase, readFacts} from "./database";
import {announce, h, keepFocus, painted} from "./dom";
import {compare} from "./panels/compare";
import {coverage} from "./panels/coverage";
import {iterations} from "./panels/iterations";
import {kernels} from "./panels/kernels";
import {ops} from "./panels/ops";
import {overview} from "./panels/overview";
import {ranks} from "./panels/ranks";
import {source} from "./panels/source";
import {sql} from "./panels/sql";
import {timeline} from "./panels/timeline";
import {keyNodesOf, num, rangeOf, type Context, type KeyNode, type Panel} from "./panel";
import {contextBar, footer, header, themeFromStorage} from "./shell";
import {chosen, nothing, type State} from "./state";

const facts = readFacts();
const database = openDatabase(facts);
// A job's database holds figures of ranks, and no run that the other panels could show.
const panels: [Panel, ...Panel[]] = facts.job
  ? [ranks, sql]
  : [overview, iterations, ops, kernels, timeline, source, compare, coverage, sql];

const links = panels.map((panel) => h("a", {href: `#${panel.id}`, "data-panel": panel.id}, panel.title));
const bar = h("div", {class: "context"});
const main = h("main", {id: "main", tabindex: "-1"});
let showing = 0;
let shown = "";

interface Parted {
  keys: KeyNode[];
  iterations: Map<number, number>; // of each key node
}
const parted: Promise<Parted>[] = []; // by run

async function howParted(query: Context["query"]): Promise<Parted> {
  const rows = (await query("SELECT key, count(*) FROM page_iteration GROUP BY 1")).rows;
  return {keys: await keyNodesOf(query), iterations: new Map(rows.map((row) => [num(row[0]), num(row[1])]))};
}

async function contextOf(asked: State): Promise<Context> {
  const run = asked.run < facts.runs.length ? asked.run : 0;
  const state = {...asked, run};
  const query: Context["query"] = (words, parameters, isUrgent) => database.query(words, parameters, run, isUrgent);
  const common = {facts, state, database, query, later};
  if (facts.job)
    return {
      ...common,
      keys: [],
      range: {key: 0, kind: null, kinds: new Map(), from: 0, to: 0, all: 0, isUsual: true, isOwn: true, blocks: []},
    };
  const {keys, iterations} = await (parted[run] ??= howParted(query));
  const range = await rangeOf(state, keys, iterations.get(state.key ?? 0) ?? 0, query);
  return {...common, keys, range};
}

// What is filled in after a panel is shown. Says in the page when all of it is there, for tests and for people's patience.
let filling = 0;
function later(work: () => Promise<void>): void {
  ++filling;
  main.setAttribute("aria-busy", "true");
  void painted()
    .then(work)
    .catch((error: unknown) => announce(`Something is missing here: ${error instanceof Error ? error.message : String(error)}`))
    .finally(() => {
      if (--filling === 0) main.removeAttribute("aria-busy");
    });
}

let last: State | undefined; // that the panel was filled for

// Whether what was chosen is only to be marked in the panel that is there.
function onlyMarks(panel: Panel, state: State): boolean {
  if (last === undefined || shown !== panel.id || main.childElementCount === 0) return false;
  const before = last;
  const changed = (["run", "op", "kernel", "config", "key", "from", "to", "kind"] as const).filter(
    (name) => before[name] !== state[name],
  );
  return changed.length > 0 && changed.every((name) => panel.marks?.includes(name));
}

async function show(state: State): Promise<void> {
  const turn = ++showing;
  const panel = panels.find((one) => one.id === state.panel) ?? panels[0];
  links.forEach((link) => {
    link.href = chosen.address({panel: link.dataset.panel ?? "", more: {}});
    if (link.dataset.panel === panel.id) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  });
  const context = await contextOf(state);
  if (turn !== showing) return;
  if (onlyMarks(panel, state)) {
    last = {...state};
    document.dispatchEvent(new Event("dlkprof:chosen"));
    bar.replaceChildren(...(await contextBar(context)));
    main.dataset.shown = `${panel.id} ${turn}`;
    return;
  }
  const place = h("div", {class: "content"});
  const section = h(
    "section",
    {"aria-labelledby": "title", "data-panel": panel.id},
    h("h1", {id: "title"}, panel.title),
    h("p", {class: "about"}, panel.about),
    place,
  );
  try {
    const chips = await contextBar(context);
    await panel.show(place, context);
    if (turn === showing) bar.replaceChildren(...chips);
  } catch (error) {
    place.append(
      h(
        "p",
        {class: "wrong", role: "alert"},
        `This panel cannot be shown: ${error instanceof Error ? error.message : String(error)}`,
      ),
    );
  }
  if (turn !== showing) return; // something else was chosen meanwhile
  const scrolled = shown === panel.id ? scrollY : 0;
  keepFocus(main, () => main.replaceChildren(section));
  place.dispatchEvent(new Event("dlkprof:placed"));
  scrollTo(0, scrolled);
  if (shown !== panel.id) announce(panel.title);
  shown = panel.id;
  last = {...state};
  main.dataset.shown = `${panel.id} ${turn}`;
}

// 1 to 9 go to the panels, / to the filter.
function onKey(event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  if (event.ctrlKey || event.metaKey || event.altKey || /^(input|textarea|select)$/i.test(target.tagName)) return;
  const panel = panels[Number(event.key) - 1];
  if (panel) chosen.choose({panel: panel.id, more: {}});
  else if (event.key === "/") main.querySelector<HTMLElement>("input[type=search]")?.focus();
  else if (event.key === "Escape") chosen.choose(nothing);
  else return;
  event.preventDefault();
}

themeFromStorage();
document.body.append(
  h(
    "a",
    {
      href: "#main",
      class: "skip",
      onclick: (event: Event) => {
        event.preventDefault();
        main.focus();
      },
    },
    "Skip to the panel",
  ),
  header(facts, links),
  bar,
  main,
  footer(facts),
  h("div", {id: "status", class: "unseen", role: "status"}),
);
document.addEventListener("keydown", onKey);
for (const link of links) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    chosen.choose({panel: link.dataset.panel ?? "", more: {}});
  });
}
chosen.listen((state) => void show(state));
void show(chosen.state);
