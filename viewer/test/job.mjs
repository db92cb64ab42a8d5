// What browser.mjs does with the page of a job.

import {click, go, shown} from "./steps.mjs";

const TABLES = ["critical_ranks", "ranks", "stragglers", "rank_ops", "rank_iterations"];

// A picture by keys: what is said of the cell, and where Enter leads.
async function walk({expect, seen}, page, id) {
  await page.focus(`#${id}`);
  for (const key of ["ArrowDown", "ArrowDown", "ArrowRight"]) await page.keyboard.press(key);
  seen.job[id] = await page.$eval(`#${id}`, (canvas) => canvas.parentElement.querySelector(".hover").textContent);
  const before = await page.getAttribute("#main", "data-shown");
  await page.keyboard.press("Enter");
  await page.waitForFunction((old) => document.getElementById("main").dataset.shown !== old, before);
  const rank = /Rank (\d+)/.exec(seen.job[id])?.[1];
  const listed = await page.$$eval("table[data-table=rank_ops] tbody tr", (rows) =>
    rows.map((row) => JSON.parse(row.dataset.key)[0]),
  );
  expect(listed.length > 0 && listed.every((one) => String(one) === rank), `${id}: Enter does not show rank ${rank} alone`);
  await click(page, "#all-ranks");
}

// How many colours a picture has, so that an empty one is seen.
const colours = (page, id) =>
  page.$eval(`#${id}`, (canvas) => {
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", {willReadFrequently: true});
    copy.drawImage(canvas, 0, 0);
    const {data} = copy.getImageData(0, 0, canvas.width, canvas.height);
    const found = new Set();
    for (let i = 0; i < data.length; i += 4) found.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
    return found.size;
  });

export async function visitJob(tools, browser, {file, database}) {
  const {open, takeCells, judge, expect, texts, seen} = tools;
  const page = await open(browser, file, {bypassCSP: true}); // axe comes from outside
  seen.job = {panels: await texts(page, "nav a"), findings: await texts(page, ".findings li")};
  for (const panel of seen.job.panels.keys()) {
    await go(page, `${["ranks", "sql"][panel]}?x=1`);
    expect((await texts(page, "main .wrong")).filter(Boolean).length === 0, `job, panel ${panel}: something is wrong`);
  }
  await go(page, "ranks?x=2");
  await takeCells(page, database, 80);
  seen.job.tables = await page.$$eval("table[data-view]", (tables) => tables.map((table) => table.dataset.view));
  expect(
    TABLES.every((name) => seen.job.tables.includes(name)),
    `tables of a job: ${seen.job.tables}`,
  );
  seen.job.critical = await page.$$eval("table[data-table=critical_ranks] tbody tr", (rows) =>
    rows.map((row) => [...row.cells].map((cell) => cell.textContent)),
  );
  for (const theme of ["light", "dark"]) {
    await page.selectOption("#theme", theme);
    for (const id of ["heat-iterations", "heat-ops"]) expect((await colours(page, id)) > 8, `${id} is empty, ${theme}`);
    await judge(page, `job, ${theme}`, theme === "dark");
  }
  await page.setViewportSize({width: 700, height: 900});
  const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(over <= 0, `ranks is ${over} pixels wider than a screen of 700`);
  await page.click("[data-to=stragglers]");
  expect(await page.evaluate(() => document.activeElement.id === "report-stragglers"), "the link to stragglers leads elsewhere");
  for (const id of ["heat-iterations", "heat-ops"]) await walk(tools, page, id);
  await page.selectOption("[id='ranks.iteration']", "waited_ns");
  await page.waitForFunction(() => /Waited/.test(document.getElementById("heat-iterations").getAttribute("aria-label")));
  const other = await open(browser, file);
  await shown(other, "location.hash = value", await page.evaluate(() => location.hash));
  expect(/Waited/.test(await other.getAttribute("#heat-iterations", "aria-label")), "the address does not keep the figure");
  await other.close();
  seen.done.push("job");
  await page.close();
}
