// SQL: any question to the database, with the cookbook at hand.

import {h} from "../dom";
import {counted, number} from "../format";
import type {Context, Panel} from "../panel";
import {chosen} from "../state";
import {Table} from "../table";

declare const COOKBOOK: {heading: string; sql: string}[];

const FIRST = "SELECT op_name, direction, calls, gpu_total_ns FROM detail ORDER BY gpu_total_ns DESC LIMIT 20";

const FIRST_OF_JOB = "SELECT rank, host, compute_ns, waited_ns, idle_ns FROM ranks ORDER BY compute_ns DESC LIMIT 20";

class Console {
  readonly element: HTMLElement;
  private readonly field = h("textarea", {id: "sql", rows: 6, spellcheck: "false", "aria-label": "SQL"});
  private readonly answer = h("div", {"aria-live": "polite"});
  private readonly run = h("button", {type: "submit", id: "sql-run"}, "Run (Ctrl+Enter)");
  private readonly stop = h(
    "button",
    {type: "button", id: "sql-stop", disabled: true, onclick: () => this.context.database.stop()},
    "Stop",
  );

  constructor(private readonly context: Context) {
    this.field.value = chosen.state.more["sql.text"] ?? (context.facts.job ? FIRST_OF_JOB : FIRST);
    const recipes = context.facts.job ? null : this.recipes(); // the cookbook asks runs
    const form = h("form", {}, recipes, this.field, h("div", {class: "tools"}, this.run, this.stop));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.ask();
    });
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    });
    this.element = h("div", {}, form, this.answer, this.schema());
  }

  private recipes(): HTMLElement {
    const several = this.context.facts.runs.length > 1;
    const select = h("select", {id: "cookbook"}, h("option", {value: ""}, "a question of the cookbook"));
    COOKBOOK.forEach((recipe, i) => {
      if (recipe.sql.includes("ATTACH")) return; // the runs of a page are attached already
      select.append(h("option", {value: i}, recipe.heading));
    });
    select.addEventListener("change", () => {
      const recipe = COOKBOOK[Number(select.value)];
      if (select.value === "" || !recipe) return;
      this.field.value = recipe.sql;
      void this.ask();
    });
    const hint = several ? `Tables of the first run are main.…, of the others run1.…, run2.…` : null;
    return h("div", {class: "tools"}, h("label", {}, "Begin with ", select), hint);
  }

  async ask(): Promise<void> {
    const {database, state} = this.context;
    chosen.keep("sql.text", this.field.value);
    this.stop.disabled = false;
    this.answer.replaceChildren(h("p", {}, "Running …"));
    const before = performance.now();
    try {
      const rows = await database.query(this.field.value.trim().replace(/;\s*$/, ""), [], state.run);
      const took = `${counted(rows.rows.length, "row")} in ${number(Math.round(performance.now() - before))} ms${rows.cut ? "; there are more: add a LIMIT" : ""}`;
      const table = new Table({
        id: "answer",
        caption: "Answer",
        columns: rows.columns.map((name) => ({name, label: name})),
        rows: rows.rows,
        empty: "The answer has no rows.",
      });
      this.answer.replaceChildren(h("p", {class: "count"}, took), table.element);
    } catch (error) {
      this.answer.replaceChildren(
        h("p", {class: "wrong", role: "alert"}, error instanceof Error ? error.message : String(error)),
      );
    }
    this.stop.disabled = true;
  }

  private schema(): HTMLElement {
    const views = Object.entries(this.context.facts.views).map(([name, view]) =>
      h(
        "details",
        {},
        h("summary", {}, name),
        h("p", {}, view.meaning),
        h(
          "ul",
          {class: "columns"},
          ...view.columns.map(([column, unit, meaning]) =>
            h("li", {}, h("code", {}, column), unit ? ` (${unit})` : "", meaning ? ` ${meaning}` : ""),
          ),
        ),
      ),
    );
    return h("section", {"aria-label": "Views"}, h("h2", {}, "Views"), ...views);
  }
}

export const sql: Panel = {
  id: "sql",
  title: "SQL",
  about: "Any question to the database of the run or job. Columns that end in _ns are nanoseconds; NULL means not measured.",
  async show(place, context) {
    const box = new Console(context);
    place.append(box.element);
    if (chosen.state.more["sql.text"] !== undefined) await box.ask();
  },
};
