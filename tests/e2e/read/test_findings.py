"""--reports findings --format json: valid by its schema, and each query gives the figure that is stated."""

import copy
import json
import re
import sqlite3

from harness import BUILD, PROGRAM, SOURCE, EndToEndTest, python_with

CAPTURES = sorted(path.stem for path in (SOURCE / "samples/captures").glob("*.dlkcap"))
SCHEMA = SOURCE / "src/report/diagnosis/findings.schema.json"


class FindingsTest(EndToEndTest):
    def faults(self, document):
        """What Debian's python3-jsonschema says of it; nothing where it is valid."""
        path = self.folder / "findings.json"
        path.write_text(json.dumps(document))
        done = self.run_command(python_with("jsonschema"), "-W", "ignore", "-m", "jsonschema", "-i", path, SCHEMA)
        self.assertEqual(done.code != 0, bool(done.stderr), done.stderr)
        return done.stderr

    def findings(self, path):
        done = self.dlkprof("report", path, "--reports=findings", "--format=json")
        self.assertEqual(0, done.code, done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual("", self.faults(document))
        return document

    def database(self, capture):
        path = self.folder / f"{capture}_dldb.sqlite"
        done = self.run_command(BUILD / "bin/capture_database", path, SOURCE / f"samples/captures/{capture}.dlkcap")
        self.assertEqual(0, done.code, done.stderr)
        connection = sqlite3.connect(path)
        self.addCleanup(connection.close)
        return path, connection

    def assert_given(self, connection, query, value):
        rows = connection.execute(query).fetchall()
        self.assertEqual((1, 1), (len(rows), len(rows[0])), query)
        self.assertIsNotNone(value, query)
        self.assertAlmostEqual(value, rows[0][0], delta=1e-9 * abs(value), msg=query)

    def test_every_query_gives_the_figure_stated(self):
        for capture in CAPTURES:
            with self.subTest(capture=capture):
                path, connection = self.database(capture)
                document = self.findings(path)
                self.assertTrue(document["findings"])
                stated = [figure for one in document["findings"] for figure in one["evidence"]]
                for figure in [document["run"]["iteration_time"], *stated]:
                    self.assert_given(connection, figure["query"], figure["value"])
                    if figure["interval"]:
                        self.assertLessEqual(figure["interval"][0], figure["value"])
                        self.assertLessEqual(figure["value"], figure["interval"][1])
                for one in document["findings"]:
                    if one["estimated_gain"]:
                        self.assert_given(connection, one["estimated_gain"]["query"], one["estimated_gain"]["ns_per_iteration"])
                    connection.execute(one["verify"]["look_at"]).fetchone()
                self.assertEqual(document, self.findings(SOURCE / f"samples/captures/{capture}.dlkcap"))

    def test_a_wrong_figure_would_be_noticed(self):
        path, connection = self.database("cifar10_b512")
        stated = [figure for one in self.findings(path)["findings"] for figure in one["evidence"]]
        self.assertTrue(stated)
        for figure in stated:
            with self.assertRaises(self.failureException, msg=figure["query"]):
                self.assert_given(connection, figure["query"], figure["value"] * 1.000001 if figure["value"] else 1e-6)
        # The queries read the database: of another run they give other figures.
        _, other = self.database("cifar10_b4")
        unlike = sum(other.execute(figure["query"]).fetchone() != (figure["value"],) for figure in stated)
        self.assertGreater(unlike, len(stated) / 2)

    def test_they_are_those_of_the_expert_system(self):
        path, _ = self.database("cifar10_b512")
        document = self.findings(path)
        rows = self.report_json(path, "--reports=expert_systems")
        self.assertEqual(
            [(row["Rule"], row["Problem"], row["Op ID"]) for row in rows],
            [(one["rule"], one["claim"], one["op_id"]) for one in document["findings"]],
        )
        self.assertEqual(len(rows), len({one["id"] for one in document["findings"]}))
        figures = self.dlkprof("report", path, "--reports=findings", "--format=csv")
        wanted = sum(len(one["evidence"]) + (one["estimated_gain"] is not None) for one in document["findings"])
        self.assertGreaterEqual(len(figures.stdout.splitlines()), 1 + wanted)

    def test_what_was_not_measured_is_no_all_clear(self):
        self.dlkprof("--replay-mode=none", "--timeline=on", PROGRAM, "marked:10")
        (path,) = self.folder.glob("*_dldb.sqlite")
        document = self.findings(path)
        missing = {one["rule"]: one["collect_with"] for one in document["not_measured"]}
        self.assertEqual({"tensor_cores_unused": "--section tensor", "register_limited": "--section speed_of_light",
                          "uncoalesced": "--section memory", "bank_conflicts": "--section memory",
                          "divergence": "--section stall"}, missing)  # fmt: skip
        self.assertFalse({one["rule"] for one in document["findings"]} & set(missing))
        full, _ = self.database("cifar10_b512")
        self.assertNotIn("bank_conflicts", {one["rule"] for one in self.findings(full)["not_measured"]})
        # In CUDA graphs no section measures.
        graphs, _ = self.database("jax_mlp")
        self.assertEqual({"--replay-mode sample"}, {one["collect_with"] for one in self.findings(graphs)["not_measured"]})

    def test_a_run_without_ops_says_so(self):
        done = self.dlkprof("--replay-mode=none", "--timeline=off", "--base_name=plain", PROGRAM, "marked:3")
        self.assertEqual(0, done.code, done.stderr)
        document = self.findings(self.folder / "plain.dlkcap")
        self.assertEqual([], document["findings"])
        (reason,) = document["not_measured"]
        self.assertEqual((None, "no ops were recorded"), (reason["rule"], reason["not_measured_because"]))

    def test_the_schema_refuses_what_is_wrong(self):
        path, _ = self.database("cifar10_b4")
        good = self.findings(path)
        for change in (
            lambda document: document.pop("run"),
            lambda document: document.update(schema="dlkprof/findings/2"),
            lambda document: document["findings"][0].update(guess=1),
            lambda document: document["findings"][0]["evidence"].clear(),
            lambda document: document["findings"][0]["evidence"][0].update(query="DELETE FROM op"),
            lambda document: document["findings"][0]["evidence"][0].update(interval=[1]),
            lambda document: document["run"]["iterations"].update(first=-1),
        ):
            bad = copy.deepcopy(good)
            change(bad)
            self.assertTrue(self.faults(bad))


class MarkdownTest(EndToEndTest):
    def test_the_screen_fits_and_says_what_it_rests_on(self):
        for capture in CAPTURES:
            with self.subTest(capture=capture):
                path = SOURCE / f"samples/captures/{capture}.dlkcap"
                text = self.report(path, "--format=markdown").stdout
                lines = text.splitlines()
                self.assertLessEqual(len(lines), 60)
                self.assertTrue(lines[0].startswith("# The GPU "), lines[0])
                first = self.report(path).stdout.replace("\n", " ")
                self.assertTrue(first.startswith(lines[0][2:].replace("\\", "")[:60]))
                queries = [line.split("`")[1] for line in lines if line.startswith("   - ")]
                self.assertTrue(queries)
                self.assertTrue(all(query.startswith("SELECT ") for query in queries))
                self.assertIn("`dlkprof compare ", lines[-1])
                self._check_tables(lines)

    def _check_tables(self, lines):
        rows = [line for line in lines if line.startswith("|")]
        self.assertTrue(rows)
        self.assertEqual(1, len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}))

    def test_reports_are_tables(self):
        path = SOURCE / "samples/captures/cifar10_b512.dlkcap"
        for name in ("detail", "kernel", "summary", "findings"):
            lines = self.report(path, f"--reports={name}", "--format=markdown").stdout.splitlines()
            self._check_tables(lines)
            self.assertGreater(len(lines), 3)
        lines = self.report(
            path, "--reports=kernel", "--format=markdown", "--top=3", "--columns=kernel_name,op_id"
        ).stdout.splitlines()
        self.assertEqual("| Kernel Name | Op ID |", lines[0])
        self.assertEqual(3, sum(line.startswith("|") for line in lines) - 2)
