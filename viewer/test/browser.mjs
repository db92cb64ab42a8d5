// Opens pages in a real browser and does what people do with them: node browser.mjs <chromium> <plan.json>. Prints what it saw as JSON;
// tests/e2e/read/test_view.py makes the pages and judges it.

import {readFileSync} from "node:fs";
import {createRequire} from "node:module";
import {chromium} from "playwright-core";

import {visitJob} from "./job.mjs";
import {chooseKind, ofOneKind} from "./kinds.mjs";
import {lacksDeviation, lacksMetric} from "./lacks.mjs";
import {readLines} from "./lines.mjs";
import {PANELS, click, go, shown} from "./steps.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const [, , executablePath, planFile] = process.argv;
const plan = JSON.parse(readFileSync(planFile, "utf8"));
const seen = {faults: [], cells: [], axe: [], done: []};

// The same cells in every run of the test.
let random = 20211;
const draw = (below) => (random = (random * 1103515245 + 12345) % 2147483648) % below;

async function open(browser, file, options = {}) {
  const page = await browser.newPage({viewport: {width: 1300, height: 900}, bypassCSP: options.bypassCSP ?? false, ...options});
  const fault = (words) => seen.faults.push(`${file}: ${words}`);
  page.on(
    "console",
    (message) =>
      ["error", "warning"].includes(message.type()) &&
      !/status of 400/.test(message.text()) &&
      fault(`console: ${message.text()}`),
  );
  page.on("pageerror", (error) => fault(`error: ${error.message}`));
  page.on("dialog", (dialog) => (fault(`dialog: ${dialog.message()}`), dialog.dismiss()));
  page.on("request", (request) => {
    const own = request.url().split("#")[0] === `file://${file}` || /^(data|blob):/.test(request.url());
    if (!own && !options.served) fault(`request: ${request.url()}`);
  });
  await page.goto(options.served ?? `file://${file}`);
  await page.waitForSelector("main section");
  return page;
}

// Some cells of every table that says which view it shows.
async function takeCells(page, database, most) {
  const cells = await page.$$eval("table[data-view][data-keys]", (tables) =>
    tables.flatMap((table) => {
      const heads = [...table.tHead.rows[0].cells];
      return [...table.tBodies[0].rows]
        .filter((row) => row.dataset.key)
        .flatMap((row) =>
          [...row.cells].map((cell, i) => ({
            view: table.dataset.view,
            keys: table.dataset.keys.split(","),
            key: JSON.parse(row.dataset.key),
            column: heads[i].dataset.column,
            unit: heads[i].dataset.unit,
            factor: Number(heads[i].dataset.factor),
            text:
              cell.dataset.value ??
              [...cell.childNodes].map((node) => (node.nodeName === "SMALL" ? "" : node.textContent)).join(""),
            shown: cell.textContent,
            title: (cell.querySelector("button") ?? cell).title,
            beside: cell.querySelector("small")?.textContent ?? "",
          })),
        );
    }),
  );
  for (let i = 0; i < most && cells.length > 0; ++i) seen.cells.push({database, ...cells.splice(draw(cells.length), 1)[0]});
}

// Whom the page leaves out. All that colours change is contrast.
async function judge(page, what, contrastAlone) {
  await page.evaluate(axe);
  const options = {resultTypes: ["violations"], ...(contrastAlone ? {runOnly: ["color-contrast"]} : {})};
  const found = await page.evaluate(
    async (asked) =>
      (await window.axe.run(document, asked)).violations.map((one) => ({
        id: one.id,
        impact: one.impact,
        nodes: one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)),
      })),
    options,
  );
  for (const one of found) if (["serious", "critical"].includes(one.impact)) seen.axe.push({what, ...one});
}

const expect = (condition, words) => condition || seen.faults.push(words);
const texts = (page, selector) => page.$$eval(selector, (all) => all.map((one) => one.textContent.trim()));

