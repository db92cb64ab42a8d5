"""From the capture to reports: on stdout, in files, and from counters that were kept."""

import csv
import io
import json

from harness import ADD, METRICS, NVJET, SGEMM, EndToEndTest


class ReportsTest(EndToEndTest):
    def test_table_on_stdout_and_nothing_on_stderr(self):
        self.profile("train:2", options=["-k", SGEMM])
        done = self.report(self.folder / "dlkprof.dlkcap", "--reports=kernels,summary")
        self.assertEqual("", done.stderr)
        for words in (SGEMM, "grid (4, 1, 1), block (128, 1, 1)", "9,120", "NVIDIA H200 (fake), GH100"):
            self.assertIn(words, done.stdout)
        self.assertNotIn("\x1b", done.stdout)

    def test_csv_and_json_say_the_same(self):
        self.profile("train:2", options=["--replay-mode=kernel", "--samples=all"])
        path = self.folder / "dlkprof.dlkcap"
        from_csv = list(csv.DictReader(io.StringIO(self.report(path, "--format=csv").stdout)))
        from_json = self.report_json(path)
        self.assertEqual(12, len(from_json))
        self.assertEqual(len(from_json), len(from_csv))
        for row, other in zip(from_json, from_csv):
            self.assert_recorded_values(row)
            for name in ("ID", "Kernel Name", "Grid Size", *METRICS):
                self.assertEqual(str(row[name]), str(type(row[name])(other[name])), name)

    def test_files_of_a_profile(self):
        outputs = ["--reports=metrics,summary", "--formats=csv,json", "--base_name=run", "--output_path=out"]
        self.profile("train:1", options=["-k", ADD, *outputs])
        names = {path.name for path in (self.folder / "out").iterdir()}
        expected = {f"run_{report}.{form}" for report in ("metrics", "summary") for form in ("csv", "json")}
        self.assertEqual({"run.dlkcap", "run_dldb.sqlite"} | expected, names)
        rows = json.loads((self.folder / "out/run_metrics.json").read_text(encoding="utf-8"))["rows"]
        self.assert_recorded_values(rows[0])

    def test_files_that_are_there_are_kept(self):
        options = ["-k", ADD, "--reports=metrics", "--timeline=on"]
        self.assertEqual(0, self.profile("train:1", options=options).code)
        content = {path: path.read_bytes() for path in self.folder.glob("dlkprof*")}
        self.assertEqual({"dlkprof.dlkcap", "dlkprof_dldb.sqlite", "dlkprof_metrics.csv"}, {path.name for path in content})
        again = self.profile("train:1", options=options)
        self.assertEqual((2, "", 1), (again.code, again.stdout, len(again.said())), again.stderr)
        self.assertIn("--force", again.stderr)
        self.assertEqual(content, {path: path.read_bytes() for path in self.folder.glob("dlkprof*")})
        self.assertEqual(0, self.profile("train:1", options=[*options, "--force"]).code)
        self.assertEqual(set(content), set(self.folder.glob("dlkprof*")))

    def test_who_only_picks_kernels_gets_no_timeline(self):
        done = self.profile_unharmed("train:1", options=["-k", ADD])
        self.assertEqual({"dlkprof.dlkcap"}, {path.name for path in self.folder.glob("dlkprof*")})
        self.assertNotIn("layer", done.stderr)
        self.assertIn("1 launch by kernel replay", done.stderr)
        self.assertIn("--mode pytorch", done.stderr)

    def test_database_option_reports_again(self):
        self.profile("train:1", options=["-k", ADD])
        path = self.folder / "dlkprof.dlkcap"
        done = self.dlkprof(f"--database={path}", "--reports=metrics", "--formats=csv", "--base_name=again")
        self.assertEqual(0, done.code, done.stderr)
        self.assertIn(METRICS[0], (self.folder / "again_metrics.csv").read_text(encoding="utf-8"))

    def test_counters_kept_answer_other_metrics_later(self):
        self.profile_unharmed("train:1", options=["-k", NVJET, "--keep-counters"], metrics=METRICS[:2])
        capture = self.read(self.folder / "dlkprof.dlkcap", f"--metrics={','.join(METRICS)}")
        self.assertEqual(1, len(capture.rows))
        self.assert_recorded_values(capture.rows[0])

    def test_counters_not_kept_are_told(self):
        self.profile("train:1", options=["-k", NVJET], metrics=METRICS[:2])
        path = self.folder / "dlkprof.dlkcap"
        row = self.read(path, f"--metrics={METRICS[0]},{METRICS[5]}").rows[0]
        self.assertIsNone(row.get(METRICS[5]))
        done = self.dlkprof("report", path, f"--metrics={METRICS[5]}")
        self.assertEqual((1, ""), (done.code, done.stdout))
        self.assertIn(f"Profile with --metrics {METRICS[5]}", done.stderr)

    def test_counters_evaluated_later_reach_every_report_and_the_database(self):
        self.profile("train:1", options=["-k", NVJET, "--keep-counters", "--timeline=on"], metrics=METRICS[:1])
        path = self.folder / "dlkprof.dlkcap"
        later = f"--metrics={','.join(METRICS)}"
        self.assertIn(METRICS[5], self.report(path, "--reports=measured", "--format=csv", later).stdout)
        for report in ("detail", "kernel", "op_type"):
            rows = self.report_json(path, f"--reports={report}", later)
            self.assertEqual(1, sum(row["Achieved Occupancy (%)"] is not None for row in rows), report)

    def test_sections(self):
        self.profile("train:1", options=["-k", ADD, "--section=occupancy"], metrics=())
        text = self.report(self.folder / "dlkprof.dlkcap", "--kernels").stdout
        self.assertIn("Occupancy", text)
        self.assertIn("Theoretical Occupancy", text)

    def test_basic_set_without_options(self):
        self.profile_unharmed("train:1", options=["-c", "1"], metrics=())
        self.assertEqual([ADD], self.capture().kernels())

    def test_doctor_on_the_fake_machine(self):
        done = self.dlkprof("doctor")
        self.assertIn("NVIDIA H200 (fake)", done.stdout)
        self.assertRegex(done.stdout, r"ok +CUPTI .*fakes/toolkit/lib64/libcupti")
