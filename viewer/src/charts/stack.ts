// Parts of a whole: one bar, and beside it each part with its figure. The figures stand in text as well, so that no colour has to be
// told from another.

import {h} from "../dom";
import {quantity} from "../format";

export interface Part {
  name: string;
  value: number;
  unit: string;
  colour: string; // custom property of the style sheet
  help?: string;
}

// `whole`: what the bar's length stands for; by default the sum of its parts.
export function stack(title: string, parts: Part[], whole?: number): HTMLElement {
  const all = whole ?? parts.reduce((sum, part) => sum + part.value, 0);
  const bar = h("div", {class: "stack", "aria-hidden": "true"});
  const list = h("ul", {class: "legend"});
  for (const part of parts) {
    const piece = h("span", {title: `${part.name}: ${quantity(part.value, part.unit)}`});
    piece.style.width = all > 0 ? `${(100 * part.value) / all}%` : "0";
    piece.style.background = `var(--${part.colour})`;
    bar.append(piece);
    const mark = h("span", {class: "mark"});
    mark.style.background = `var(--${part.colour})`;
    list.append(h("li", {title: part.help}, mark, h("span", {}, part.name), h("b", {}, quantity(part.value, part.unit))));
  }
  return h("figure", {class: "card", "aria-label": title}, h("figcaption", {}, title), bar, list);
}
