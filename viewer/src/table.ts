// A table that sorts, filters by regular expression, lets columns be chosen, explains them, and copies itself as CSV. By mouse and by
// keys: arrows go from row to row, Enter chooses one.

import {announce, copyText, h, whenChosen} from "./dom";
import {cellText, counted, csv, heading, number, scaleFor, type Scale} from "./format";
import {str} from "./panel";
import {chosen} from "./state";
import type {Cell, ViewFacts} from "./types";

export interface Column {
  name: string; // in the view
  unit?: string; // base unit; by default the view's
  label?: string;
  help?: string;
  hidden?: boolean; // until somebody asks for it
  absent?: boolean; // rows have no cell for it: it comes after all that have, and `again` is called where it is asked for
  bar?: boolean; // its share of the largest as a bar
  small?: (row: Cell[]) => string; // beside a figure, such as how many launches it is of
  note?: (row: Cell[]) => string; // said of a cell besides its exact value
  text?: (row: Cell[]) => string | undefined; // shown for a cell; where undefined, the cell itself is
  copied?: (row: Cell[]) => string | undefined; // likewise, as CSV
}

export interface TableOptions {
  id: string; // its part of the address
  caption: string;
  view?: ViewFacts;
  columns: Column[]; // the first names the row
  rows: Cell[][]; // a cell a column
  viewName?: string;
  keys?: string[]; // columns that tell rows apart, for links from outside
  isOfView?: (row: Cell[]) => boolean; // none: all rows are
  isChosen?: (row: Cell[]) => boolean;
  choose?: (row: Cell[]) => void; // Enter or a click on a row
  empty?: string; // what is said where there are no rows
  order?: string; // "-gpu_total_ns": falling
  isPart?: boolean; // the others come later
  again?: () => void; // makes the table anew, with the columns that are asked for
}

// The columns of a table that somebody asked for; none: those it begins with.
// How many rows a table begins with where the others take long to fetch; and whether it may: it shows the first in the order of
// the view, and nothing that is sorted or filtered otherwise.
export const FIRST_ROWS = 500;
export const mayBeginInPart = (id: string, order: string): boolean =>
  (chosen.state.more[`${id}.sort`] ?? order) === order && !chosen.state.more[`${id}.filter`];

export const columnsAsked = (id: string): string[] => (chosen.state.more[`${id}.columns`] ?? "").split(",").filter(Boolean);

const AT_ONCE = 50;

const openChoosers = new Set<string>(); // by table, which may be made anew while its columns are being chosen

interface Shown extends Column {
  at: number;
  unit: string;
  help: string;
  label: string;
  scale: Scale;
  numeric: boolean;
  largest: number;
}

function describe(options: TableOptions, column: Column, at: number): Shown {
  const known = options.view?.columns.find(([name]) => name === column.name);
  const unit = column.unit ?? known?.[1] ?? "";
  const numeric = options.rows.some((row) => typeof row[at] === "number");
  const help = column.help ?? known?.[2] ?? "";
  const label = column.label ?? heading(column.name);
  let measured: {scale: Scale; largest: number} | undefined; // only of columns that are shown
  const measure = (): {scale: Scale; largest: number} => {
    const cells = options.rows.map((row) => row[at]).filter((cell): cell is number => typeof cell === "number" && cell !== 0);
    const sizes = Float64Array.from(cells, Math.abs).sort();
    const upper = sizes[Math.floor(sizes.length * 0.9)] ?? 0; // one that is far larger than the others does not set their unit
    const scale = scaleFor(unit, upper);
    // A heading that is the unit says it once.
    const shown = scale.name.toLowerCase() === label.toLowerCase() ? {...scale, name: ""} : scale;
    return {scale: shown, largest: sizes[sizes.length - 1] ?? 0};
  };
  return {
    ...column,
    at,
    unit,
    help,
    numeric,
    label,
    get scale() {
      return (measured ??= measure()).scale;
    },
    get largest() {
      return (measured ??= measure()).largest;
    },
  };
}

const kindOf = (column: Shown, text: string): string => (column.numeric ? "number" : text.length > 32 ? "text long" : "text");

function compare(a: Cell | undefined, b: Cell | undefined): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "number") return 1;
  if (typeof b === "number") return -1;
  return String(a ?? "").localeCompare(String(b ?? ""), "en", {numeric: true});
}

export class Table {
  readonly element: HTMLElement;
  private readonly columns: Shown[];
  private readonly body = h("tbody");
  private readonly head = h("thead");
  private readonly count = h("p", {class: "count"});
  private readonly more = h("button", {type: "button", class: "more", onclick: () => this.grow()});
  private readonly wrong = h("p", {class: "wrong", role: "alert"});
  private visible: Shown[] = [];
  private matching: Cell[][] = [];
  private drawn = 0;
  private order: string;
  private active = 0;

