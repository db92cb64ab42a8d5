"""The queries of docs/user/cookbook.md, each run on databases of the captures that ship."""

import re
import sqlite3

from harness import BUILD, PROGRAM, SOURCE, EndToEndTest

PAGE = SOURCE / "docs/user/cookbook.md"
CAPTURES = {"batch4": "cifar10_b4", "batch512": "cifar10_b512", "jax": "jax_mlp"}
MOST_LINES = 6
# Questions about counters, and 0 for those about verdicts, which need them. In the steady range of jax all kernels are inside CUDA
# graphs, which have none.
OF_COUNTERS = {0, 1, 2, 3}


def queries():
    """(heading, SQL) of every query."""
    found = []
    for part in re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        heading = part.splitlines()[0]
        found += [(heading, sql) for sql in re.findall(r"```sql\n(.*?)```", part, flags=re.DOTALL)]
    return found


class CookbookTest(EndToEndTest):
    def setUp(self):
        super().setUp()
        for name, capture in CAPTURES.items():
            database = self.folder / f"{name}_dldb.sqlite"
            done = self.run_command(BUILD / "bin/capture_database", database, SOURCE / f"samples/captures/{capture}.dlkcap")
            self.assertEqual(0, done.code, done.stderr)

    def ask(self, name, sql):
        """The rows of the last statement, as dictionaries."""
        connection = sqlite3.connect(self.folder / f"{name}_dldb.sqlite")
        connection.row_factory = sqlite3.Row
        try:
            for statement in filter(None, (part.strip() for part in sql.split(";"))):
                rows = connection.execute(statement.replace("ATTACH '", f"ATTACH '{self.folder}/")).fetchall()
            return [dict(row) for row in rows]
        finally:
            connection.close()

    def test_there_are_ten_questions_and_short_answers(self):
        numbers = [int(match[1]) for heading, _ in queries() if (match := re.match(r"(\d+)\.", heading))]
        self.assertEqual(list(range(1, 11)), numbers)
        for heading, sql in queries():
            self.assertLessEqual(len(sql.splitlines()), MOST_LINES, heading)

    def test_every_query_gives_rows(self):
        for heading, sql in queries():
            for name in CAPTURES if "batch" not in heading else ["batch4"]:
                with self.subTest(heading=heading, database=name):
                    rows = self.ask(name, sql)
                    if name == "jax" and int(re.match(r"\d*", heading)[0] or 0) in OF_COUNTERS:
                        continue
                    self.assertTrue(rows, sql)
                    for column in rows[0]:
                        self.assertTrue(any(row[column] is not None for row in rows), f"{column} is always NULL")

    def test_a_profile_writes_its_diagnosis(self):
        done = self.dlkprof("--section=speed_of_light", "--section=stall", PROGRAM, "marked:10")
        self.assertEqual(0, done.code, done.stderr)
        for view in ("findings", "verdicts", "stalls", "occupancy", "phases"):  # gaps: a fast fake may leave none
            self.assertTrue(self.ask("dlkprof", f"SELECT * FROM {view}"), view)
        before = self.ask("dlkprof", "SELECT count(*) AS n FROM findings")
        again = self.dlkprof("--database=dlkprof_dldb.sqlite", "--iter_start=1", "--iter_stop=5", "--reports=summary",
                             "--output_path=again")  # fmt: skip
        self.assertEqual(0, again.code, again.stderr)
        self.assertEqual([2], [row["a"] for row in self.ask("dlkprof", "SELECT aggregation AS a FROM summary")])
        self.assertTrue(before and self.ask("dlkprof", "SELECT * FROM verdicts"))

    def test_answers_are_those_of_the_reports(self):
        database = sqlite3.connect(self.folder / "batch512_dldb.sqlite")
        self.addCleanup(database.close)

        def one(sql):
            return database.execute(sql).fetchone()[0]

        self.assertEqual(one("SELECT sum(gpu_total_ns) FROM phases"), one("SELECT sum(gpu_total_ns) FROM op_kernels"))
        self.assertAlmostEqual(100, one("SELECT sum(gpu_pct) FROM phases"))
        self.assertEqual(
            {"forward", "backward", "optimizer"},
            {"forward", "backward", "optimizer"} & {row[0] for row in database.execute("SELECT phase FROM phases")},
        )
        # Every kernel of an op has a row of its own, also where two have one short name.
        self.assertEqual(
            one("SELECT count(*) FROM op_kernels"), one("SELECT count(*) FROM (SELECT DISTINCT op_id, kernel FROM op_kernels)")
        )
        self.assertEqual(
            0, one("SELECT count(*) FROM (SELECT 1 FROM op_kernel_metrics GROUP BY op_id, kernel, metric HAVING count(*) > 1)")
        )
        # Gaps are what no kernel, copy or set of before fills.
        gaps, free_ns = 0, None
        for start, end, aggregated in database.execute(
            "SELECT k.gpu_start_ns, k.gpu_start_ns + k.gpu_ns, i.aggregated FROM kernels k JOIN iterations i USING (iteration) "
            "WHERE k.gpu_start_ns IS NOT NULL ORDER BY k.gpu_start_ns"
        ):
            if free_ns is not None and start > free_ns and aggregated:
                gaps += start - free_ns
            free_ns = end if free_ns is None else max(free_ns, end)
        self.assertEqual(gaps, one("SELECT sum(gap_ns) FROM gaps"))
        # Stalls of an op are shares of one whole.
        for (total,) in database.execute("SELECT sum(pct) FROM stalls GROUP BY level, op_id, kernel"):
            self.assertAlmostEqual(100, total, places=6)
        self.assertGreater(one("SELECT count(*) FROM verdicts"), 10)
        expert = self.report_json(self.folder / "batch512_dldb.sqlite", "--reports=expert_systems")
        self.assertEqual([row["Problem"] for row in expert], [row[0] for row in database.execute("SELECT problem FROM findings")])
        occupancy = self.report_json(self.folder / "batch512_dldb.sqlite", "--reports=occupancy")
        self.assertEqual(
            sorted((row["Config"], row["Limiter"]) for row in occupancy),
            sorted(database.execute("SELECT config, limiter FROM occupancy")),
        )
