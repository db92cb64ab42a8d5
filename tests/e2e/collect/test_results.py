"""The program's results are its own in every mode, and what is measured is what the GPU counted."""

import contextlib
import sqlite3

from harness import ADD, GEMM, INJECTED, LAUNCHES_OF_AN_ITERATION, METRICS, PASSES, PROGRAM, SGEMM, EndToEndTest

# Every way to launch, on several streams and in several contexts, with handles that change.
EVERYTHING = (
    *("train:2", "stream", "train:2", "entry:ptsz", "train:2", "entry:ex", "train:2", "entry:ex_ptsz", "train:2"),
    *("entry:library", "train:2", "entry:plain", "contexts:2:2", "reload:2", "cooperative:2", "nccl:2", "capture:3"),
    *("device:1", "train:2"),
)


class ResultsTest(EndToEndTest):
    def check_everything(self, *options):
        self.profile_unharmed(*EVERYTHING, "exit:7", options=options)
        capture = self.capture()
        self.assertEqual("yes", capture.summary["ended"])
        return capture

    def test_caches_as_they_are(self):
        for row in self.check_everything("--cache-control=none").rows:
            # Cooperative kernels are measured in windows, and come too rarely for all passes.
            in_windows = row["Replay Mode"] == "iteration"
            self.assertEqual("none", row["Cache Control"])
            self.assertTrue(in_windows or row["Passes"] == PASSES, row)
            there = [metric for metric in METRICS if not in_windows or row[metric] is not None]
            self.assertNotEqual([], there)
            self.assert_recorded_values(row, there)

    def test_caches_flushed(self):
        rows = self.check_everything("--cache-control=all").rows
        for row in rows:
            self.assertEqual((PASSES, "all"), (row["Passes"], row["Cache Control"]))
            self.assert_recorded_values(row)
        trace = self.journal_lines("trace")
        passes = [i for i, line in enumerate(trace) if line.startswith("pass ")]
        self.assertEqual(PASSES * len(rows), len(passes))
        self.assertEqual(["flush"] * len(passes), [trace[i - 1] for i in passes])
        self.assertEqual(trace.count("checkpoint save"), trace.count("checkpoint free"))
        self.assertEqual(len(rows), trace.count("checkpoint save"))

    def test_all_samples(self):
        # 2 iterations each: one an entry or stream (6), in new contexts (2), with a module reloaded; the recorded iteration,
        # collectives, cooperative launches, and those on the other GPU, which comes after a collective, are left alone.
        rows = self.check_everything("--replay-mode=kernel", "--samples=all").rows
        self.assertEqual(9 * 2 * len(LAUNCHES_OF_AN_ITERATION), len(rows))

    def test_no_replay(self):
        capture = self.check_everything("--replay-mode=none")
        self.assertEqual(([], 0), (capture.rows, capture.summary["measured"]))
        self.assertEqual([], self.journal_lines("trace"))

    def test_nothing_selected(self):
        self.assertEqual([], self.check_everything("-k", "no_such_kernel").rows)

    def test_every_launch_is_counted_and_timed(self):
        capture = self.check_everything("--replay-mode=none")
        launches = 10 * 2 * len(LAUNCHES_OF_AN_ITERATION) + 2 + 2 + len(LAUNCHES_OF_AN_ITERATION)
        self.assertEqual((launches, 3), (capture.summary["launches"], capture.summary["graph_launches"]))
        # Those recorded into the graph do not run by themselves.
        self.assertEqual(launches - len(LAUNCHES_OF_AN_ITERATION), capture.summary["timed"])
        nanoseconds = {ADD: 47232, "rotate": 7072, GEMM: 12096, "nvjet": 24736, SGEMM: 9120}
        iteration = sum(nanoseconds.values()) + nanoseconds[GEMM]
        self.assertEqual(20 * iteration + 2 * nanoseconds[SGEMM] + 2 * 35936, capture.summary["timed_gpu_ns"])
        self.assertEqual(3 * iteration, capture.summary["graph_gpu_ns"])

    def test_launch_entries(self):
        for entry in ("plain", "ptsz", "ex", "ex_ptsz", "library"):
            with self.subTest(entry=entry):
                options = ["--cache-control=all", "-k", GEMM, f"--base_name={entry}"]
                self.profile_unharmed(f"entry:{entry}", "train:1", options=options)
                rows = self.read(self.folder / f"{entry}.dlkcap").rows
                self.assertEqual(["(4, 1, 1)", "(8, 1, 1)"], [row["Grid Size"] for row in rows])
                cluster = "(2, 1, 1)" if entry.startswith("ex") else "(1, 1, 1)"
                stream = 8 if entry.endswith("ptsz") else 7
                self.assertEqual({(cluster, stream)}, {(row["Cluster Size"], row["Stream"]) for row in rows})

    def test_kernels_compiled_for_clusters_are_measured_as_what_the_timeline_has(self):
        for mode in ("kernel", "iteration"):
            with self.subTest(mode=mode):
                self.profile_unharmed("train:30", options=[f"--replay-mode={mode}", f"--base_name={mode}"])
                with contextlib.closing(sqlite3.connect(self.folder / f"{mode}_dldb.sqlite")) as connection:
                    found = connection.execute(
                        "SELECT cluster_x, (SELECT count(*) FROM activity WHERE config = c.id) > 20, "
                        "(SELECT count(*) FROM metrics WHERE config = c.id) FROM config c JOIN kernel k ON k.id = c.kernel "
                        "WHERE k.name = 'rotate'"
                    ).fetchall()
                self.assertEqual([(2, 1, len(METRICS))], found)

    def test_left_alone_with_the_reason(self):
        capture = self.check_everything("--replay-mode=kernel")
        self.assertEqual(2 + 2 + 3 * len(LAUNCHES_OF_AN_ITERATION), capture.summary["left_alone"])
        text = self.summary_text(capture.path)
        for word in ("cooperative", "collective", "graph"):
            self.assertIn(word, text)

    def test_stdout_is_the_programs(self):
        done = self.profile("print:hello", "train:1", options=["--verbosity=diagnostic"])
        self.assertEqual(self.unprofiled("print:hello", "train:1").stdout, done.stdout)
        self.assertIn("kernel replay, 10 passes", done.stderr)

    def test_quiet(self):
        done = self.profile("train:1", options=["--verbosity=quiet"])
        self.assertEqual("", done.stderr)
        self.assertEqual(len(LAUNCHES_OF_AN_ITERATION), len(self.capture().rows))

    def test_program_without_cuda(self):
        done = self.dlkprof("/bin/sh", "-c", "echo out; echo err >&2; exit 5")
        self.assertEqual((5, "out\n"), (done.code, done.stdout))
        self.assertTrue(done.stderr.startswith("err\n"), done.stderr)
        self.assertIn("no capture was made", done.stderr)
        self.assertEqual([], self.captures())

    def test_library_injected_without_being_asked(self):
        done = self.run_command(PROGRAM, "train:1", env={"CUDA_INJECTION64_PATH": str(INJECTED)})
        self.assertEqual((0, "", self.unprofiled("train:1").stdout), (done.code, done.stderr, done.stdout))
        self.assertEqual([], self.captures())

    def test_options_that_are_garbage(self):
        for options in ("", "garbage", "{", '{"samples": -1}', "[]", '{"kernel_name": "regex:("}'):
            with self.subTest(options=options):
                env = {"CUDA_INJECTION64_PATH": str(INJECTED), "DLKPROF_OPTIONS": options}
                done = self.run_command(PROGRAM, "train:1", env=env)
                self.assertEqual((0, self.unprofiled("train:1").stdout), (done.code, done.stdout))
                self.assertEqual(1, len(done.said()), done.stderr)

    def test_metric_that_this_gpu_lacks(self):
        # Known on another chip only: measured without it, and said so.
        done = self.profile("train:1", options=["-k", ADD], metrics=[*METRICS, "idc__requests.sum"])
        self.assertEqual(0, done.code, done.stderr)
        self.assert_recorded_values(self.capture().rows[0])
