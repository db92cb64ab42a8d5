// Ranks: which rank of a job is late, in which iterations and ops. Every figure is one of a view; heat maps of many ranks show of
// each group of ranks the one with the greatest figure.

import {heat, type HeatCell} from "../charts/heat";
import {h} from "../dom";
import {heading, number, quantity} from "../format";
import {named, num, str, type Context, type Panel} from "../panel";
import {chosen} from "../state";
import {Table} from "../table";

const MOST_ROWS = 200; // of a heat map
const MOST_COLUMNS = 600;
const MOST_CELLS_LISTED = 1000;

// How ranks or iterations are put together where there are more than a picture has room for.
interface Axis {
  first: number;
  each: number; // so many of them make a row or a column
  labels: string[];
}

async function axis(context: Context, column: string, view: string, most: number): Promise<Axis> {
  const rows = await context.query(`SELECT min(${column}), max(${column}) FROM ${view}`);
  const [first, last] = [num(rows.rows[0]?.[0]), num(rows.rows[0]?.[1])];
  if (Number.isNaN(first)) return {first: 0, each: 1, labels: []};
  const each = Math.ceil((last - first + 1) / most);
  const labels = Array.from({length: Math.ceil((last - first + 1) / each)}, (_, i) => String(first + i * each));
  return {first, each, labels};
}

// What a heat map shows, chosen by hand and kept in the address.
function measureOf(context: Context, view: string, key: string): HTMLSelectElement {
  const columns = (context.facts.views[view]?.columns ?? []).filter(([, unit]) => unit === "ns");
  const select = h("select", {id: key}, ...columns.map(([name]) => h("option", {value: name}, heading(name))));
  const asked = chosen.state.more[key];
  if (columns.some(([name]) => name === asked)) select.value = asked ?? "";
  return select;
}

function choosable(context: Context, view: string, key: string, title: string, draw: (measure: string) => Promise<HTMLElement>) {
  const select = measureOf(context, view, key);
  const place = h("div");
  const about = h("p", {class: "hint"});
  const show = async (): Promise<void> => {
    about.textContent = context.facts.views[view]?.columns.find(([name]) => name === select.value)?.[2] ?? "";
    place.replaceChildren(await draw(select.value));
  };
  select.addEventListener("change", () => {
    chosen.keep(key, select.value);
    void show();
  });
  const section = h(
    "section",
    {"aria-label": title},
    h("h2", {}, title),
    h("div", {class: "tools"}, h("label", {}, "Figure ", select)),
    about,
    place,
  );
  return show().then(() => section);
}

const chooseRank = (rank: string): void => chosen.choose({more: {...chosen.state.more, rank}});

async function byIteration(context: Context, measure: string): Promise<HTMLElement> {
  const ranks = await axis(context, "rank", "rank_iterations", MOST_ROWS);
  const iterations = await axis(context, "iteration", "rank_iterations", MOST_COLUMNS);
  const found = await context.query(
    `SELECT (rank - ?1) / ?2 AS row, (iteration - ?3) / ?4 AS place, max(${measure}) AS value, rank, iteration, EXISTS (SELECT 1 FROM critical_ranks c WHERE c.critical_rank = r.rank AND c.iteration = r.iteration) AS critical FROM rank_iterations r GROUP BY 1, 2`,
    [ranks.first, ranks.each, iterations.first, iterations.each],
  );
  const cells: HeatCell[] = named(found).map((one) => ({
    row: num(one.row),
    column: num(one.place),
    value: num(one.value),
    words: `Rank ${str(one.rank)}, iteration ${str(one.iteration)}`,
    isMarked: one.critical === 1,
  }));
  return heat({
    id: "heat-iterations",
    title: `${heading(measure)} by rank and iteration`,
    unit: "ns",
    rows: ranks.labels,
    columns: iterations.labels,
    cells,
    rowsAre: "ranks",
    columnsAre: "iterations",
    mark: "the critical rank: the others waited longest for it",
    choose: (cell) => chooseRank(/\d+/.exec(cell.words)?.[0] ?? ""),
  });
}

async function byOp(context: Context, measure: string): Promise<HTMLElement> {
  const ranks = await axis(context, "rank", "rank_ops", MOST_ROWS);
  const found = named(
    await context.query(
      `SELECT (rank - ?1) / ?2 AS row, op_name, direction, op_type, max(${measure}) AS value, rank FROM rank_ops GROUP BY 1, 2, 3, 4 ORDER BY value DESC`,
      [ranks.first, ranks.each],
    ),
  );
  const places = new Map<string, number>(); // of ops: by their greatest figure, falling
  const cells: HeatCell[] = found.map((one) => {
    const op = `${str(one.op_name)} ${str(one.direction)}`.trim();
    const key = `${op} ${str(one.op_type)}`;
    if (!places.has(key)) places.set(key, places.size);
    return {
      row: num(one.row),
      column: places.get(key) ?? 0,
      value: num(one.value),
      words: `Rank ${str(one.rank)}, ${op}`,
    };
  });
  return heat({
    id: "heat-ops",
    title: `${heading(measure)} by rank and op`,
    unit: "ns",
    rows: ranks.labels,
    columns: Array.from(places, (_, i) => String(i + 1)),
    cells,
    rowsAre: "ranks",
    columnsAre: "ops, the greatest figure first",
    choose: (cell) => chooseRank(/\d+/.exec(cell.words)?.[0] ?? ""),
  });
}

