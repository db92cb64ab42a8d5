// Makes the pictures of docs/user/page.md: node screenshots.mjs <chromium> <folder> <page.html> [<page with PC samples> <page of two runs>].
// Every panel, its left half in light and its right half in dark colours, as WebP, which Chromium itself packs. The pictures together
// stay below 300 kB.

import {writeFileSync} from "node:fs";
import {join} from "node:path";
import {chromium} from "playwright-core";

const [, , executablePath, folder, main, sampled = main, both = main] = process.argv;
const WIDTH = 1000;
const HEIGHT = 620;
const SCALE = 0.9;
const QUALITY = 0.3; // the smallest at which text is read without effort

const own = (panel) => ({name: panel, file: main, address: panel});
const SIGHTS = [
  own("overview"),
  {name: "iterations", file: main, address: "iterations?from=5&to=9"},
  own("ops"),
  {name: "kernels", file: main, address: "kernels", act: chooseKernel},
  {name: "timeline", file: main, address: "timeline", act: showIteration},
  {name: "source", file: sampled, address: "source"},
  {name: "compare", file: both, address: "compare"},
  own("coverage"),
  {name: "sql", file: main, address: "sql", act: ask},
];

async function chooseKernel(page) {
  await page.click("table[data-table=configs] .pick");
  await page.waitForSelector("section.config");
}
async function showIteration(page) {
  await page.waitForSelector("#timeline[data-loaded]");
  await page.fill("#timeline-iteration", "4");
  await page.press("#timeline-iteration", "Enter");
}
async function ask(page) {
  await page.selectOption("#cookbook", {index: 5});
  await page.waitForSelector("table[data-table=answer] tbody th");
}

// The left half of one and the right half of the other.
async function joined(page, light, dark) {
  const base64 = await page.evaluate(
    async ([pictures, quality, scale]) => {
      const canvas = document.createElement("canvas");
      const context = canvas.getContext("2d");
      for (const [at, data] of pictures.entries()) {
        const image = new Image();
        image.src = `data:image/png;base64,${data}`;
        await image.decode();
        const [half, height] = [image.width / 2, image.height];
        if (at === 0) [canvas.width, canvas.height] = [image.width * scale, height * scale];
        context.drawImage(image, at * half, 0, half, height, at * half * scale, 0, half * scale, height * scale);
      }
      return canvas.toDataURL("image/webp", quality).split(",")[1];
    },
    [[light, dark].map((png) => png.toString("base64")), QUALITY, SCALE],
  );
  return Buffer.from(base64, "base64");
}

async function picture(browser, {file, address, act}, colorScheme) {
  const page = await browser.newPage({viewport: {width: WIDTH, height: HEIGHT}, colorScheme});
  await page.goto(`file://${file}#${address}`);
  await page.waitForSelector("main section");
  if (act) await act(page);
  await page.evaluate(() => scrollTo(0, 0));
  await page.waitForTimeout(500); // until pictures are drawn
  const png = await page.screenshot({type: "png"});
  await page.close();
  return png;
}

const browser = await chromium.launch({executablePath, args: ["--no-sandbox", "--disable-gpu"]});
try {
  const packer = await browser.newPage();
  for (const sight of SIGHTS) {
    const [light, dark] = [await picture(browser, sight, "light"), await picture(browser, sight, "dark")];
    writeFileSync(join(folder, `${sight.name}.webp`), await joined(packer, light, dark));
  }
} finally {
  await browser.close();
}
