// A figure over time or over launches, by uPlot.

import uPlot from "uplot";
import {colour, h, redrawn} from "../dom";
import {number} from "../format";

export function series(x: number[], y: number[], xName: string, yName: string, points = false): HTMLElement {
  const words = h("p", {class: "hover", role: "status"}, "Drag to zoom in, double-click to zoom out.");
  const place = h("figure", {class: "series", "aria-label": `${yName} over ${xName}`});
  const say = (u: uPlot): void => {
    const at = u.cursor.idx;
    if (at !== null && at !== undefined) words.textContent = `${xName} ${number(x[at] ?? NaN)}: ${number(y[at] ?? NaN)}`;
  };
  let plot: uPlot | undefined;
  const draw = (): void => {
    plot?.destroy();
    const axis = {stroke: colour("ink"), grid: {stroke: colour("line")}, ticks: {stroke: colour("line")}};
    const line: uPlot.Series = {
      label: yName,
      stroke: colour("c-tc"),
      width: points ? 0 : 1,
      points: {show: points, size: 6, fill: colour("c-tc")},
    };
    if (points) line.paths = () => null;
    plot = new uPlot(
      {
        width: Math.max(200, place.clientWidth),
        height: 220,
        scales: {x: {time: false}},
        axes: [{...axis, label: xName}, axis],
        series: [{label: xName}, line],
        legend: {show: false},
        hooks: {setCursor: [say]},
        cursor: {drag: {x: true, y: false}},
      },
      [x, y],
      place,
    );
  };
  redrawn(place, draw);
  return h("div", {}, place, words);
}
