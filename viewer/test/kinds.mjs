// Pages of runs whose iterations are of several kinds: browser.mjs opens them.

import {click, go} from "./steps.mjs";

const parameter = (page, name) => page.evaluate((one) => new URLSearchParams(location.hash.split("?")[1]).get(one), name);
const hints = (page, within = "main") => page.$$eval(`${within} .hint`, (all) => all.map((one) => one.textContent));
const NOT_OF_RANGE = /^This table is of .*, not of the iterations chosen/;

// An iteration of another kind than the chosen one lets go of the kind; of more, it is said that none are of it.
async function meetOtherKind(page, expect, kind) {
  const rows = await page.$$eval("table[data-table=iterations] tbody tr[data-key]", (all) =>
    all.map((row) => [
      JSON.parse(row.dataset.key)[0],
      row.textContent.includes("kind 2") ? 2 : row.textContent.includes("kind 1") ? 1 : 0,
    ]),
  );
  const [other] = rows.find(([iteration, of]) => iteration > 4 && of === 1);
  const expectOther = async (how) => {
    expect((await parameter(page, "from")) === String(other), `${how} does not choose iteration ${other}`);
    expect((await parameter(page, "kind")) === kind, `${how} leaves the kind at ${await parameter(page, "kind")}`);
    expect((await page.$$("table[data-table=iterations] tr.chosen")).length === 1, `${how} marks no iteration`);
  };
  await page.evaluate(
    (one) => document.querySelector(`table[data-table=iterations] tr[data-key="[${one}]"] .pick`).click(),
    other,
  );
  await page.waitForSelector(`.chip:has-text('Iterations ${other} to ${other}')`);
  await page.waitForFunction(() => !document.getElementById("main").hasAttribute("aria-busy"));
  await expectOther("a row");
  await go(page, "iterations?kind=2");
  const box = await page.evaluate(() => {
    const canvas = document.getElementById("iteration-bars");
    canvas.scrollIntoView();
    const {left, top, width} = canvas.getBoundingClientRect();
    const count = Number(document.getElementById("range-to").max) + 1;
    return {left: left + 64, top, step: (width - 64) / count};
  });
  await page.mouse.click(box.left + box.step * (other + 0.5), box.top + 60);
  await page.waitForSelector(`.chip:has-text('Iterations ${other} to ${other}')`);
  await page.waitForFunction(() => !document.getElementById("main").hasAttribute("aria-busy"));
  await expectOther("a bar");
  await go(page, `iterations?from=${other}&to=${other}&kind=2`);
  expect(
    (await hints(page)).some((words) => /^None of the iterations .*: kind 2\.$/.test(words)),
    "an empty choice is not told",
  );
}

// Overview, ops and kernels are those of a kind of iterations, and of a range and a kind together.
export async function chooseKind({open, takeCells, expect, seen}, browser, {file, database}) {
  const page = await open(browser, file);
  await go(page, "iterations");
  await takeCells(page, database, 40);
  seen.kinds = await page.$$eval("table[data-table=iterations] th[data-column]", (heads) =>
    heads.map((head) => head.dataset.column),
  );
  const bars = () => page.evaluate(() => document.getElementById("iteration-bars").toDataURL());
  const before = await bars();
  await page.selectOption("#kind", {label: "kind 2"});
  await page.waitForSelector(".chip:has-text('Iterations: kind 2')");
  expect(!(await hints(page)).some((words) => NOT_OF_RANGE.test(words)), "the table of kinds is said to be of others");
  expect((await bars()) !== before, "bars do not show the chosen kind");
  expect(
    await page.$$eval(
      "table[data-table=iterations] tr.chosen",
      (rows) => rows.length > 5 && rows.every((row) => row.textContent.includes("kind 2")),
    ),
    "rows of other kinds are marked",
  );
  await click(page, "nav a[data-panel=overview]");
  seen.kindVerdict = await page.textContent("main .verdict");
  seen.kindFacts = await page.textContent("main .facts");
  await click(page, "nav a[data-panel=kernels]");
  expect(
    (await page.getAttribute("table[data-table=kernels]", "data-view")) === "page_steps",
    "kernels are not those of the kind",
  );
  await go(page, "overview?to=60&kind=2");
  expect(
    (await hints(page)).some((words) => /^The sentence above/.test(words)),
    "the verdict of a kind is given for a range",
  );
  await go(page, "overview?from=3&to=30");
  const ofKinds = "section[aria-label='Kinds of iterations']";
  expect(
    (await hints(page, ofKinds)).some((words) => NOT_OF_RANGE.test(words)),
    "what the table of kinds is of is not said",
  );
  await go(page, "iterations?kind=2");
  const keys = await page.$$eval(".keys > span", (all) => all.map((one) => [one.textContent, one.firstChild.style.background]));
  expect(new Set(keys.map(([, colour]) => colour)).size === keys.length, "two things have one colour");
  expect(
    keys.some(([words]) => words === "of no kind"),
    "iterations of no kind have no colour",
  );
  await meetOtherKind(page, expect, null);
  await go(page, "iterations?kind=2");
  await page.selectOption("#kind", {label: "all kinds"});
  await page.waitForFunction(() => document.querySelectorAll(".chip").length === 0);
  expect((await parameter(page, "kind")) === null, "all kinds are not the usual state");
  for (const range of [
    [2, 60],
    [3, 30],
  ]) {
    await go(page, `ops?from=${range[0]}&to=${range[1]}&kind=2`);
    const first = seen.cells.length;
    await takeCells(page, database, 20);
    const of = seen.cells.slice(first).filter((cell) => cell.view === "page_steps");
    expect(of.length > 0, `ops of iterations ${range.join(" to ")} are not those of the kind`);
    of.forEach((cell) => Object.assign(cell, {range, kind: "kind 2"}));
  }
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => document.querySelectorAll(".chip").length === 0);
  seen.done.push("kind");
  await page.close();
}

// A page of one kind shows it unless all are asked for.
export async function ofOneKind({open, takeCells, expect, seen}, browser, {file, database}) {
  const page = await open(browser, file);
  await go(page, "ops");
  expect(
    (await page.getAttribute("table[data-table=ops]", "data-view")) === "detail",
    "the kind of the database is not the usual",
  );
  await takeCells(page, database, 20);
  await go(page, "iterations");
  expect((await page.inputValue("#kind")) === "2", "the kind of the database is not shown as chosen");
  await meetOtherKind(page, expect, "0");
  await go(page, "iterations?kind=0");
  await page.selectOption("#kind", {label: "kind 2"});
  await page.waitForFunction(() => document.querySelectorAll(".chip").length === 0);
  await go(page, "overview?kind=1");
  expect((await page.textContent("main .verdict")) === "kind 1: not judged.", "a kind without verdict is not told");
  await go(page, "ops?kind=0");
  expect(/all kinds/.test(await page.textContent(".chip")), "all kinds cannot be chosen");
  expect((await page.getAttribute("table[data-table=ops]", "data-view")) === "page_steps", "ops of all kinds are those of one");
  const first = seen.cells.length;
  await takeCells(page, database, 20);
  expect(seen.cells.length > first, "ops of all kinds have no figures");
  seen.cells.slice(first).forEach((cell) => (cell.range = [2, 60]));
  seen.done.push("one kind");
  await page.close();
}
