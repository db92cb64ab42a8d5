// The page of a launch configuration: what is known of it without measuring, its counters section by section with their spread, and
// pictures of the same figures.

import {curves, memoryChart, roofline, stallBars, type CurvePoint, type RooflinePoint} from "../charts/kernel";
import {series} from "../charts/series";
import {h} from "../dom";
import {counted, number, quantity} from "../format";
import {named, num, str, type Context, type Named} from "../panel";
import {chosen} from "../state";
import {Table, type Column} from "../table";

const COUNTER_COLUMNS = ["label", "mean", "unit", "samples", "min", "max", "stddev", "collected_by", "cache_control"];

async function factsOf(context: Context, config: number): Promise<HTMLElement> {
  const row = named(await context.query("SELECT * FROM occupancy WHERE config = ?", [config]))[0];
  const shape = named(
    await context.query(
      "SELECT f.*, p.telling_name, coalesce(nullif(k.long_name, ''), k.name) AS whole FROM config f LEFT JOIN kernel k ON k.id = f.kernel LEFT JOIN page_kernel p ON p.kernel = k.id WHERE f.id = ?",
      [config],
    ),
  )[0];
  if (!shape) return h("p", {class: "wrong"}, `There is no launch configuration ${config}.`);
  const three = (name: string): string => [shape[`${name}_x`], shape[`${name}_y`], shape[`${name}_z`]].map(str).join(" x ");
  const pairs: [string, string][] = [
    ["Grid, in blocks", three("grid")],
    ["Block, in threads", three("block")],
    ["Cluster, in blocks", three("cluster")],
    ["Launches", row ? number(num(row.launches)) : "none in the iterations aggregated"],
    ["GPU time", row ? quantity(row.gpu_total_ns, "ns") : "not measured"],
    ["Measured", row ? counted(num(row.samples), "launch", "launches") : "not measured"],
  ];
  if (row) {
    pairs.push(["Occupancy", `${quantity(row.achieved_pct, "%")} achieved, ${quantity(row.theoretical_pct, "%")} theoretical`]);
    for (const [name, column] of [
      ["Limited by", "limiter"],
      ["Why less is achieved", "gap"],
      ["What would give more", "step"],
    ] as const)
      if (str(row[column])) pairs.push([name, str(row[column])]);
  }
  return h(
    "div",
    {},
    h("h2", {}, `${str(shape.telling_name) || "a kernel that is not described"}, configuration ${config}`),
    h("p", {class: "mono"}, str(shape.whole)),
    h("dl", {class: "pairs"}, ...pairs.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
  );
}

// Of each row of a section the best alternative that was measured.
async function sections(context: Context, config: number): Promise<HTMLElement[]> {
  const measured = named(
    await context.query(
      "SELECT s.section, s.title, s.about, s.position, s.label, s.unit, m.metric, m.mean, m.samples, m.min, m.max, m.stddev, m.collected_by, m.cache_control, m.passes, m.metric_set, m.config, m.clock_hz, m.unreliable FROM page_section s JOIN metrics m ON m.metric = s.metric WHERE m.config = ? AND m.metric NOT LIKE '%issue_stalled%' ORDER BY s.position",
      [config],
    ),
  );
  const computed = named(
    await context.query(
      "SELECT s.section, s.title, s.about, s.position, s.label, s.unit, c.name AS metric, c.value AS mean, c.words FROM page_section s JOIN page_computed c ON c.name = s.computed WHERE c.config = ? AND s.computed <> ''",
      [config],
    ),
  );
  const all = [...measured, ...computed].sort((a, b) => num(a.position) - num(b.position));
  const titles = [...new Set(all.map((row) => str(row.section)))];
  return titles.map((section) =>
    sectionTable(
      context,
      section,
      all.filter((row) => row.section === section),
    ),
  );
}

function sectionTable(context: Context, section: string, rows: Named[]): HTMLElement {
  const names = [
    "label",
    "mean",
    "unit",
    "samples",
    "min",
    "max",
    "stddev",
    "collected_by",
    "cache_control",
    "passes",
    "clock_hz",
    "unreliable",
    "metric",
    "metric_set",
    "config",
  ];
  const columns: Column[] = names.map((name) => ({
    name,
    unit: name === "clock_hz" ? "Hz" : name === "unreliable" ? "0 or 1" : "",
    label: name === "label" ? "Figure" : name === "samples" ? "n" : undefined,
    hidden: !COUNTER_COLUMNS.includes(name),
  }));
  const table = new Table({
    id: `section-${section}`,
    caption: str(rows[0]?.title),
    view: context.facts.views.metrics,
    viewName: "metrics",
    columns,
    keys: ["config", "metric", "collected_by", "cache_control", "passes", "metric_set"],
    isOfView: (row) => row[names.indexOf("config")] !== null, // what is computed is not
    rows: rows.map((row) => names.map((name) => (name === "mean" && str(row.words) ? str(row.words) : (row[name] ?? null)))),
  });
  return h(
    "details",
    {open: true, class: "section"},
    h("summary", {}, h("h3", {}, str(rows[0]?.title))),
    h("p", {}, str(rows[0]?.about)),
    table.element,
  );
}

async function pictures(context: Context, config: number): Promise<HTMLElement> {
  const roofs = named(
    await context.query("SELECT * FROM page_roofline WHERE config = ? ORDER BY position", [config]),
  ) as unknown as RooflinePoint[];
  const points = named(
    await context.query("SELECT what, x, pct FROM page_curve WHERE config = ? ORDER BY 1, 2", [config]),
  ) as unknown as CurvePoint[];
  const here = named(
    await context.query(
      "SELECT block_x * block_y * block_z AS threads, registers_per_thread, shared_bytes_per_block, theoretical_pct, achieved_pct, limiter FROM occupancy WHERE config = ?",
      [config],
    ),
  )[0];
  const stalls = named(
    await context.query(
      "SELECT r.reason, r.meaning, r.remedy, m.mean AS cycles, 100.0 * m.mean / sum(m.mean) OVER () AS pct, m.samples FROM metrics m JOIN page_stall r ON m.metric = 'smsp__average_warps_issue_stalled_' || r.reason || '_per_issue_active.ratio' WHERE m.config = ? ORDER BY m.mean DESC",
      [config],
    ),
  );
  const memory = named(await context.query("SELECT metric, mean FROM metrics WHERE config = ?", [config]));
  const values = new Map(memory.map((row) => [str(row.metric), num(row.mean)]));
  return h("div", {class: "cards"}, roofline(roofs), memoryChart(values), stallBars(stalls), curves(points, here));
}

// Counters of samples that lay within its launches, with the confidence interval of each.
async function sampled(context: Context, config: number): Promise<HTMLElement | null> {
  const names = ["metric", "mean", "deviation", "low", "high", "samples", "launches", "config"];
  const rows = await context.query(`SELECT ${names.join(", ")} FROM sampled_metrics WHERE config = ? ORDER BY metric`, [config]);
  if (rows.rows.length === 0) return null;
  const table = new Table({
    id: "sampled",
    caption: "Sampled counters",
    view: context.facts.views.sampled_metrics,
    viewName: "sampled_metrics",
    keys: ["config", "metric"],
    columns: names.map((name) => ({name, hidden: name === "config"})),
    rows: rows.rows,
  });
  return h(
    "section",
    {"aria-label": "Sampled counters"},
    h("h3", {}, "Sampled while the program ran"),
    h("p", {}, "Means of samples, with their 95 % confidence intervals (low to high); replay mode sample."),
    table.element,
  );
}

// Launch by launch.
async function spread(context: Context, config: number): Promise<HTMLElement | null> {
  const metrics = await context.query(
    "SELECT metric, count(value) FROM metric_samples WHERE config = ? GROUP BY 1 HAVING count(value) > 1 ORDER BY 1",
    [config],
  );
  if (metrics.rows.length === 0) return null;
  const select = h("select", {id: "spread-metric"}, ...metrics.rows.map((row) => h("option", {}, str(row[0]))));
  const asked = chosen.state.more["kernels.spread"];
  const names = metrics.rows.map((row) => str(row[0]));
  select.value =
    asked !== undefined && names.includes(asked)
      ? asked
      : (names.find((name) => name === "gpu__time_duration.sum") ?? names[0] ?? "");
  const place = h("div");
  const draw = async (): Promise<void> => {
    const found = await context.query(
      "SELECT occurrence, value FROM metric_samples WHERE config = ? AND metric = ? AND value IS NOT NULL ORDER BY occurrence",
      [config, select.value],
    );
    place.replaceChildren(
      series(
        found.rows.map((row) => num(row[0])),
        found.rows.map((row) => num(row[1])),
        "occurrence of the configuration",
        select.value,
        true,
      ),
    );
  };
  select.addEventListener("change", () => {
    chosen.keep("kernels.spread", select.value);
    void draw();
  });
  await draw();
  return h(
    "section",
    {"aria-label": "Spread over launches"},
    h("h3", {}, "Launch by launch"),
    h("div", {class: "tools"}, h("label", {}, "Metric ", select)),
    place,
  );
}

export async function configPage(context: Context, config: number): Promise<HTMLElement> {
  const page = h("section", {class: "config", "aria-label": "Launch configuration"}, await factsOf(context, config));
  page.append(await pictures(context, config));
  const launches = await spread(context, config);
  if (launches) page.append(launches);
  const samples = await sampled(context, config);
  if (samples) page.append(samples);
  const tables = await sections(context, config);
  if (tables.length === 0 && !samples)
    page.append(h("p", {class: "hint"}, "No counters were measured of this configuration; the panel Coverage says why."));
  page.append(...tables);
  return page;
}
