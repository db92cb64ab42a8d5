"""The page of `dlkprof view`, in a real browser: viewer/test/browser.mjs opens pages and does what people do with them, and this
judges what it saw; figures by SQL on the databases that the pages are made from."""

import json
import math
import os
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile
import unittest

from harness import BUILD, DLKPROF, SOURCE
from pages import MAIN, make_database, make_hostile, view

CAPTURES = sorted(path.stem for path in (SOURCE / "samples/captures").glob("*.dlkcap"))
SAMPLED = "cifar10_b512_sampled"
PC_SAMPLED = "cifar10_b512_pc_sampling"
LEAST_CELLS = 200


class BrowserTest(unittest.TestCase):
    """One run of the browser for all tests: starting it takes most of the time."""

    @classmethod
    def setUpClass(cls):
        browser = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
        if browser is None:
            raise AssertionError("no chromium was found: install it, or name one in CHROMIUM")
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="dlkprof_view.")))
        cls.databases = {capture: make_database(cls.folder, capture) for capture in CAPTURES}
        for database in cls.databases.values():
            view(cls.folder, database)
        hostile = cls.folder / "hostile_dldb.sqlite"
        shutil.copy(cls.databases["cifar10_b4"], hostile)
        make_hostile(hostile)
        view(cls.folder, hostile, "--labels", "<b>hostile</b>")
        view(cls.folder, cls.databases["cifar10_b4"], cls.databases["cifar10_b512"], "--base_name", "both")
        cls.make_job()
        cls.make_kinds()
        cls.make_one_iteration()
        cls.make_lines()
        command = [DLKPROF, "view", "--serve", "--no-open", cls.databases["cifar10_b4"], cls.databases["cifar10_b512"]]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        cls.addClassCleanup(server.communicate)
        cls.addClassCleanup(server.terminate)
        cls.address = server.stdout.readline().strip()
        plan = cls.folder / "plan.json"
        plan.write_text(json.dumps(cls.steps()), encoding="utf-8")
        run = subprocess.run(
            ["node", SOURCE / "viewer/test/browser.mjs", browser, plan], capture_output=True, text=True, timeout=600
        )
        if run.returncode != 0:
            raise AssertionError(run.stderr)
        cls.seen = json.loads(run.stdout)

    @classmethod
    def make_job(cls):
        cls.databases["job"] = cls.folder / "job_dldb.sqlite"
        capture = SOURCE / f"samples/captures/{MAIN}.dlkcap"
        made = subprocess.run(
            [BUILD / "bin/simulated_job", capture, cls.databases["job"], "8"], stdout=subprocess.PIPE, check=True
        )
        cls.planted = json.loads(made.stdout)
        view(cls.folder, cls.databases["job"])

    @classmethod
    def make_kinds(cls):
        """A run whose iterations are of two kinds: every fourth launches other kernels. One database of all, one of a kind."""
        for name, options in (("kinds", []), ("kind", ["--iter_kind", "kind 2"])):
            database = cls.folder / f"{name}_dldb.sqlite"
            shutil.copy(cls.databases[MAIN], database)
            connection = sqlite3.connect(database)
            with connection:
                connection.execute(
                    "UPDATE activity SET kernel = (SELECT max(id) FROM kernel WHERE kind = 0) - kernel % 8 WHERE kernel IN (SELECT id"
                    " FROM kernel WHERE kind = 0) AND id IN (SELECT activity FROM placement WHERE iteration % 4 = 1)"
                )
            connection.close()
            fold = [DLKPROF, f"--database={database}", "--iter_start=2", "--output_path", cls.folder, *options]
            subprocess.run(fold, capture_output=True, check=True)
            cls.databases[name] = database
            if options:
                cls.change(database, "UPDATE kind_stats SET verdict = '' WHERE kind = 0")
            view(cls.folder, database)

    @classmethod
    def make_one_iteration(cls):
        """A run of which one iteration is aggregated."""
        database = cls.folder / "one_dldb.sqlite"
        shutil.copy(cls.databases[MAIN], database)
        fold = [DLKPROF, f"--database={database}", "--iter_start=5", "--iter_stop=5", "--output_path", cls.folder]
        subprocess.run(fold, capture_output=True, check=True)
        view(cls.folder, database)

    @classmethod
    def make_lines(cls):
        """A run whose instructions are of lines, neither all of one file nor in their order."""
        cls.databases["lines"] = database = cls.folder / "lines_dldb.sqlite"
        shutil.copy(cls.databases[PC_SAMPLED], database)
        cls.change(database, "INSERT INTO pc_file SELECT max(id) + 1, '/b.cu' FROM pc_file")
        cls.change(database, "INSERT INTO pc_file SELECT max(id) + 1, '/a.cu' FROM pc_file")
        file = "(SELECT max(id) FROM pc_file) - byte_offset / 16 % 2"
        cls.change(database, f"UPDATE pc_instruction SET file = {file}, line = 1 + byte_offset / 16 * 37 % 101")
        cls.count_instructions(database)
        view(cls.folder, database)

    @classmethod
    def count_instructions(cls, database):
        """Of the function with the most samples, which has them still, and of the one with the fewest, which has none then. The
        GPU counts no shared memory."""
        for metric in ("inst_executed", "thread_inst_executed", "sectors_mem_global", "sectors_mem_global_ideal"):
            cls.change(database, f"INSERT INTO sass_metric SELECT count(*), 'smsp__sass_{metric}' FROM sass_metric")
        by_samples = "(SELECT function FROM pc_samples GROUP BY 1 ORDER BY sum(samples) {}, function LIMIT 1)"
        most, fewest = (cls.ask("lines", "SELECT " + by_samples.format(order))[0][0] for order in ("DESC", ""))
        cls.counted = fewest
        value = "CASE m.id WHEN 0 THEN 10 + id_of % 7 WHEN 1 THEN 31 * (10 + id_of % 7) WHEN 2 THEN 40 + id_of % 3 ELSE 32 END"
        cls.change(
            database,
            f"INSERT INTO sass_count SELECT i.id_of, c.id, m.id, {value} FROM (SELECT id AS id_of FROM pc_instruction"
            f" WHERE function IN ({most}, {fewest}) AND (id % 2 = 0 OR function = {fewest})) i, (SELECT id FROM config LIMIT 2) c, sass_metric m",
        )
        cls.change(
            database, f"DELETE FROM pc_stall WHERE instruction IN (SELECT id FROM pc_instruction WHERE function = {fewest})"
        )

    @staticmethod
    def change(database, sql):
        connection = sqlite3.connect(database)
        with connection:
            connection.execute(sql)
        connection.close()

    @classmethod
    def steps(cls):
        def page(name, **more):
            return {"file": str(cls.folder / f"{name}.html"), **more}

        visits = [["visit", page(name, database=name, config=cls.a_config(name))] for name in CAPTURES]
        main = page(MAIN, database=MAIN)
        steps = ["useTables", "chooseRange", "askSql", "useKeys", "useTimeline", "look"]
        return (
            visits
            + [[step, main] for step in steps]
            + [
                ["meetHostile", page("hostile")],
                ["compareRuns", page("both")],
                ["visitServed", page("served", served=cls.address)],
                ["ofJob", page("job", database="job")],
                ["chooseKind", page("kinds", database="kinds")],
                ["ofOneKind", page("kind", database="kind")],
                ["lacksMetric", page(SAMPLED)],
                ["lacksDeviation", page("one")],
                ["readLines", page("lines", function=cls.counted)],
            ]
        )

    @classmethod
    def ask(cls, database, sql, parameters=()):
        connection = sqlite3.connect(cls.databases[database])
        try:
            return connection.execute(sql, parameters).fetchall()
        finally:
            connection.close()

    @classmethod
    def a_config(cls, database):
        """The one with the most counters."""
        rows = cls.ask(database, "SELECT config FROM metrics GROUP BY 1 ORDER BY count(*) DESC LIMIT 1")
        return rows[0][0] if rows else None

    def test_nothing_goes_wrong_and_nothing_is_asked_for(self):
        self.assertEqual([], self.seen["faults"])
        self.assertEqual(len(self.steps()), len(self.seen["done"]))

    def test_nobody_is_left_out(self):
        self.assertEqual([], self.seen["axe"])

    def test_an_answer_to_sql_is_that_of_the_database(self):
        self.assertEqual(self.ask(MAIN, "SELECT count(*) FROM kernels")[0][0], self.seen["sql"])

    # Figures of a job's page, from the tables of its database alone.
    TAKEN = "CAST(gpu_ns AS REAL) / n + CAST(wait_ns AS REAL) / n"
    SHORTEST = "(SELECT min(o.end_ns - o.start_ns) FROM rank_collective o WHERE o.sequence = c.sequence)"
    OF_JOB = {
        ("ranks", "compute_ns"): "SELECT sum(CAST(gpu_ns AS REAL) / n) FROM rank_op WHERE rank = ?",
        ("ranks", "iteration_ns"): "SELECT avg(length_ns) FROM rank_iteration WHERE rank = ?",
        ("ranks", "idle_ns"): "SELECT avg(idle_ns) FROM rank_iteration WHERE rank = ?",
        ("ranks", "host"): "SELECT host FROM rank WHERE rank = ?",
        ("rank_ops", "gpu_ns"): "SELECT CAST(gpu_ns AS REAL) / n FROM rank_op JOIN op ON op = id WHERE rank = ? AND name = ? AND direction = ? AND type = ?",
        ("rank_ops", "wait_ns"): "SELECT CAST(wait_ns AS REAL) / n FROM rank_op JOIN op ON op = id WHERE rank = ? AND name = ? AND direction = ? AND type = ?",
        ("rank_ops", "excess_ns"): f"WITH taken AS (SELECT rank, {TAKEN} AS ns FROM rank_op JOIN op ON op = id WHERE name = ?2 AND direction = ?3 AND type = ?4)"
                                   " SELECT ns - (SELECT ns FROM taken ORDER BY ns LIMIT 1 OFFSET (SELECT (count(*) - 1) / 2 FROM taken))"
                                   " FROM taken WHERE rank = ?1",
        ("rank_iterations", "length_ns"): "SELECT length_ns FROM rank_iteration WHERE rank = ? AND iteration = ?",
        ("rank_iterations", "gpu_ns"): "SELECT gpu_ns FROM rank_iteration WHERE rank = ? AND iteration = ?",
        ("rank_iterations", "waited_ns"): f"SELECT sum(end_ns - start_ns - {SHORTEST}) FROM rank_collective c WHERE rank = ? AND iteration = ?",
        ("stragglers", "alone_ns"): "SELECT min(end_ns - start_ns) FROM rank_collective WHERE ?1 = 0 AND communicator = ?2 AND sequence = ?3",
        ("critical_ranks", "collectives"): "SELECT count(DISTINCT sequence) FROM rank_collective WHERE ?1 = 0 AND iteration = ?2",
    }  # fmt: skip

    def test_figures_of_a_job_are_those_of_its_database(self):
        checked = set()
        for cell in self.seen["cells"]:
            sql = cell["database"] == "job" and self.OF_JOB.get((cell["view"], cell["column"]))
            if not sql:
                continue
            value = self.ask("job", sql, cell["key"])[0][0]
            checked.add((cell["view"], cell["column"]))
            with self.subTest(cell=cell, value=value):
                if isinstance(value, str):
                    self.assertEqual(value, cell["text"])
                else:
                    shown = float(cell["text"].replace(",", "")) * cell["factor"]
                    self.assertTrue(math.isclose(value, shown, rel_tol=6e-4, abs_tol=6e-4 * cell["factor"] + 1), shown)
        self.assertGreaterEqual(len(checked), 6, checked)

    def test_the_page_of_a_job_names_its_late_ranks(self):
        job = self.seen["job"]
        self.assertEqual(["Ranks", "SQL"], job["panels"])
        self.assertEqual(2, len(job["findings"]))
        self.assertTrue(
            any(f"rank {self.planted['sleeps']}" in words and self.planted["op"] in words for words in job["findings"])
        )
        self.assertTrue(any(f"Rank {self.planted['slow']} is slow" in words for words in job["findings"]))
        critical = {row[2] for row in job["critical"]}
        self.assertEqual({str(self.planted["sleeps"])}, critical)
        self.assertGreaterEqual(len(job["critical"]), 10)
        self.assertRegex(job["heat-ops"], rf"^Rank {self.planted['sleeps'] + 1}, /.*: -?[\d.,]+ (ns|µs|ms)$")
        own = f"SELECT length_ns - (SELECT sum(end_ns - start_ns - {self.SHORTEST}) FROM rank_collective c WHERE rank = 1 AND iteration = 1)"
        value = self.ask("job", f"{own} FROM rank_iteration WHERE rank = 1 AND iteration = 1")[0][0]
        self.assertEqual(f"Rank 1, iteration 1: {value / 1e6:.3f} ms", job["heat-iterations"])

    def figure(self, cell):
        """The figure that a cell shows, by SQL on the database; None where it is of no column of a view."""
        where = " AND ".join(f"{key} IS ?" for key in cell["keys"])
        if cell["view"] == "page_steps":
            sums = {
                "calls": "count(*)",
                "gpu_total_ns": "sum(gpu_ns)",
                "gpu_avg_ns": "avg(gpu_ns)",
                "gpu_min_ns": "min(gpu_ns)",
                "gpu_max_ns": "max(gpu_ns)",
                "uses_tc": "max(uses_tc)",
            }
            if "." in cell["column"] or cell["column"] in ("instances", "cpu_total_ns", "tc_eligible"):
                return None
            column = sums.get(cell["column"], f"max({cell['column']})")
            first, last = cell["range"]
            where += f" AND iteration BETWEEN {first} AND {last}"
            if "kind" in cell:
                where += f" AND iteration IN (SELECT iteration FROM iterations WHERE kind = '{cell['kind']}')"
            return self.ask(cell["database"], f"SELECT {column} FROM kernels WHERE {where}", cell["key"])[0]
        if "." in cell["column"] and cell["view"] == "detail":
            sql = "SELECT value FROM op_metrics WHERE op_id IS ? AND metric = ?"
            rows = self.ask(cell["database"], sql, (cell["key"][0], cell["column"]))
            return rows[0] if rows else (None,)
        columns = [row[1] for row in self.ask(cell["database"], f"PRAGMA table_info({cell['view']})")]
        if cell["column"] not in columns or any(key not in columns for key in cell["keys"]):
            return None
        rows = self.ask(cell["database"], f"SELECT {cell['column']} FROM {cell['view']} WHERE {where}", cell["key"])
        self.assertEqual(1, len(rows), cell)
        return rows[0]

    def test_figures_are_those_of_the_database(self):
        checked = 0
        for cell in (one for one in self.seen["cells"] if one["database"] != "job"):
            found = self.figure(cell)
            if found is None or (cell["view"] == "iterations" and cell["column"] == "start_ns"):
                continue
            value, text = found[0], cell["text"]
            checked += 1
            with self.subTest(cell=cell, value=value):
                if value is None:
                    self.assertIn(text, ("", "(not described)"))
                elif isinstance(value, str):
                    self.assertEqual(value, text)
                elif cell["unit"] == "0 or 1":
                    self.assertEqual("yes" if value else "no", text)
                else:
                    shown = float(text.replace(",", ""))
                    self.assertTrue(math.isclose(value / cell["factor"], shown, rel_tol=6e-4, abs_tol=6e-4), shown)
        self.assertGreaterEqual(checked, LEAST_CELLS)

    def test_kernels_have_telling_names_and_their_whole_names_beside_them(self):
        names = [cell for cell in self.seen["cells"] if cell["column"] == "kernel_name" and "kernel" in cell["keys"]]
        self.assertGreaterEqual(len(names), 5)
        for cell in names:
            kernel = cell["key"][cell["keys"].index("kernel")]
            name, whole = self.ask(
                cell["database"], "SELECT name, coalesce(nullif(long_name, ''), name) FROM kernel WHERE id = ?", (kernel,)
            )[0]
            self.assertEqual((name, whole), (cell["text"], cell["title"]))
            self.assertIn(cell["shown"].split()[0], whole)
        self.assertTrue(any(cell["shown"] != cell["text"] for cell in names))

    def test_counters_say_of_how_many_launches_they_are_and_how_measured(self):
        counters = [cell for cell in self.seen["cells"] if "." in cell["column"] and cell["text"]]
        self.assertGreaterEqual(len(counters), 10)
        for cell in counters:
            self.assertRegex(cell["beside"], r"n \d+, \w+ replay")
        self.assertTrue(any("±" in cell["beside"] for cell in counters))

    def test_a_chosen_range_is_judged_by_its_own_iterations(self):
        sql = "SELECT start_ns FROM iterations WHERE iteration BETWEEN 3 AND 8 ORDER BY 1"
        starts = [row[0] for row in self.ask(MAIN, sql)]
        lengths = sorted(end - start for start, end in zip(starts, starts[1:]))
        self.assertEqual("5 of", self.seen["range"]["Aggregated"][:4])
        shown, unit = self.seen["range"]["Iteration, median"].split()
        self.assertAlmostEqual(
            lengths[2] / {"ms": 1e6, "µs": 1e3, "s": 1e9}[unit], float(shown), delta=0.0006 * float(shown) + 6e-4
        )

    def test_another_key_node_parts_iterations_anew(self):
        node = self.seen["keyNode"]
        self.assertEqual([f"{node['found'] + 1} rows"], node["iterations"])
        self.assertEqual("page_steps", node["view"])
        self.assertGreater(node["ops"], 5)

    def test_a_kind_of_iterations_is_judged_by_its_own(self):
        self.assertIn("kind", self.seen["kinds"])
        found, verdict = self.ask("kinds", "SELECT iterations, verdict FROM iteration_kinds WHERE kind = 'kind 2'")[0]
        self.assertEqual(verdict, self.seen["kindVerdict"])
        self.assertIn(f"Aggregated{found} of 61 iterations", self.seen["kindFacts"])
        shown = [cell for cell in self.seen["cells"] if cell.get("kind")]
        self.assertGreaterEqual(len(shown), 30)
        self.assertTrue(any(cell["view"] == "iteration_kinds" for cell in self.seen["cells"]))

    def test_lines_are_in_order_and_instructions_say_theirs(self):
        of_most = (
            "FROM pc_samples WHERE function = (SELECT function FROM pc_samples GROUP BY 1 ORDER BY sum(samples) DESC LIMIT 1)"
        )
        line = "source_file || ':' || source_line"
        lines = self.ask("lines", f"SELECT DISTINCT {line} {of_most} ORDER BY source_file, source_line")
        instructions = self.ask("lines", f"SELECT DISTINCT printf('0x%04x', byte_offset), {line} {of_most} ORDER BY byte_offset")
        self.assertGreaterEqual(min(len(self.seen["lines"]), len(self.seen["instructions"])), 50)
        for expected, seen in ((lines, self.seen["lines"]), (instructions, self.seen["instructions"])):
            self.assertEqual([list(row) for row in expected[: len(seen)]], seen)

    def test_counts_of_instructions_stand_beside_their_samples(self):
        function = "(SELECT function FROM pc_samples GROUP BY 1 ORDER BY sum(samples) DESC LIMIT 1)"
        excess = "sum(global_sectors - global_sectors_ideal)"
        sql = f"SELECT printf('0x%04x', byte_offset), sum(instructions_executed), {excess} FROM instruction_counts WHERE function = "
        for name, of in (("counted", function), ("onlyCounted", str(self.counted))):
            expected = {
                place: [f"{executed:,}", f"{sectors:,}"]
                for place, executed, sectors in self.ask("lines", sql + of + " GROUP BY 1")
            }
            seen = {place: cells for place, *cells in self.seen[name]}
            self.assertTrue(expected)
            self.assertTrue(set(expected) & set(seen))
            self.assertEqual({place: expected.get(place, ["", ""]) for place in seen}, seen)
        self.assertNotIn("shared_wavefronts", self.seen["countColumns"])
        self.assertNotIn("samples", self.seen["countColumns"])

    def test_runs_are_compared_op_by_op(self):
        def per_iteration(database, op):
            sql = "SELECT 1.0 * gpu_total_ns / (SELECT aggregated_iterations FROM summary) FROM detail WHERE op_id = ?"
            rows = self.ask(database, sql, (op,))
            return rows[0][0] if rows else None

        self.assertGreaterEqual(len(self.seen["compare"]), 20)
        for op, _, _, first, second, *_ in self.seen["compare"]:
            for database, text in (("cifar10_b4", first), ("cifar10_b512", second)):
                value = per_iteration(database, op)
                shown = float(text.replace(",", "")) * self.seen["compareUnit"] if text else None
                self.assertEqual(value is None, shown is None, op)
                if value is not None:
                    self.assertAlmostEqual(value, shown, delta=6e-4 * value + 6e-4 * self.seen["compareUnit"])
