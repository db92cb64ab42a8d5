// How quick a page is: node bench.mjs <chromium> <page.html> [<runs>] [<trace.json>]. Prints minima and medians over so many
// runs (5) as JSON, in milliseconds, from what is done to the frame on the screen that shows it. With the same run as Chrome JSON (dlkprof export --format kineto) also what any viewer of that format has to do
// before its first picture: parse it, sort its events by track, and draw them once. Nothing else should run on the machine.

import {readFileSync, statSync} from "node:fs";
import {loadavg} from "node:os";
import {chromium} from "playwright-core";

import {PANELS, click, go, shown} from "./steps.mjs";

const [, , executablePath, file, runs = "5", trace] = process.argv;
const figures = {};
const add = (name, value) => (figures[name] ??= []).push(value);
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

const inside = (page, source) => shown(page, source, undefined, true);

async function useTable(page) {
  if (!(await page.$("table[data-table=ops] .pick"))) return;
  add("choose an op", await click(page, "table[data-table=ops] .pick"));
  add("let go of it", await click(page, ".chip"));
  const sort = "document.querySelector('table[data-table=ops] th[data-column=calls] button').click()";
  add("sort", await inside(page, sort));
  const filter =
    "const f = document.querySelector('main .table input[type=search]'); f.value = value; f.dispatchEvent(new Event('input'))";
  add("filter", await inside(page, filter.replace("value;", "'conv|mm';")));
  await inside(page, filter.replace("value;", "'';"));
  for (const by of ["layer", "type", "op"]) {
    const act = `const s = document.getElementById('ops-by'); s.value = '${by}'; s.dispatchEvent(new Event('change'))`;
    add(`ops by ${by}`, await shown(page, act));
  }
}

async function useIterations(page) {
  await go(page, "iterations");
  const last = Number(await page.getAttribute("#range-to", "max"));
  const [from, to] = [Math.floor(last * 0.3), Math.floor(last * 0.7)];
  for (const panel of ["iterations", "overview", "ops", "kernels"])
    add(`range: ${panel}`, await go(page, `${panel}?from=${from}&to=${to}`));
  await go(page, "iterations");
  if ((await page.$$("#key-node option")).length > 1) add("another key node: ops", await go(page, "ops?key=1"));
  await go(page, "overview?z=1");
}

// Zooms in and out for a second, a step a frame.
async function zoom(page) {
  await page.waitForSelector("#timeline[data-loaded]", {timeout: 5000}).catch(() => undefined);
  const frames = await page.evaluate(
    () =>
      new Promise((resolve) => {
        const start = performance.now();
        let count = 0;
        const step = () => {
          if (performance.now() - start > 1000) return resolve((1000 * count) / (performance.now() - start));
          document.getElementById(count++ % 24 < 12 ? "zoom-in" : "zoom-out").click();
          requestAnimationFrame(step);
        };
        requestAnimationFrame(step);
      }),
  );
  add("zoom, frames a second", frames);
}

async function once(browser) {
  const page = await browser.newPage({viewport: {width: 1300, height: 900}});
  const start = performance.now();
  await page.goto(`file://${file}`);
  await page.waitForSelector("main section");
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  add("first picture", performance.now() - start);
  for (const panel of PANELS.slice(1)) add(`panel ${panel}`, await go(page, panel));
  add("panel overview", await go(page, "overview"));
  await go(page, "ops");
  await useTable(page);
  await useIterations(page);
  await go(page, "timeline");
  await zoom(page);
  await page.close();
}

async function baseline(browser) {
  const page = await browser.newPage();
  await page.setContent("<input type=file><canvas width=1300 height=900></canvas>");
  await page.setInputFiles("input", trace);
  const ms = await page.evaluate(async () => {
    const start = performance.now();
    const {traceEvents} = JSON.parse(await document.querySelector("input").files[0].text());
    const tracks = new Map();
    for (const event of traceEvents) {
      if (event.ph !== "X") continue;
      const key = `${event.pid} ${event.tid}`;
      if (!tracks.has(key)) tracks.set(key, []);
      tracks.get(key).push(event);
    }
    let [first, last] = [Infinity, 0];
    for (const events of tracks.values()) {
      events.sort((a, b) => a.ts - b.ts);
      first = Math.min(first, events[0].ts);
      last = Math.max(last, events.at(-1).ts + (events.at(-1).dur ?? 0));
    }
    const context = document.querySelector("canvas").getContext("2d");
    let y = 0;
    for (const events of tracks.values()) {
      for (const {ts, dur} of events)
        context.fillRect((1300 * (ts - first)) / (last - first), y, Math.max(1, (1300 * (dur ?? 0)) / (last - first)), 12);
      y += 14;
    }
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    return performance.now() - start;
  });
  add("baseline: Chrome JSON, first picture", ms);
  await page.close();
}

const browser = await chromium.launch({executablePath, args: ["--no-sandbox", "--disable-gpu"]});
try {
  for (let i = 0; i < Number(runs); ++i) {
    await once(browser);
    if (trace) await baseline(browser);
  }
} finally {
  await browser.close();
}
const bytes = {page: statSync(file).size, ...(trace ? {trace: readFileSync(trace).length} : {})};
const each = (figure) =>
  Object.fromEntries(Object.entries(figures).map(([name, values]) => [name, Math.round(10 * figure(values)) / 10]));
const [medians, minima] = [each(median), each((values) => Math.min(...values))];
process.stdout.write(`${JSON.stringify({file, runs: Number(runs), bytes, load: loadavg()[0], minima, medians}, null, 1)}\n`);