// A view as a table, of the chosen rank alone where there is one and the view has ranks.
async function listed(
  context: Context,
  view: string,
  title: string,
  keys: string[],
  options: {by?: string; bar?: string; rank?: string; hidden?: string[]; most?: number} = {},
): Promise<HTMLElement> {
  const rank = chosen.state.more.rank ?? "";
  const where = options.rank && /^\d+$/.test(rank) ? ` WHERE ${options.rank} = ${rank}` : "";
  const order = options.by ? ` ORDER BY ${options.by} DESC` : "";
  const rows = await context.query(`SELECT * FROM ${view}${where}${order}${options.most ? ` LIMIT ${options.most}` : ""}`);
  const at = rows.columns.indexOf(options.rank ?? "");
  const table = new Table({
    id: view,
    caption: title,
    view: context.facts.views[view],
    viewName: view,
    columns: rows.columns.map((name) => ({
      name,
      unit: /^(rank|role|iteration|number|last_rank|critical_rank|rank_of_max)$/.test(name) ? "id of" : undefined,
      bar: name === options.bar,
      hidden: options.hidden?.includes(name),
    })),
    rows: rows.rows,
    keys,
    choose: at < 0 ? undefined : (row) => chooseRank(str(row[at])),
    isChosen: at < 0 ? undefined : (row) => rank !== "" && str(row[at]) === rank,
  });
  const hint =
    options.most && rows.rows.length === options.most
      ? h("p", {class: "hint"}, `The ${number(options.most)} greatest; panel SQL has all.`)
      : null;
  return h("section", {id: `report-${view}`, tabindex: "-1", "aria-label": title}, h("h2", {}, title), hint, table.element);
}

async function findings(context: Context): Promise<HTMLElement> {
  const rows = named(await context.query("SELECT * FROM job_findings ORDER BY lost_per_iteration_ns DESC"));
  if (rows.length === 0) return h("p", {class: "verdict"}, "No rule over ranks fires.");
  return h(
    "ul",
    {class: "findings"},
    ...rows.map((row) =>
      h(
        "li",
        {"data-rule": str(row.rule)},
        h("b", {}, `${str(row.rule)}: `),
        `${str(row.finding)} `,
        h("small", {}, `${quantity(row.lost_per_iteration_ns, "ns")} of an iteration. ${str(row.advice)}`),
      ),
    ),
  );
}

// To what is further down; the address is taken by what is chosen.
function jumps(): HTMLElement {
  const to = (view: string, words: string): HTMLElement =>
    h(
      "button",
      {
        type: "button",
        "data-to": view,
        onclick: () => {
          const section = document.getElementById(`report-${view}`);
          section?.scrollIntoView();
          section?.focus({preventScroll: true});
        },
      },
      words,
    );
  return h(
    "div",
    {class: "tools", role: "group", "aria-label": "Reports below"},
    to("critical_ranks", "Critical ranks"),
    to("ranks", "Ranks"),
    to("stragglers", "Stragglers"),
    to("rank_ops", "Ops"),
    to("rank_iterations", "Iterations"),
  );
}

function chosenRank(): HTMLElement | null {
  const rank = chosen.state.more.rank ?? "";
  if (!/^\d+$/.test(rank)) return null;
  const letGo = h("button", {type: "button", id: "all-ranks", onclick: () => chooseRank("")}, "Show all ranks");
  return h("p", {class: "hint"}, `Tables of ops and iterations are of rank ${rank}. `, letGo);
}

export const ranks: Panel = {
  id: "ranks",
  title: "Ranks",
  about: "Which rank is late, in which iterations and ops. A click on a cell or a rank shows that rank alone in the tables.",
  async show(place, context) {
    const notices = context.facts.job?.notices ?? [];
    if (notices.length > 0) place.append(h("p", {class: "hint"}, notices.join(" ")));
    place.append(await findings(context), jumps());
    const one = chosenRank();
    if (one) place.append(one);
    place.append(
      await choosable(context, "rank_iterations", "ranks.iteration", "Rank by iteration", (measure) =>
        byIteration(context, measure),
      ),
      await choosable(context, "rank_ops", "ranks.op", "Rank by op", (measure) => byOp(context, measure)),
      await listed(context, "critical_ranks", "Critical rank of each iteration", ["role", "iteration"], {bar: "waited_ns"}),
      await listed(context, "ranks", "Ranks", ["rank"], {
        rank: "rank",
        bar: "compute_ns",
        hidden: ["gpu", "pci_bus", "iterations", "complete", "clock_drift_ppm", "offset_error_ns", "drift_error_ppm"],
      }),
      await listed(
        context,
        "stragglers",
        "Stragglers: the collectives that were waited for longest",
        ["role", "communicator", "number"],
        {
          bar: "waited_ns",
          most: MOST_CELLS_LISTED,
        },
      ),
      await listed(context, "rank_ops", "Ops by rank", ["rank", "op_name", "direction", "op_type"], {
        rank: "rank",
        by: "excess_ns",
        bar: "excess_ns",
        most: MOST_CELLS_LISTED,
      }),
      await listed(context, "rank_iterations", "Iterations by rank", ["rank", "iteration"], {
        rank: "rank",
        by: "own_time_ns",
        bar: "own_time_ns",
        most: MOST_CELLS_LISTED,
      }),
    );
  },
};