// Every panel of every page.
async function visit(browser, {file, database, config}) {
  const page = await open(browser, file);
  for (const panel of PANELS) {
    await go(page, panel === "overview" ? "overview?x=1" : panel);
    const wrong = (await texts(page, "main .wrong")).filter(Boolean);
    expect(wrong.length === 0, `${file} ${panel}: ${wrong.join("; ")}`);
    expect((await page.textContent("main h1")) !== "", `${file} ${panel}: no heading`);
    await takeCells(page, database, 12);
  }
  if (config !== null) {
    await go(page, `kernels?config=${config}`);
    await takeCells(page, database, 20);
  }
  seen.done.push(`visit ${file}`);
  await page.close();
}

// A row chosen in one panel filters the next; filter, order, columns, CSV; and the address leads back.
async function useTables(browser, {file}) {
  const page = await open(browser, file);
  await go(page, "ops");
  const order = () => texts(page, "table[data-table=ops] tbody tr td[class*=bar]");
  await page.hover(".icicle canvas", {position: {x: 200, y: 30}});
  await page.waitForFunction(() => /: [\d.,]+ m?s, [\d.]+ % of all/.test(document.querySelector(".icicle .hover").textContent));
  const falling = await order();
  const numbers = falling.map((text) => Number(text.replaceAll(",", "")));
  expect(
    numbers.length > 10 && numbers.every((value, i) => i === 0 || value <= numbers[i - 1]),
    "ops are not by GPU time, falling",
  );
  await page.click("table[data-table=ops] th[data-column=gpu_total_ns] button");
  expect(
    Number((await order())[0].replaceAll(",", "")) <= Number(falling.at(-1).replaceAll(",", "")),
    "the other order is not shown",
  );
  await page.fill("main .table input[type=search]", "convolution_backward");
  const filtered = await texts(page, "table[data-table=ops] tbody th");
  expect(
    filtered.length > 0 &&
      (await texts(page, "table[data-table=ops] tbody tr")).every((text) => /convolution_backward/.test(text)),
    "the filter keeps other rows",
  );
  await page.fill("main .table input[type=search]", "(");
  expect(/Not a regular expression/.test(await page.textContent("main .wrong")), "a pattern that is none is not told");
  await page.fill("main .table input[type=search]", "convolution_backward");
  await click(page, "table[data-table=ops] .pick");
  expect((await page.getAttribute("table[data-table=ops] .pick", "aria-pressed")) === "true", "the chosen op is not marked");
  const op = await page.evaluate(() => new URLSearchParams(location.hash.split("?")[1]).get("op"));
  await click(page, "nav a[data-panel=kernels]");
  const kernels = await page.$$eval("table[data-table=kernels] tbody tr", (rows) =>
    rows.map((row) => JSON.parse(row.dataset.key)[0]),
  );
  expect(kernels.length > 0 && kernels.every((id) => id === op), "kernels are not those of the chosen op");
  const address = await page.evaluate(() => location.hash);
  const again = await open(browser, file);
  await go(again, address.slice(1));
  expect(/Op /.test(await again.textContent(".chip")), "the address does not lead back to the op");
  await again.close();
  await click(page, "table[data-table=kernels] .pick");
  await click(page, "table[data-table=configs] .pick");
  expect((await texts(page, "section.config h2")).length === 1, "the page of a configuration is not there");
  await go(page, "ops?op=" + encodeURIComponent(op));
  await page.click("main .table details summary");
  await page.click("main .columns label:has-text('CPU max')");
  await page
    .waitForSelector("table[data-table=ops] th[data-column=cpu_max_ns]", {timeout: 5000})
    .catch(() => expect(false, "a column that was asked for is not shown"));
  expect((await page.textContent(".table .columns")).includes("Length on the CPU."), "columns are not explained");
  seen.done.push("tables");
  await page.close();
}

