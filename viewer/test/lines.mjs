// The source of a run whose kernels have line information: browser.mjs opens its page.

import {go} from "./steps.mjs";

// What the two tables of the panel Source say of places, as test_view.py judges it.
export async function readLines({open, seen}, browser, {file, function: counted}) {
  const page = await open(browser, file);
  await go(page, "source");
  const cells = (id, columns) =>
    page.$$eval(
      `table[data-table=${id}]`,
      ([table], names) => {
        const heads = [...table.tHead.rows[0].cells].map((head) => head.dataset.column);
        return [...table.tBodies[0].rows]
          .filter((row) => row.cells.length === heads.length)
          .map((row) => names.map((name) => row.cells[heads.indexOf(name)].textContent));
      },
      columns,
    );
  seen.lines = await cells("lines", ["place"]);
  seen.instructions = await cells("instructions", ["place", "line"]);
  seen.counted = await cells("instructions", ["place", "instructions_executed", "excess_sectors"]);
  await go(page, `source?source.function=${counted}`);
  seen.onlyCounted = await cells("instructions", ["place", "instructions_executed", "excess_sectors"]);
  seen.countColumns = await page.$$eval("table[data-table=instructions] thead th", (heads) =>
    heads.map((head) => head.dataset.column),
  );
  seen.done.push("lines");
  await page.close();
}
