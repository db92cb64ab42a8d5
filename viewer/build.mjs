// Builds the page: node build.mjs <file>. Everything that it shows and runs is in that one file, packed with gzip; what differs from
// page to page is put in by src/view/page.cpp, in the places of the two comments that begin with "dlkprof:".

import {createHash} from "node:crypto";
import {mkdirSync, readFileSync, writeFileSync} from "node:fs";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";
import {gzipSync} from "node:zlib";
import * as esbuild from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const read = (...path) => readFileSync(join(here, ...path), "utf8");
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

// The queries of docs/user/cookbook.md, each with its heading.
function cookbook() {
  const recipes = [];
  for (const part of read("..", "docs", "user", "cookbook.md").split(/^## /m).slice(1)) {
    const heading = part.slice(0, part.indexOf("\n"));
    for (const match of part.matchAll(/```sql\n([\s\S]*?)```/g)) recipes.push({heading, sql: match[1].trim()});
  }
  return recipes;
}

// Name, version and licence of what the page is made of.
function notices() {
  return ["sql.js", "uplot"].map((name) => {
    const about = JSON.parse(read("node_modules", name, "package.json"));
    const text = read("node_modules", name, "LICENSE");
    return {name, version: about.version, license: about.license, text};
  });
}

async function bundle(entry) {
  const result = await esbuild.build({
    entryPoints: [join(here, "src", entry)],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: "es2021",
    charset: "utf8",
    legalComments: "none",
    define: {COOKBOOK: JSON.stringify(cookbook()), NOTICES: JSON.stringify(notices())},
    loader: {".css": "css"},
  });
  return result.outputFiles.find(
    (file) => file.path.endsWith(entry.endsWith(".css") ? ".css" : ".js") || file.path === "<stdout>",
  ).text;
}

// Neither may end the element that it stands in.
function inside(text, element) {
  if (text.toLowerCase().includes(`</${element}`) || text.includes("<!--")) throw new Error(`${element} would end early`);
  return text;
}

const [program, worker, style] = await Promise.all([bundle("main.ts"), bundle("worker.ts"), bundle("style.css")]);
const engine = read("node_modules", "sql.js", "dist", "sql-wasm-inline.js") + "\n" + worker;
const policy = [
  "default-src 'none'",
  `script-src ${hash(program)} blob: 'wasm-unsafe-eval'`,
  "worker-src blob:",
  `style-src ${hash(style)}`,
  "img-src data:",
  "connect-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title><!--dlkprof:title--></title>
<style>${inside(style, "style")}</style>
</head>
<body>
<noscript>This page shows its figures by a program inside it: allow scripts for this file.</noscript>
<!--dlkprof:data-->
<script type="text/plain" id="engine">${inside(engine, "script")}</script>
<script>${inside(program, "script")}</script>
</body>
</html>
`;

const [, , file] = process.argv;
if (!file) throw new Error("usage: node build.mjs <file>");
mkdirSync(dirname(file), {recursive: true});
writeFileSync(file, gzipSync(page, {level: 9}));