// Another key node parts iterations anew.
async function chooseKeyNode(page) {
  await go(page, "iterations?key=0&again=1");
  const before = await texts(page, "main .count");
  const names = await texts(page, "#key-node option");
  expect(names.length >= 2, "no other key node is offered");
  await page.selectOption("#key-node", {index: 1});
  await page.waitForSelector(".chip");
  const key = await page.inputValue("#key-node");
  const found = Number(/\((\d+) times/.exec(names[1])[1]);
  seen.keyNode = {name: names[1].replace(/ \(.*/, ""), found, iterations: await texts(page, "main .count"), before};
  await go(page, `ops?key=${key}`);
  seen.keyNode.view = await page.getAttribute("table[data-table=ops]", "data-view");
  seen.keyNode.ops = await page.$$eval("table[data-table=ops] tbody tr", (rows) => rows.length);
  await click(page, ".chip");
}

// Overview, ops and kernels are those of a range of iterations.
async function chooseRange(browser, {file, database}) {
  const page = await open(browser, file);
  await go(page, "iterations");
  await page.fill("#range-from", "3");
  await page.fill("#range-to", "7");
  await click(page, "#range-use");
  expect(/Iterations 3 to 7/.test(await page.textContent(".chip")), "the range is not shown as chosen");
  await click(page, "nav a[data-panel=ops]");
  const before = seen.cells.length;
  await takeCells(page, database, 30);
  expect(
    seen.cells.length > before && seen.cells.slice(before).every((cell) => cell.view === "page_steps"),
    "ops are not of the range",
  );
  seen.cells.slice(before).forEach((cell) => (cell.range = [3, 7]));
  await click(page, "nav a[data-panel=overview]");
  seen.range = Object.fromEntries(
    await page.$$eval("main .facts > div", (all) =>
      all.map((one) => [one.querySelector("dt").textContent, one.querySelector("dd").textContent]),
    ),
  );
  const notes = () => texts(page, "main .hint");
  expect(
    (await notes()).some((words) => /^Findings are .*, not of the iterations chosen/.test(words)),
    "what findings are of is not said",
  );
  await click(page, "nav a[data-panel=coverage]");
  expect(
    (await notes()).some((words) => /^Coverage is .*, not of the iterations chosen/.test(words)),
    "what coverage is of is not said",
  );
  await click(page, ".chip");
  expect(!(await notes()).some((words) => /iterations chosen/.test(words)), "a range is spoken of where none is chosen");
  await click(page, "nav a[data-panel=ops]");
  expect((await page.getAttribute("table[data-table=ops]", "data-view")) === "detail", "the range is not let go");
  await chooseKeyNode(page);
  const box = await page.evaluate(
    () => (
      (location.hash = "#iterations"),
      new Promise((resolve) =>
        setTimeout(() => {
          const r = document.getElementById("iteration-bars").getBoundingClientRect();
          resolve([r.left, r.top, r.width, r.height]);
        }, 400),
      )
    ),
  );
  await page.mouse.move(box[0] + box[2] * 0.3, box[1] + 60);
  await page.mouse.down();
  await page.mouse.move(box[0] + box[2] * 0.6, box[1] + 60, {steps: 4});
  await page.mouse.up();
  await page.waitForSelector(".chip");
  expect(/Iterations \d+ to \d+/.test(await page.textContent(".chip")), "dragging chooses no range");
  seen.done.push("range");
  await page.close();
}

async function askSql(browser, {file}) {
  const page = await open(browser, file);
  await go(page, "sql");
  await page.fill("#sql", "SELECT count(*) AS n FROM kernels");
  await page.click("#sql-run");
  await page.waitForSelector("table[data-table=answer]");
  seen.sql = Number((await page.textContent("table[data-table=answer] tbody th")).replaceAll(",", ""));
  expect((await page.textContent("main")).includes("1 row in"), "one row is not called a row");
  await page.fill("#sql", "SELECT x FROM nowhere");
  await page.click("#sql-run");
  await page.waitForSelector("[role=alert]:has-text('nowhere')");
  await page.fill("#sql", "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n");
  await page.click("#sql-run");
  await page.waitForSelector("#sql-stop:not([disabled])");
  await page.click("#sql-stop");
  await page.waitForSelector("[role=alert]:has-text('stopped')");
  await page.evaluate(() => ["run", "stop"].forEach((act) => document.getElementById(`sql-${act}`).click())); // while it opens anew
  await page.waitForSelector("[role=alert]:has-text('stopped')");
  await page.selectOption("#cookbook", {index: 5});
  await page.waitForSelector("table[data-table=answer] tbody th");
  seen.done.push("sql");
  await page.close();
}

// From the first Tab to the page of a configuration, without a mouse.
async function useKeys(browser, {file}) {
  const page = await open(browser, file);
  await page.keyboard.press("Tab");
  expect(/Skip/.test(await page.evaluate(() => document.activeElement.textContent)), "the first Tab does not offer the panel");
  await page.keyboard.press("Enter");
  await page.keyboard.press("3");
  await page.waitForFunction(() => /^ops /.test(document.getElementById("main").dataset.shown));
  await page.focus("table[data-table=ops] .pick");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  expect(
    (await page.evaluate(() => [...document.querySelectorAll("table[data-table=ops] .pick")].indexOf(document.activeElement))) ===
      2,
    "arrows do not go from row to row",
  );
  await page.keyboard.press("Enter");
  await page.waitForSelector(".chip");
  await page.keyboard.press("4");
  await page.waitForFunction(() => /^kernels /.test(document.getElementById("main").dataset.shown));
  await page.focus("table[data-table=kernels] .pick");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelectorAll(".chip").length === 2);
  expect(await page.evaluate(() => document.activeElement.className === "pick"), "the focus is lost when a row is chosen");
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => document.querySelectorAll(".chip").length === 0);
  await page.keyboard.press("/");
  expect(await page.evaluate(() => document.activeElement.type === "search"), "/ does not go to the filter");
  seen.done.push("keys");
  await page.close();
}

