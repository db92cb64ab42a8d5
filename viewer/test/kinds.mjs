// Pages of runs whose iterations are of several kinds: browser.mjs opens them.

import {click, go} from "./steps.mjs";

// A kind of iterations counts in every panel, and a range and a kind together.
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
  await go(page, "ops?kind=0");
  expect(/all kinds/.test(await page.textContent(".chip")), "all kinds cannot be chosen");
  const first = seen.cells.length;
  await takeCells(page, database, 20);
  seen.cells.slice(first).forEach((cell) => (cell.range = [2, 60]));
  seen.done.push("one kind");
  await page.close();
}
