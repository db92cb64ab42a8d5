"""--dry-run: the plan on stdout, and nothing started."""

from harness import GEMM, LAUNCHES_OF_AN_ITERATION, METRICS, PASSES, PROGRAM, EndToEndTest


class DryRunTest(EndToEndTest):
    def plan(self, *words):
        done = self.dlkprof("--dry-run", "--chip=GH100", *words)
        self.assertEqual((0, ""), (done.code, done.stderr))
        return done.stdout

    def row(self, text, name):
        """The cells of a row of one of the tables."""
        return next([cell.strip() for cell in line.split("  ") if cell] for line in text.splitlines() if line.startswith(name))

    def test_starts_nothing_and_writes_nothing(self):
        text = self.plan("--set=quick", PROGRAM, "print:started")
        self.assertNotIn("started", text)
        self.assertIn("in 1 pass, by the hardware performance monitors alone", text)
        self.assertEqual([], list(self.folder.iterdir()))

    def test_says_what_each_metric_takes(self):
        text = self.plan(f"--metrics={','.join(METRICS)}")
        self.assertIn(f"{len(METRICS)} in {PASSES} passes", text)
        for metric in METRICS:
            self.assertEqual(metric, self.row(text, metric + " ")[0])
        self.assertIn("210 ms", self.row(text, "kernel replay"), "21 ms a pass")

    def test_counts_launches_of_an_earlier_run(self):
        self.profile("train:5", "nccl:1", options=["--timeline=on", "--replay-mode=none"])
        of_gemm = 5 * LAUNCHES_OF_AN_ITERATION.count(GEMM)
        for earlier in ("dlkprof.dlkcap", "dlkprof_dldb.sqlite", "."):
            text = self.plan("--replay-mode=kernel", "--samples=2", f"--database={earlier}", "-k", GEMM)
            self.assertIn(f"{of_gemm} launches of", text)
        text = self.plan("--replay-mode=kernel", "--database=dlkprof_dldb.sqlite")
        self.assertIn("Skipped     1 launch of collectives", text)

    def test_modes_differ(self):
        self.assertNotIn("iteration replay", self.plan("--replay-mode=kernel"))
        text = self.plan("--replay-mode=iteration")
        self.assertNotIn("kernel replay", text)
        self.assertIn("--max-overhead", text)
        self.assertNotIn("Costs are", self.plan("--replay-mode=none"))

    def test_more_memory(self):
        def megabytes(*words):
            number, unit = self.row(self.plan("--replay-mode=iteration", *words), "iteration replay")[-1].split()
            self.assertEqual("MB", unit)
            return float(number)

        self.assertAlmostEqual(300, megabytes(), delta=2)
        self.assertAlmostEqual(400, megabytes("--max-memory=400"), delta=2)

    def test_mistakes_are_told(self):
        for words, said in ((["--chip=GH100", PROGRAM], "--dry-run"), (["--dry-run", "--chip=GH999"], "GH999"),
                            (["--dry-run", "--chip=GH100", "--max-memory=100"], "--max-memory"),
                            (["--dry-run", "--chip=GH100", "--database=none.sqlite"], "none.sqlite")):  # fmt: skip
            done = self.dlkprof(*words)
            self.assertNotEqual(0, done.code)
            self.assertEqual("", done.stdout)
            self.assertIn(said, done.stderr)