// By keys and by mouse; what is drawn changes.
async function useTimeline(browser, {file}) {
  const page = await open(browser, file);
  await go(page, "timeline");
  await page.waitForSelector("#timeline[data-loaded]");
  const view = () => page.evaluate(() => new URLSearchParams(location.hash.split("?")[1]).get("timeline.view"));
  const pixels = () =>
    page.evaluate(
      () =>
        new Promise((resolve) =>
          requestAnimationFrame(() => setTimeout(() => resolve(document.getElementById("timeline").toDataURL().length))),
        ),
    );
  const whole = await pixels();
  await page.focus("#timeline");
  for (const key of ["ArrowUp", "ArrowUp", "ArrowRight"]) await page.keyboard.press(key);
  const zoomed = await view();
  expect(/^\d+-\d+$/.test(zoomed ?? "") && (await pixels()) !== whole, "keys do not zoom");
  await page.fill("#timeline-iteration", "4");
  await page.press("#timeline-iteration", "Enter");
  expect((await view()) !== zoomed, "an iteration cannot be gone to");
  await page.fill("#timeline-search", "conv");
  await page.press("#timeline-search", "Enter");
  expect(/conv/i.test(await page.textContent("main .hover")), "a match is not told");
  expect(/[1-9].* events/.test(await page.textContent("main .tools .count")), "matches are not counted");
  seen.done.push("timeline");
  await page.close();
}

