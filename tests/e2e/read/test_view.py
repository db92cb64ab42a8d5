"""The page of `dlkprof view`, in a real browser: viewer/test/browser.mjs opens pages and does what people do with them, and this
judges what it saw; figures by SQL on the databases that the pages are made from."""

import http.client
import json
import math
import os
import pathlib
import re
import shutil
import socket
import sqlite3
import stat
import subprocess
import tempfile
import time
import unittest
import urllib.parse

from harness import BUILD, DLKPROF, SOURCE, EndToEndTest

CAPTURES = sorted(path.stem for path in (SOURCE / "samples/captures").glob("*.dlkcap"))
MAIN = "cifar10_b512_iteration"  # has counters and many iterations
SAMPLED = "cifar10_b512_sampled"
PC_SAMPLED = "cifar10_b512_pc_sampling"
HOSTILE = "<script>alert(1)</script>"
MOST_BYTES = 20_000_000
LEAST_CELLS = 200


def make_database(folder, capture):
    database = folder / f"{capture}_dldb.sqlite"
    subprocess.run([BUILD / "bin/capture_database", database, SOURCE / f"samples/captures/{capture}.dlkcap"], check=True)
    return database


def view(folder, *words):
    """What dlkprof view said; the page is in the folder."""
    command = [DLKPROF, "view", "--no-open", "--output_path", folder, *words]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stderr


def make_hostile(database):
    """Names that are markup, in every place that a page shows."""
    connection = sqlite3.connect(database)
    with connection:
        connection.execute("UPDATE kernel SET name = ?, long_name = ?", (HOSTILE, HOSTILE))
        connection.execute("UPDATE op SET name = '/' || ? || id, type = ?", (HOSTILE, HOSTILE))
        connection.execute("UPDATE string SET value = ? || id WHERE id > 0", (HOSTILE,))
        connection.execute("UPDATE finding SET problem = ?, headline = ?", (HOSTILE, "<img src=x onerror=alert(2)>"))
        connection.execute("UPDATE process SET host = ?", (HOSTILE,))
        connection.execute("CREATE VIEW more AS SELECT 1")  # none of ours: it is not to be in the page
    connection.close()


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
            ["node", SOURCE / "viewer/test/browser.mjs", browser, plan], capture_output=True, text=True, timeout=280
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


