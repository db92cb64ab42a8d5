// Kinds of iterations, which do different work, and the choice of one.

import {h} from "../dom";
import {choiceOfKind, str, type Context} from "../panel";
import {chosen} from "../state";
import {Table} from "../table";
import {notOfRange} from "./sums";

// Empty where all iterations do the same work.
export function kindChooser(context: Context): HTMLElement[] {
  const {range} = context;
  if (range.kinds.size === 0) return [];
  const select = h(
    "select",
    {id: "kind"},
    h("option", {value: 0}, "all kinds"),
    ...[...range.kinds].map(([kind, name]) => h("option", {value: kind}, name)),
  );
  select.value = String(range.kind ?? 0);
  select.addEventListener("change", () => chosen.choose({kind: choiceOfKind(context, Number(select.value) || null)}));
  return [h("label", {}, "Kind of iterations ", select)];
}

// How long those of each kind took, of the iterations aggregated in the database.
export async function kindTable(context: Context): Promise<HTMLElement[]> {
  const {kinds, kind, key, isUsual} = context.range;
  if (kinds.size === 0 || key !== 0) return [];
  const rows = await context.query("SELECT * FROM iteration_kinds");
  if (rows.rows.length === 0) return [];
  const numbers = new Map([...kinds].map(([number, name]) => [name, number]));
  const isChosen = (name: string): boolean => numbers.get(name) === kind;
  const table = new Table({
    id: "kinds",
    caption: "Kinds of iterations",
    view: context.facts.views.iteration_kinds,
    viewName: "iteration_kinds",
    columns: rows.columns.map((name) => ({name, bar: name === "gpu_ns", hidden: name === "wall_ns"})),
    rows: rows.rows,
    keys: ["kind"],
    isChosen: (row) => isChosen(str(row[0])),
    choose: (row) =>
      chosen.choose({kind: choiceOfKind(context, isChosen(str(row[0])) ? null : (numbers.get(str(row[0])) ?? null))}),
  });
  const note = isUsual ? [] : notOfRange(context, "This table is of the iterations aggregated in the database");
  return [h("section", {"aria-label": "Kinds of iterations"}, h("h2", {}, "Kinds of iterations"), ...note, table.element)];
}