async function look(browser, {file}) {
  for (const colorScheme of ["light", "dark"]) {
    const page = await open(browser, file, {colorScheme, bypassCSP: true}); // axe comes from outside
    for (const panel of PANELS) {
      await go(page, `${panel}?look=1`);
      await judge(page, `${panel}, ${colorScheme}`, colorScheme === "dark");
    }
    if (colorScheme === "dark")
      expect(
        (await page.evaluate(() => getComputedStyle(document.body).backgroundColor)) === "rgb(20, 23, 27)",
        "dark is not dark",
      );
    await page.close();
  }
  const page = await open(browser, file, {viewport: {width: 700, height: 900}});
  for (const panel of PANELS) {
    await go(page, `${panel}?narrow=1`);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(over <= 0, `${panel} is ${over} pixels wider than a screen of 700`);
  }
  await page.emulateMedia({media: "print"});
  expect(!(await page.isVisible("nav")) && (await page.isVisible("main h1")), "printing shows what cannot be used on paper");
  expect((await page.pdf()).length > 10_000, "nothing is printed");
  seen.done.push("look");
  await page.close();
}

// Names that a hostile database brings are text, wherever they are shown.
async function meetHostile(browser, {file}) {
  const page = await open(browser, file);
  let met = 0;
  for (const panel of PANELS) {
    await go(page, `${panel}?hostile=1`);
    met += (await page.textContent("main")).includes("<script>alert(1)</script>") ? 1 : 0;
    expect((await page.$$("main script, main img, main iframe")).length === 0, `${panel}: markup of a name became elements`);
  }
  expect(met >= 3, `the hostile name was shown in ${met} panels only`);
  expect((await page.title()).includes("<b>"), "the title is not text");
  seen.done.push("hostile");
  await page.close();
}

async function compareRuns(browser, {file}) {
  const page = await open(browser, file);
  await go(page, "compare");
  seen.compare = await page.$$eval("table[data-table=compare] tbody tr", (rows) =>
    rows.slice(0, 40).map((row) => [JSON.parse(row.dataset.key)[0], ...[...row.cells].slice(1).map((cell) => cell.textContent)]),
  );
  expect(
    /An iteration takes .* with cifar10_b4 and .* with cifar10_b512/.test(await page.textContent("section.words")),
    "what changed is not said in words",
  );
  seen.compareUnit = await page.$eval("table[data-table=compare] th[data-column=first_ns]", (head) =>
    Number(head.dataset.factor),
  );
  await page.selectOption("#run", {index: 1});
  await go(page, "overview");
  expect((await page.textContent("main .verdict")) !== "", "the other run has no overview");
  seen.done.push("compare");
  await page.close();
}

// From a server: the same panels, and no request to anybody else.
async function visitServed(browser, {file, served}) {
  const page = await open(browser, file, {served});
  page.on(
    "request",
    (request) => request.url().startsWith(served) || /^data:/.test(request.url()) || seen.faults.push(`served: ${request.url()}`),
  );
  for (const panel of PANELS) {
    await go(page, panel === "overview" ? "overview?x=1" : panel);
    const wrong = (await texts(page, "main .wrong")).filter(Boolean);
    expect(wrong.length === 0, `served ${panel}: ${wrong.join("; ")}`);
  }
  await page.fill("#sql", "DELETE FROM op");
  await page.click("#sql-run");
  await page.waitForSelector("[role=alert]:has-text('not authorized')");
  seen.done.push("served");
  await page.close();
}

const browser = await chromium.launch({executablePath, args: ["--no-sandbox", "--disable-gpu"]});
try {
  const outside =
    (visit) =>
    (...page) =>
      visit({open, takeCells, judge, expect, texts, seen}, ...page);
  const steps = {
    visit,
    useTables,
    chooseRange,
    askSql,
    useKeys,
    useTimeline,
    look,
    meetHostile,
    compareRuns,
    visitServed,
    ofJob: outside(visitJob),
    chooseKind: outside(chooseKind),
    ofOneKind: outside(ofOneKind),
    lacksMetric: outside(lacksMetric),
    lacksDeviation: outside(lacksDeviation),
    readLines: outside(readLines),
  };
  for (const [step, page] of plan) {
    try {
      await steps[step](browser, page);
    } catch (error) {
      seen.faults.push(`${step} ${page.file}: ${error.stack ?? error}`);
    }
  }
} finally {
  await browser.close();
}
process.stdout.write(JSON.stringify(seen));