class ServeTest(EndToEndTest):
    """The same page from a server."""

    def setUp(self):
        super().setUp()
        self.places = self.folder / "tmp"
        self.places.mkdir()

    def serve(self, *files):
        """The address of the page; the server ends with the test."""
        server = self.start([DLKPROF, "view", "--serve", "--no-open", *files], env={"TMPDIR": str(self.places)})
        self.addCleanup(self.end, server)
        address = server.stdout.readline().strip()
        self.assertRegex(address, r"^http://127\.0\.0\.1:\d+/[0-9a-f]{32}/$")
        return urllib.parse.urlsplit(address)

    def end(self, server):
        server.terminate()
        server.communicate(timeout=10)

    def request(self, address, method="GET", path=None, body=None, timeout=30, **fields):
        """Status and body."""
        connection = http.client.HTTPConnection("127.0.0.1", address.port, timeout=timeout)
        try:
            connection.request(method, address.path if path is None else path, body, fields)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def ask(self, address, sql, timeout=30, run=0, **fields):
        body = json.dumps({"run": run, "sql": sql})
        return self.request(
            address, "POST", address.path + "sql", body, timeout, **({"Content-Type": "application/json"} | fields)
        )

    def test_who_has_the_address_gets_page_and_answers(self):
        database = make_database(self.folder, "cifar10_b4")
        address = self.serve(database, make_database(self.folder, "cifar10_b512"))
        status, page = self.request(address)
        self.assertEqual(200, status)
        self.assertIn("connect-src 'self'", page)
        self.assertNotIn('id="run-0"', page)
        status, answer = self.ask(address, "SELECT op_id, gpu_total_ns FROM detail ORDER BY 1")
        connection = sqlite3.connect(database)
        expected = [list(row) for row in connection.execute("SELECT op_id, gpu_total_ns FROM detail ORDER BY 1")]
        connection.close()
        self.assertEqual((200, expected), (status, json.loads(answer)["rows"]))
        self.assertEqual(200, self.ask(address, "SELECT count(*) FROM main.detail JOIN run1.detail USING (op_id)")[0])
        self.assertEqual([], list(self.places.iterdir()))  # nothing of it is on the disk any more

    def test_others_are_refused(self):
        address = self.serve(SOURCE / "samples/captures/cifar10_b4.dlkcap")
        token = address.path.strip("/")
        other = token[:-1] + ("1" if token[-1] == "0" else "0")
        for path in ("/", "/sql", f"/{other}/x/", f"/{token}", f"/{token}x/", f"/{'0' * 32}/", "/../" + token + "/"):
            self.assertEqual(403, self.request(address, path=path)[0], path)
        for host in ("evil.example", "evil.example:80", f"127.0.0.1.evil.example:{address.port}", ""):
            self.assertEqual(403, self.request(address, Host=host)[0], host)
        self.assertEqual(200, self.request(address, Host="localhost:1234")[0])  # through ssh -L
        site, origin = "Sec-Fetch-Site", "Origin"
        for fields in ({site: "cross-site"}, {site: "same-site"}, {origin: "http://evil.example"}, {origin: "null"}):
            self.assertEqual(403, self.ask(address, "SELECT 1", **fields)[0], fields)
        self.assertEqual(400, self.ask(address, "SELECT 1", **{"Content-Type": "text/plain"})[0])
        for method in ("PUT", "DELETE", "OPTIONS", "HEAD"):
            self.assertEqual(405, self.request(address, method)[0], method)
        self.assertEqual(405, self.request(address, path=address.path + "sql")[0])
        self.assertEqual(404, self.request(address, path=address.path + "etc/passwd")[0])

    def test_only_reading_is_answered(self):
        address = self.serve(SOURCE / "samples/captures/cifar10_b4.dlkcap")
        for sql in ("DELETE FROM op", "ATTACH '/etc/passwd' AS x", "PRAGMA query_only = OFF", "CREATE TABLE x (y)",
                    "VACUUM INTO '/tmp/x'", "SELECT load_extension('x')", "SELECT 1; DELETE FROM op", "",
                    "SELECT writefile('/tmp/x', 'y')", "SELECT readfile('/etc/passwd')"):  # fmt: skip
            status, answer = self.ask(address, sql)
            self.assertEqual(400, status, sql)
            self.assertNotIn("/tmp", json.loads(answer)["error"])
        self.assertEqual(200, self.ask(address, "SELECT 1")[0])

    def test_a_question_without_end_ends_when_nobody_waits(self):
        address = self.serve(SOURCE / "samples/captures/cifar10_b4.dlkcap")
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
        with self.assertRaises(TimeoutError):
            self.ask(address, endless, timeout=1)
        self.assertEqual(200, self.ask(address, "SELECT 1", timeout=5)[0])

    def test_nonsense_does_not_end_it(self):
        address = self.serve(SOURCE / "samples/captures/cifar10_b4.dlkcap")
        for sent in (b"nonsense\r\n\r\n", b"\0" * 20000, b"POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", b""):
            with socket.create_connection(("127.0.0.1", address.port), timeout=10) as one:
                one.sendall(sent)
                one.shutdown(socket.SHUT_WR)
                while one.recv(65536):
                    pass
        waiting = [socket.create_connection(("127.0.0.1", address.port)) for _ in range(8)]  # that never say anything
        self.assertEqual(200, self.request(address)[0])
        for one in waiting:
            one.close()

    def test_a_hostile_database_is_only_cells(self):
        database = make_database(self.folder, "cifar10_b4")
        make_hostile(database)
        connection = sqlite3.connect(database)
        with connection:
            connection.execute("DROP VIEW detail")
            endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS op_id FROM n"
            connection.execute(f"CREATE VIEW detail AS {endless}")
        connection.close()
        address = self.serve(database)
        status, answer = self.ask(address, "SELECT count(*) FROM detail")
        self.assertEqual((200, [[268]]), (status, json.loads(answer)["rows"]))
        self.assertEqual(400, self.ask(address, "SELECT * FROM more")[0])