  constructor(private readonly options: TableOptions) {
    this.columns = options.columns.map((column, at) => describe(options, column, at));
    this.order = chosen.state.more[`${options.id}.sort`] ?? options.order ?? "";
    this.chooseColumns(columnsAsked(options.id));
    const table = h(
      "table",
      {
        "data-table": options.id,
        "data-view": options.viewName,
        "data-keys": options.keys?.join(","),
        "aria-label": options.caption,
      },
      this.head,
      this.body,
    );
    table.addEventListener("keydown", (event) => this.onKey(event));
    this.element = h(
      "div",
      {class: "table"},
      this.tools(),
      this.wrong,
      h("div", {class: "scroll"}, table),
      this.count,
      this.more,
    );
    this.filter(chosen.state.more[`${options.id}.filter`] ?? "");
    if (options.isChosen) whenChosen(this.element, () => this.mark());
  }

  private mark(): void {
    [...this.body.rows].forEach((element, i) => {
      const row = this.matching[i];
      const isChosen = row !== undefined && (this.options.isChosen?.(row) ?? false);
      element.classList.toggle("chosen", isChosen);
      element.querySelector(".pick")?.setAttribute("aria-pressed", String(isChosen));
    });
  }

  private chooseColumns(names: string[]): void {
    const present = this.columns.filter((column) => !column.absent);
    this.visible = present.filter((column) => (names.length > 0 ? names.includes(column.name) : !column.hidden));
    if (this.visible.length === 0) this.visible = this.columns.slice(0, 1);
  }

  private tools(): HTMLElement {
    const field = h("input", {
      id: `${this.options.id}-filter`, // by which the focus finds it again
      type: "search",
      placeholder: "Filter: a regular expression",
      "aria-label": `Filter rows of ${this.options.caption} by regular expression`,
      spellcheck: "false",
    });
    field.value = chosen.state.more[`${this.options.id}.filter`] ?? "";
    field.addEventListener("input", () => {
      chosen.keep(`${this.options.id}.filter`, field.value);
      this.filter(field.value);
    });
    const copy = h("button", {type: "button", onclick: () => void this.copy()}, "Copy as CSV");
    return h("div", {class: "tools"}, field, copy, this.chooser());
  }

  // Which columns are shown, and what each of them means.
  private chooser(): HTMLElement {
    const list = h("ul", {class: "columns"});
    const details = h("details", {}, h("summary", {}, "Columns and what they mean"), list);
    const fill = (): void => {
      if (list.childElementCount > 0) return;
      for (const column of this.columns) {
        const box = h("input", {type: "checkbox"});
        box.checked = this.visible.includes(column);
        box.addEventListener("change", () => {
          const names = this.columns
            .filter((one) => (one === column ? box.checked : this.visible.includes(one)))
            .map((one) => one.name);
          chosen.keep(`${this.options.id}.columns`, names.join(","));
          if (column.absent) return this.options.again?.();
          this.chooseColumns(names);
          this.draw();
        });
        const unit = column.unit ? ` (${column.unit})` : "";
        list.append(
          h("li", {}, h("label", {}, box, ` ${column.label}${unit}`), column.help ? h("span", {}, ` ${column.help}`) : null),
        );
      }
    };
    details.open = openChoosers.has(this.options.id);
    if (details.open) fill();
    details.addEventListener("toggle", () => {
      if (details.open) openChoosers.add(this.options.id);
      else openChoosers.delete(this.options.id);
      if (details.open) fill();
    });
    return details;
  }

  filter(pattern: string): void {
    this.wrong.textContent = "";
    let test: RegExp | undefined;
    try {
      test = pattern === "" ? undefined : new RegExp(pattern, "i");
    } catch (error) {
      this.wrong.textContent = `Not a regular expression: ${error instanceof Error ? error.message : pattern}`;
      return;
    }
    const texts = this.columns.filter((column) => !column.numeric);
    const looked = texts.length > 0 ? texts : this.columns.slice(0, 1);
    const has = (words: Cell | undefined): boolean => test === undefined || test.test(String(words ?? ""));
    this.matching = this.options.rows.filter(
      (row) => !test || looked.some((column) => has(row[column.at]) || (column.text !== undefined && has(column.text(row)))),
    );
    this.sort();
  }

  private sort(): void {
    const falling = this.order.startsWith("-");
    const column = this.columns.find((one) => one.name === this.order.replace(/^-/, ""));
    if (column) {
      const sign = falling ? -1 : 1;
      this.matching = [...this.matching].sort((a, b) => {
        const [x, y] = [column.text?.(a) ?? a[column.at], column.text?.(b) ?? b[column.at]];
        if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1; // what was not measured comes last
        return sign * compare(x, y);
      });
    }
    this.draw();
  }

  private orderBy(column: Shown): void {
    const first = column.numeric ? `-${column.name}` : column.name;
    const second = column.numeric ? column.name : `-${column.name}`;
    this.order = this.order === first ? second : first;
    chosen.keep(`${this.options.id}.sort`, this.order);
    this.sort();
    this.head.querySelector<HTMLElement>(`[data-column="${CSS.escape(column.name)}"] button`)?.focus();
  }

