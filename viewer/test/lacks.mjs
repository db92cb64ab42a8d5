// Pages of runs that lack something: browser.mjs opens them.

import {go} from "./steps.mjs";

// A metric that was chosen for another run.
export async function lacksMetric({open, expect, seen}, browser, {file}) {
  const page = await open(browser, file);
  await go(page, "iterations?iterations.metric=of_another_run");
  await page
    .waitForSelector("section[aria-label='GPU over time'] canvas", {timeout: 20000})
    .catch(() => expect(false, "no metric is shown for one that is not there"));
  expect((await page.inputValue("#utilization-metric")) !== "", "no metric is chosen");
  seen.done.push("lacks metric");
  await page.close();
}

// One iteration has no deviation.
export async function lacksDeviation({open, expect, seen}, browser, {file}) {
  const page = await open(browser, file);
  await go(page, "overview?x=1");
  const facts = await page.textContent("main .facts");
  expect(/1 of \d+ iterations/.test(facts) && /Iteration, mean/.test(facts), `not of one iteration: ${facts}`);
  expect(!facts.includes("±"), `one iteration has a deviation: ${facts}`);
  seen.done.push("lacks deviation");
  await page.close();
}