class PageTest(EndToEndTest):
    """The file itself."""

    def setUp(self):
        super().setUp()
        self.capture_file = SOURCE / f"samples/captures/{MAIN}.dlkcap"

    def test_it_is_private_small_and_asks_nothing_of_anybody(self):
        view(self.folder, self.capture_file)
        page = self.folder / f"{MAIN}.html"
        self.assertEqual(0o600, stat.S_IMODE(page.stat().st_mode))
        text = page.read_text(encoding="utf-8")
        self.assertLessEqual(len(text), MOST_BYTES)
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
        self.assertIn("default-src 'none'", policy)
        self.assertIn("connect-src 'none'", policy)
        self.assertNotIn("unsafe-inline", policy)
        self.assertNotIn("'unsafe-eval'", policy)
        self.assertEqual([], re.findall(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=\"(?!data:)[^\"]*\"", text))

    def test_the_same_run_gives_the_same_page(self):
        database = make_database(self.folder, MAIN)
        view(self.folder, database, "--base_name", "first")
        view(self.folder, database, "--base_name", "second")
        self.assertEqual((self.folder / "first.html").read_bytes(), (self.folder / "second.html").read_bytes())

    def test_a_page_that_is_there_is_not_replaced_unasked(self):
        page = self.folder / f"{MAIN}.html"
        page.write_text("mine", encoding="utf-8")
        refused = self.dlkprof("view", "--no-open", self.capture_file, "--output_path", self.folder)
        self.assertEqual(2, refused.code)
        self.assertIn("--force", refused.stderr)
        self.assertEqual("mine", page.read_text(encoding="utf-8"))
        self.assertEqual(0, self.dlkprof("view", "--no-open", "-f", self.capture_file, "--output_path", self.folder).code)
        self.assertNotEqual("mine", page.read_text(encoding="utf-8"))

    def test_what_is_no_run_is_refused(self):
        other = self.folder / "other.sqlite"
        connection = sqlite3.connect(other)
        connection.execute("CREATE TABLE t (x)")
        connection.close()
        for words, code in (([other], 1), ([self.folder / "none.dlkcap"], 1), ([], 2), ([self.capture_file] * 9, 2)):
            done = self.dlkprof("view", "--no-open", "--output_path", self.folder, *words)
            self.assertEqual(code, done.code, done.stderr)
        self.assertEqual([], list(self.folder.glob("*.html")))

    def test_the_run_that_lacks_a_kind_is_named(self):
        other = SOURCE / "samples/captures/cifar10_b4.dlkcap"
        for runs in ([self.capture_file, other], [other]):
            done = self.dlkprof("view", "--no-open", "--output_path", self.folder, "--iter_kind=decode", *runs)
            self.assertEqual(2, done.code, done.stderr)
            named = f"{runs[0]}: " if len(runs) > 1 else ""
            self.assertIn(f"{named}--iter_kind: there are no iterations of kind decode", done.stderr)

    def test_it_is_opened_where_there_is_a_screen(self):
        browser = self.folder / "xdg-open"
        opened = self.folder / "opened"
        browser.write_text(f'#!/bin/sh\necho "$1" >{opened}.new && mv {opened}.new {opened}\n', encoding="utf-8")
        browser.chmod(0o755)
        path = {"PATH": f"{self.folder}:{os.environ['PATH']}"}
        words = ["view", "-f", self.capture_file, "--output_path", self.folder]
        for env, more in ((path, []), (path | {"DISPLAY": ":0"}, ["--no-open"])):
            self.assertNotIn("opened", self.dlkprof(*words, *more, env=env).stderr)
        self.assertIn("opened", self.dlkprof(*words, env=path | {"DISPLAY": ":0"}).stderr)
        end = time.monotonic() + 10
        while not opened.exists() and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(f"{self.folder}/{MAIN}.html\n", opened.read_text(encoding="utf-8"))

    def test_nothing_is_left_in_the_temporary_folder(self):
        places = self.folder / "tmp"
        places.mkdir()
        done = self.dlkprof("view", "--no-open", "--output_path", self.folder, self.capture_file, env={"TMPDIR": str(places)})
        self.assertEqual(0, done.code, done.stderr)
        self.assertEqual([], list(places.iterdir()))