  private draw(): void {
    this.head.replaceChildren(h("tr", {}, ...this.visible.map((column) => this.headCell(column))));
    this.body.replaceChildren();
    this.drawn = 0;
    this.active = 0;
    this.grow();
    if (this.matching.length === 0)
      this.body.append(
        h(
          "tr",
          {},
          h(
            "td",
            {colspan: this.visible.length, class: "none"},
            this.options.rows.length === 0 ? (this.options.empty ?? "Nothing was recorded.") : "No row matches the filter.",
          ),
        ),
      );
  }

  private headCell(column: Shown): HTMLElement {
    const sorted =
      this.order.replace(/^-/, "") === column.name ? (this.order.startsWith("-") ? "descending" : "ascending") : undefined;
    const button = h(
      "button",
      {type: "button", title: column.help || column.label, onclick: () => this.orderBy(column)},
      column.label,
      column.scale.name ? h("small", {}, ` ${column.scale.name}`) : null,
    );
    return h(
      "th",
      {
        scope: "col",
        "data-column": column.name,
        "data-unit": column.unit,
        "data-factor": column.scale.factor,
        "aria-sort": sorted,
        class: column.numeric ? "number" : undefined,
      },
      button,
    );
  }

  private grow(): void {
    const piece = this.matching.slice(this.drawn, this.drawn + AT_ONCE);
    const rows = document.createDocumentFragment();
    piece.forEach((row, i) => rows.append(this.rowOf(row, this.drawn + i)));
    this.body.append(rows);
    this.drawn += piece.length;
    const all = this.options.rows.length;
    this.count.textContent =
      this.matching.length === all ? counted(all, "row") : `${number(this.matching.length)} of ${counted(all, "row")}`;
    if (this.options.isPart) this.count.append(", and more to come");
    const left = this.matching.length - this.drawn;
    this.more.hidden = left <= 0;
    this.more.textContent = `Show ${number(Math.min(AT_ONCE, left))} more`;
  }

  private rowOf(row: Cell[], index: number): HTMLElement {
    const isChosen = this.options.isChosen?.(row) ?? false;
    const cells = this.visible.map((column, i) => this.cellOf(row, column, i, index, isChosen));
    const names = this.options.isOfView?.(row) === false ? undefined : this.options.keys;
    const keys = names?.map((name) => row[this.columns.findIndex((column) => column.name === name)] ?? null);
    const element = h(
      "tr",
      {class: isChosen ? "chosen" : undefined, "data-key": keys ? JSON.stringify(keys) : undefined},
      ...cells,
    );
    if (this.options.choose) {
      element.classList.add("choosable");
      element.addEventListener("click", (event) => {
        if (getSelection()?.toString() && !(event.target as Element).closest("button")) return; // somebody marks text
        this.options.choose?.(row);
      });
    }
    return element;
  }

  private cellOf(row: Cell[], column: Shown, place: number, index: number, isChosen: boolean): HTMLElement {
    const cell = row[column.at];
    const own = column.text?.(row);
    const text = own ?? cellText(cell, column.unit, column.scale);
    const isScaled = typeof cell === "number" && column.scale.factor !== 1;
    const exact = isScaled ? `${cell} ${column.unit}` : typeof cell === "string" && own === undefined ? cell : "";
    const value = own === undefined ? undefined : str(cell);
    const title = [exact, column.note?.(row)].filter(Boolean).join("; ") || undefined;
    if (place === 0 && this.options.choose) {
      const button = h(
        "button",
        {
          type: "button",
          class: "pick",
          "aria-pressed": isChosen ? "true" : "false",
          tabindex: index === this.active ? 0 : -1,
          title,
        },
        text || "(no name)",
      );
      return h("th", {scope: "row", class: kindOf(column, text), "data-value": value}, button);
    }
    const element = h(place === 0 ? "th" : "td", {title, class: kindOf(column, text), "data-value": value}, text);
    if (place === 0) element.setAttribute("scope", "row");
    if (column.small && text !== "") element.append(h("small", {}, ` ${column.small(row)}`));
    if (column.bar && typeof cell === "number" && column.largest > 0) {
      element.classList.add("bar");
      element.style.setProperty("--share", `${(100 * Math.abs(cell)) / column.largest}%`);
    }
    return element;
  }

  private onKey(event: KeyboardEvent): void {
    const buttons = [...this.body.querySelectorAll<HTMLElement>("button.pick")];
    const at = buttons.indexOf(document.activeElement as HTMLElement);
    if (at < 0) return;
    const steps: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      Home: 0,
      End: buttons.length - 1,
      PageDown: at + 10,
      PageUp: at - 10,
    };
    const to = steps[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = buttons[Math.max(0, Math.min(buttons.length - 1, to))];
    buttons[this.active]?.setAttribute("tabindex", "-1");
    this.active = next ? buttons.indexOf(next) : 0;
    next?.setAttribute("tabindex", "0");
    next?.focus();
  }

  private async copy(): Promise<void> {
    const rows = this.matching.map((row) => this.visible.map((column) => column.copied?.(row) ?? row[column.at] ?? null));
    await copyText(
      csv(
        this.visible.map((column) => column.name),
        rows,
      ),
    );
    announce(`Copied ${counted(rows.length, "row")}`);
  }
}
