"""--replay-mode sample: the GPU is sampled while the program runs at its own speed, and nothing is replayed."""

import csv
import io
import sqlite3

from harness import METRICS, RECORDED_ROW, RECORDED_ROWS, EndToEndTest

# Those of the recording that one pass can count, and whose value does not depend on the length of a sample.
RATIOS = ["dram__throughput.avg.pct_of_peak_sustained_elapsed", "sm__warps_active.avg.pct_of_peak_sustained_active"]
COUNT = "dram__bytes_read.sum"
SAMPLED = [*RATIOS, COUNT]
OFTEN = ["--replay-mode=sample", "--pm-sampling-interval=10000"]
THROUGHOUT = ["--timeline=on"]  # CUPTI stays, so that burst follows burst
# Launches for longer than it takes to begin, with pauses in which the GPU is idle.
PROGRAM = [step for _ in range(12) for step in ("train:500", "sleep:80")]


# Long enough for CUPTI to come back, with what happens once in each iteration and what happens in none.
LONG_PROGRAM = [step for _ in range(60) for step in ("train:500", "sleep:80")]


class SampledTest(EndToEndTest):
    def sampled(self, *steps, options=THROUGHOUT, **more):
        return self.profile_unharmed(*(steps or PROGRAM), options=[*OFTEN, *options], metrics=SAMPLED, **more)

    def report_rows(self, name):
        done = self.dlkprof("report", self.database(), f"--reports={name}", "--format=csv")
        self.assertEqual(0, done.code, done.stderr)
        return list(csv.DictReader(io.StringIO(done.stdout)))

    def database(self):
        return self.folder / "dlkprof_dldb.sqlite"

    def query(self, statement):
        connection = sqlite3.connect(self.database())
        try:
            return connection.execute(statement).fetchall()
        finally:
            connection.close()

    def assert_samples_are_of_their_kernels(self):
        rows = [row for row in self.report_rows("sampling") if row["Level"] == "kernel" and row["Metric"] in RATIOS]
        self.assertTrue(rows)
        for row in rows:
            kernel = next(name for name in RECORDED_ROW if name in row["Kernel Name"])
            recorded = float(RECORDED_ROWS[RECORDED_ROW[kernel]][row["Metric"]])
            self.assertGreaterEqual(float(row["Value"]), recorded * (1 - 1e-4))
            # A sample of the fake has all of a kernel's counters, also where the kernel ran for a part of it; how large a part depends
            # on how busy this machine is, and only what is an average over active cycles does not.
            if row["Metric"].endswith("_active"):
                self.assertLessEqual(float(row["Value"]), recorded * (1 + 1e-4))
            self.assertGreaterEqual(int(row["# Samples"]), int(row["# Launches Sampled"]))
            if row["95 % Low"]:
                self.assertLessEqual(float(row["95 % Low"]), float(row["Value"]) * (1 + 1e-9))
                self.assertGreaterEqual(float(row["95 % High"]), float(row["Value"]) * (1 - 1e-9))


class SamplingTest(SampledTest):
    def test_a_program_that_launches_nothing_but_graphs(self):
        self.sampled(*("built_graph:200", "sleep:80") * 12)
        self.assert_samples_are_of_their_kernels()

    def test_samples_are_those_of_the_kernel_that_ran(self):
        self.sampled()
        self.assertEqual([], self.journal_lines("trace"), "something was replayed, or CUPTI was left")
        self.assert_samples_are_of_their_kernels()

    def test_utilization_over_time_is_of_iterations(self):
        self.sampled()
        rows = self.report_rows("utilization")
        self.assertEqual(set(RATIOS), {row["Metric"] for row in rows})
        for row in rows:
            self.assertGreaterEqual(int(row["Time in Iteration (ns)"] or 0), 0)
            self.assertGreater(int(row["# Samples"]), 0)
        self.assertEqual(len(rows), self.query("SELECT count(*) FROM utilization")[0][0])

    def test_what_needs_several_passes_is_said_once(self):
        done = self.profile_unharmed("train:100", "sleep:300", options=OFTEN, metrics=METRICS)
        text = " ".join(done.stderr.split())
        self.assertEqual(1, text.count("of the metrics asked for cannot be sampled"))
        self.assertIn("--replay-mode iteration or kernel", self.summary_text(self.capture().path))

    def test_two_gpus_each_on_its_own(self):
        steps = ["device:0", *PROGRAM, "device:1", *PROGRAM]
        self.sampled(*steps)
        self.assertEqual([(0,), (1,)], self.query("SELECT DISTINCT device FROM utilization ORDER BY 1"))

    def test_the_program_runs_on_where_sampling_fails(self):
        for call in (
            "cuptiPmSamplingGetCounterAvailability",
            "cuptiPmSamplingEnable",
            "cuptiPmSamplingSetConfig",
            "cuptiPmSamplingStart",
            "cuptiPmSamplingStop",
            "cuptiPmSamplingDecodeData",
        ):
            with self.subTest(call=call):
                done = self.sampled(
                    "train:50",
                    "sleep:400",
                    "exit:5",
                    options=[*THROUGHOUT, "--force"],
                    env={"FAKE_CUPTI_FAIL": f"{call}=CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"},
                )
                text = " ".join(done.stderr.split())
                self.assertEqual(5, done.code)
                self.assertIn("counters of GPU 0 cannot be sampled, the program runs on", text)
                self.assertIn("ERR_NVGPUCTRPERM", text)
                self.assertEqual([], self.report_rows("sampling"))

    def test_a_buffer_that_was_full_is_left_behind(self):
        self.sampled(env={"FAKE_CUPTI_FAIL": "cuptiPmSamplingDecodeData=CUPTI_ERROR_OUT_OF_MEMORY@1"})
        self.assertTrue(self.report_rows("sampling"))
        self.assertEqual(1, self.query("SELECT count(*) FROM notice WHERE what LIKE 'Times that a GPU%full%'")[0][0])

    def test_what_was_taken_is_kept_where_the_program_is_killed(self):
        done = self.sampled(*PROGRAM, *PROGRAM, "kill")  # for longer than the second after which what was taken is written
        self.assertEqual(128 + 9, done.code)
        self.assertTrue(self.report_rows("sampling"))

    def test_usage(self):
        for options, words in (
            (["--timeline=off"], "needs the timeline"),
            (["--samples=3"], "no launches one by one"),
            (["--keep-counters"], "no launches one by one"),
            (["--pm-sampling-interval=10"], "too short to read the counters out"),
        ):
            with self.subTest(options=options):
                done = self.profile("train:1", options=["--replay-mode=sample", *options])
                self.assertEqual(2, done.code)
                self.assertIn(words, " ".join(done.stderr.split()))
        done = self.profile("train:1", options=["--pm-sampling-interval=10000"])
        self.assertEqual(2, done.code)
        self.assertIn("is for --replay-mode sample", " ".join(done.stderr.split()))


