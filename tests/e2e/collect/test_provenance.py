"""Every figure says where it comes from: in the database, in reports and on the terminal."""

import csv
import io
import math
import sqlite3
import statistics

from harness import ADD, GEMM, LAUNCHES_OF_AN_ITERATION, METRICS, PASSES, EndToEndTest, short_name

DURATION = METRICS[0]
ITERATIONS = 4


class ProvenanceTest(EndToEndTest):
    def query(self, sql):
        with sqlite3.connect(self.folder / "dlkprof_dldb.sqlite") as database:
            return database.execute(sql).fetchall()

    def profile_with_database(self, *options):
        self.profile_unharmed(f"train:{ITERATIONS}", "nccl:2", options=["--timeline=on", *options])

    def test_database_says_how_each_metric_was_measured(self):
        self.profile_with_database("--replay-mode=kernel", "--samples=3", "--cache-control=all")
        rows = self.query(
            "SELECT config, metric, samples, mean, min, max, stddev, collected_by, cache_control, passes FROM metrics"
        )
        configs = {row[0] for row in rows}
        self.assertGreaterEqual(len(configs), len(set(LAUNCHES_OF_AN_ITERATION)))
        self.assertEqual(len(configs) * len(METRICS), len(rows))
        for config, metric, samples, mean, least, most, stddev, way, caches, passes in rows:
            self.assertEqual(("kernel replay", "all", PASSES), (way, caches, passes))
            values = [value for (value,) in self.query(
                f"SELECT value FROM metric_samples WHERE config = {config} AND metric = '{metric}'")]  # fmt: skip
            self.assertEqual((3, len(values), min(values), max(values)), (samples, samples, least, most))
            self.assertTrue(math.isclose(statistics.fmean(values), mean, rel_tol=1e-12))
            self.assertTrue(math.isclose(statistics.stdev(values), stddev, rel_tol=1e-9, abs_tol=1e-9 * abs(mean)))

    def test_ways_are_not_mixed(self):
        self.profile_unharmed("train:100", "sleep:300", "train:200", options=["--timeline=on", "--samples=2"])
        ways = self.query(f"SELECT DISTINCT collected_by FROM metrics WHERE metric = '{DURATION}' ORDER BY 1")
        self.assertEqual([("iteration replay",), ("kernel replay",)], ways)
        rows = self.report_json(self.folder / "dlkprof.dlkcap", "--reports=kernel")
        collected = {row["Collected By"] for row in rows if row["Samples Measured"]}
        self.assertEqual({"kernel replay, iteration replay"}, collected)

    def test_what_is_incomplete_is_listed_with_the_reason(self):
        self.profile_with_database("--replay-mode=kernel", f"--samples={ITERATIONS + 1}", "-k", f"regex:{ADD}|nccl")
        reasons = dict(self.query("SELECT kernel_name, incomplete FROM coverage"))
        self.assertEqual("", reasons[ADD], "there were no more launches of it")
        self.assertEqual("not matched", reasons[GEMM])
        self.assertEqual(["collective"], [why for name, why in reasons.items() if "nccl" in name])
        told = {row["Kernel Name"]: row["Incomplete Because"]
                for row in self.report_json(self.folder / "dlkprof_dldb.sqlite", "--reports=coverage")}  # fmt: skip
        self.assertIn("waits for other GPUs", next(why for name, why in told.items() if "nccl" in name))
        self.assertIn("Skipped     a collective", self.summary_text(self.folder / "dlkprof.dlkcap"))

    def test_a_database_covers_what_its_capture_does(self):
        self.profile_with_database("-k", GEMM)
        of_capture = self.capture().summary
        of_database = self.report(self.folder / "dlkprof_dldb.sqlite", "--reports=summary", "--format=csv").stdout
        found = {row["Row Name"]: row["Value"] for row in csv.DictReader(io.StringIO(of_database)) if row["Table"] == "Coverage"}
        self.assertEqual({name: str(value) for name, value in of_capture.items()}, found)
        for report in ("measured", "coverage"):
            reports = [self.report(self.folder / name, f"--reports={report}", "--format=csv").stdout
                       for name in ("dlkprof.dlkcap", "dlkprof_dldb.sqlite")]  # fmt: skip
            self.assertEqual(*reports)

    def test_terminal_has_a_line_a_kernel(self):
        self.profile(f"train:{ITERATIONS}", options=["--replay-mode=kernel", "--samples=2", "-k", ADD])
        done = self.report(self.capture().path, "--reports=summary")
        line = next(line for line in done.stdout.splitlines() if line.rstrip().endswith("1x1") and ADD in line)
        self.assertEqual("2", line.split()[0])
        self.assertIn("kernel    as left", line)
        self.assertIn("0.0 %", line)
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 80)

    def test_metrics_report_has_the_spread_of_each_key(self):
        self.profile(f"train:{ITERATIONS}", options=["--replay-mode=kernel", "--samples=2"])
        for row in self.capture().rows:
            self.assertEqual((2, "kernel", "none"), (row["Samples"], row["Replay Mode"], row["Cache Control"]), short_name(row))
            for metric in METRICS:
                self.assertEqual(2, row[f"{metric} (n)"])
                self.assertLessEqual(row[f"{metric} (min)"], row[metric])
                self.assertLessEqual(row[metric], row[f"{metric} (max)"])
                self.assertGreaterEqual(row[f"{metric} (stddev)"], 0)