class BurstsTest(SampledTest):
    """Between two bursts CUPTI is not in the process."""

    def bursts(self, *steps, **more):
        done = self.sampled(*(steps or LONG_PROGRAM), options=["--force"], **more)
        return done, self.journal_lines("trace").count("finalized")

    def test_cupti_leaves_and_comes_back(self):
        _, times = self.bursts()
        self.assertGreaterEqual(times, 2)
        self.assert_samples_are_of_their_kernels()
        self.assertGreaterEqual(self.query("SELECT count(*) FROM utilization")[0][0], 2)

    def test_times_without_cupti_are_cut_out(self):
        self.bursts()
        wall_ns = self.query("SELECT max(end_ns) - min(start_ns) FROM call")[0][0]
        self.assertLess(wall_ns, 3e9, "the program takes longer than 4.8 s")
        # CUPTI numbers calls anew whenever it comes.
        self.assertEqual(0, self.query("SELECT count(*) FROM notice WHERE what LIKE '%with the number of another%'")[0][0])

    def test_a_buffer_that_was_full_is_left_behind(self):
        self.bursts(env={"FAKE_CUPTI_FAIL": "cuptiPmSamplingDecodeData=CUPTI_ERROR_OUT_OF_MEMORY@1"})
        self.assertTrue(self.report_rows("sampling"))
        self.assertEqual(1, self.query("SELECT count(*) FROM notice WHERE what LIKE 'Times that a GPU%full%'")[0][0])

    def test_where_sampling_fails_cupti_stays(self):
        """Then the timeline goes on as without sampling."""
        calls = {}
        for call in ("Start", "DecodeData"):
            _, times = self.bursts(*PROGRAM, *PROGRAM, env={"FAKE_CUPTI_FAIL": f"cuptiPmSampling{call}=CUPTI_ERROR_UNKNOWN"})
            self.assertEqual(1 if call == "DecodeData" else 0, times, call)
            self.journal.unlink()
            calls[call] = self.query("SELECT count(*) FROM call")[0][0]
        self.assertGreater(min(calls.values()), 0.5 * max(calls.values()), calls)

    def test_a_program_that_is_killed_while_cupti_is_away(self):
        self.bursts(*LONG_PROGRAM, "kill")
        self.assertLess(self.query("SELECT max(end_ns) - min(start_ns) FROM range")[0][0] or 0, 3e9)

    def test_it_ends_as_it_would_alone(self):
        for call, program in (
            ("cuptiSubscribe=CUPTI_ERROR_UNKNOWN@3", LONG_PROGRAM),
            ("cuptiFinalize=CUPTI_ERROR_UNKNOWN", PROGRAM),
            ("cuptiPmSamplingDecodeData=CUPTI_ERROR_UNKNOWN", PROGRAM),
        ):
            with self.subTest(call=call):
                done, times = self.bursts(*program, "exit:5", env={"FAKE_CUPTI_FAIL": call})
                self.assertEqual(5, done.code)
                if "Subscribe" in call:
                    self.assertEqual(2, times)
                    # What the two bursts before took is kept. Whether a kernel ran meanwhile depends on how busy this machine is.
                    self.assertGreater(self.query("SELECT count(*) FROM utilization")[0][0], 0)
