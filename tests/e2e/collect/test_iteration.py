"""--replay-mode iteration and auto: launches are measured as the program makes them, and nothing is replayed."""

import collections
import statistics

from harness import ADD, GEMM, LAUNCHES_OF_AN_ITERATION, METRICS, PASSES, RECORDED_ROW, EndToEndTest
from test_results import EVERYTHING

ITERATION = "--replay-mode=iteration"
ONE_PASS = ["gpu__time_duration.sum"]
OF_ONE = len(LAUNCHES_OF_AN_ITERATION)


def slowly(times):
    """Iterations with pauses, in which the counters of windows are evaluated."""
    return ("train:20", "sleep:150") * times


class IterationTest(EndToEndTest):
    def told(self, *words, **more):
        """What is said on stderr of a profile, on one line."""
        return " ".join(self.profile(*words, **more).stderr.split())

    def measured(self):
        """How often each kernel was."""
        return collections.Counter(self.capture().kernels())

    def test_passes_are_spread_over_iterations(self):
        steps = slowly(24)
        self.profile_unharmed(*steps, options=[ITERATION, "--samples=2", "--timeline=on"])  # which keeps dlkprof to the end
        capture = self.capture()
        for row in capture.rows:
            self.assertEqual((PASSES, "iteration"), (row["Passes"], row["Replay Mode"]))
            self.assert_recorded_values(row)
        counts = self.measured()
        self.assertEqual(set(RECORDED_ROW), set(counts))
        self.assertEqual(2, min(counts.values()))
        self.assertEqual(24 * 20 * OF_ONE, capture.summary["launches"])
        self.assertEqual(len(capture.rows), capture.summary["measured"])
        # Each launch that was in a window ran once there.
        self.assertLess(len(self.journal_lines("trace")), 24 * 20 * OF_ONE)

    def test_passes_need_no_order_of_launches(self):
        # Threads launch the same kernels, interleaved as it happens.
        steps = ("threads:3:30", "sleep:150") * 12
        self.profile_unharmed(*steps, options=[ITERATION, "--samples=1"])
        self.assertEqual(set(RECORDED_ROW), set(self.measured()))
        for row in self.capture().rows:
            self.assertEqual(PASSES, row["Passes"])
            self.assert_recorded_values(row)

    def test_what_the_last_window_of_a_context_holds_is_not_lost(self):
        self.profile_unharmed("contexts:3:20", options=[ITERATION, "--samples=all"], metrics=ONE_PASS)
        self.assertEqual(3 * 20 * OF_ONE, len(self.capture().rows))

    def test_what_lacks_passes_has_the_metrics_that_need_none_of_them(self):
        text = self.told("train:4", "sleep:60", "train:4", options=[ITERATION, "--samples=1"])
        self.assertIn("launch configurations lack some metrics: too few launches", text)
        rows = self.capture().rows
        self.assertNotEqual([], rows)
        for row in rows:
            self.assertLess(row["Passes"], PASSES)
            there = [metric for metric in METRICS if row[metric] is not None]
            self.assertTrue(0 < len(there) < len(METRICS), there)
            self.assert_recorded_values(row, there)
            self.assertEqual([], [metric for metric in there if "throughput" in metric])

    def test_one_pass_needs_no_repetition(self):
        self.profile_unharmed("train:1", options=[ITERATION, "--samples=1"], metrics=ONE_PASS)
        self.assertEqual(collections.Counter(LAUNCHES_OF_AN_ITERATION), self.measured())

    def test_all_launches(self):
        self.profile_unharmed("train:30", options=[ITERATION, "--samples=all"], metrics=ONE_PASS)
        self.assertEqual(30 * OF_ONE, len(self.capture().rows))

    def test_what_the_program_chooses_kernels_by_is_left_alone(self):
        """Nothing of autotuning is measured, nor the first launches of a kernel that is timed by events."""
        for how, measured, after in (("events:6", 0, 16), ("events:99", 42, 16), ("untimed:6", 6, 0), ("range:20", 0, 0)):
            with self.subTest(how=how):
                options = [ITERATION, "--samples=all", "--timeline=on", "--force"]
                self.profile_unharmed("train:2", f"tries:{how}", "train:9", options=options, metrics=ONE_PASS)
                names = collections.Counter("tried" in row["Kernel Name"] for row in self.capture().rows)
                self.assertEqual({True: measured, False: 12 * OF_ONE - after}, {True: names[True], False: names[False]})

    def test_a_wait_that_fails_ends_no_program(self):
        for call in ("@1", "@2", "@2+", ""):
            with self.subTest(call=call):
                env = {"FAKE_CUDA_FAIL": f"cuCtxSynchronize=700{call}"}
                done = self.profile("train:100", "exit:5", options=["--verbosity=minimal", ITERATION, "--force"], env=env)
                self.assertEqual(5, done.code, done.stderr)

    def test_with_more_memory_windows_hold_more(self):
        def windows(megabytes):
            """Launches of each."""
            self.profile_unharmed(
                "train:100", options=[ITERATION, "--samples=all", f"--max-memory={megabytes}", "--force"], metrics=ONE_PASS
            )
            lines = [line for line in self.journal_lines("trace") if line.startswith("window")]
            self.journal.unlink()
            return [int(line.split()[-1]) for line in lines]

        self.assertEqual(17, statistics.mode(windows(300)), "of 3.05 MB, in 52 MB beside what is set up")
        self.assertEqual(128, max(windows(1000)))

    def test_selected_launches_only(self):
        self.profile_unharmed("train:200", options=[ITERATION, "-k", GEMM, "--samples=2"])
        self.assertEqual({GEMM}, set(self.measured()))

    def test_every_way_to_launch(self):
        for metrics in (ONE_PASS, None):
            with self.subTest(metrics=metrics):
                more = {"metrics": metrics} if metrics else {}
                self.profile_unharmed(*EVERYTHING, "exit:7", options=[ITERATION, "--force"], **more)
                self.assertEqual("yes", self.capture().summary["ended"])

    def test_kernels_that_must_not_be_replayed(self):
        self.profile_unharmed("cooperative:2", "nccl:2", options=[ITERATION, "--samples=all"], metrics=ONE_PASS)
        summary = self.capture().summary
        self.assertEqual((4, 0), (summary["measured"], summary["left_alone"]))

    def test_each_launch_is_once_on_the_timeline(self):
        self.profile_unharmed(*slowly(10), options=[ITERATION, "--timeline=on", "--samples=1"])
        capture = self.capture()
        in_windows = sum(line.startswith("pass ") for line in self.journal_lines("trace"))
        self.assertGreater(in_windows, len(capture.rows))
        outside = 200 * OF_ONE - in_windows  # where launches are timed; of those measured counters say how long they took
        self.assertEqual((200 * OF_ONE, outside), (capture.summary["launches"], capture.summary["timed"]))
        rows = self.report_json(capture.path, "--reports=kernel", "--iter_start=0")
        kernels = [row for row in rows if not row["Kernel Name"].startswith("[CUDA")]  # nor copies
        timed = sum(row["Calls Timed"] for row in kernels)
        # A measured launch has its time from its counters or from others of its configuration, but not where the call was over before
        # so much time had passed, as may be with the kernels of the fakes.
        self.assertGreaterEqual(timed, outside)
        self.assertLessEqual(timed, 200 * OF_ONE)

    def test_budget(self):
        text = self.told("train:2000", options=[ITERATION, "--samples=all", "--max-overhead=0.001"])
        self.assertIn("the time for measuring is used up (--max-overhead)", text)
        capture = self.capture()
        self.assertLess(len(capture.rows), 2000 * OF_ONE)
        self.assertEqual(0, capture.summary["left_alone"])

    def test_counters_are_not_taken_down_in_a_capture(self):
        """Which would end it: by windows whose time is up, and by replays that have not come for long."""
        for options in ([ITERATION, "--samples=all", "--max-overhead=0.001"], ["--replay-mode=kernel"], ["--replay-mode=auto"],
                        [ITERATION, "--samples=1", "--timeline=off", "--iterations=1"]):  # fmt: skip
            with self.subTest(options=options):
                self.profile_unharmed(
                    "train:30", "long_capture:400", "stray_end:400", "train:2000", options=[*options, "--force"]
                )

    def test_launches_that_the_driver_refuses_harm_no_others(self):
        """An autotuner's: they are no launches, take nothing along, and are no reason to end."""
        for options in ([ITERATION, "--samples=all"], ["--replay-mode=kernel"], ["--replay-mode=kernel", "--cache-control=all"],
                        ["--replay-mode=auto"], [ITERATION, "--samples=1"]):  # fmt: skip
            with self.subTest(options=options):
                self.profile_unharmed("refused:20", "train:3", options=[*options, "--force"], metrics=ONE_PASS)
                self.assertEqual(set(RECORDED_ROW), set(self.measured()))
                self.assertEqual({"128"}, {row["Block Size"].strip("()").split(",")[0] for row in self.capture().rows})
                if "--samples=all" in options:
                    self.assertEqual(23 * OF_ONE, len(self.capture().rows))

    def test_cupti_is_left_when_all_is_measured(self):
        quiet = "train:3500"  # after 20,000 launches with nothing new
        for words, left in ((quiet, "train:10"), ["finalized"]), (("capture:3", quiet), []), (("threads:3:1500",), None):
            with self.subTest(words=words):
                self.profile_unharmed(*words, options=[ITERATION, "--samples=1", "--timeline=off", "--force"], metrics=ONE_PASS)
                self.assertEqual("yes", self.capture().summary["ended"])
                self.assertEqual(set(RECORDED_ROW), set(self.measured()))
                if left is not None:  # where threads launch at once it depends on them
                    self.assertEqual(left, [line for line in self.journal_lines("trace") if line == "finalized"])
                self.journal.unlink()

    def test_failures_leave_the_program_alone(self):
        session = ("BeginSession", "SetConfig", "BeginPass", "EnableProfiling", "DisableProfiling", "EndPass", "FlushCounterData")
        for call in (
            *(f"cuptiProfiler{name}" for name in session),
            "cuptiRangeProfilerEnable",
            "cuptiProfilerHostEvaluateToGpuValues",
            "cuptiProfilerGetCounterAvailability",
        ):
            for which in ("@1", "@1+"):
                with self.subTest(call=call, which=which):
                    env = {"FAKE_CUPTI_FAIL": f"{call}=CUPTI_ERROR_UNKNOWN{which}"}
                    done = self.profile_unharmed("train:100", options=[ITERATION, "--force"], env=env)
                    self.assertIn("CUPTI_ERROR_UNKNOWN", done.stderr)
                    self.journal.unlink(missing_ok=True)

    def test_what_does_not_go_with_it(self):
        for option in ("--cache-control=all", "--keep-counters"):
            done = self.profile("train:1", options=[ITERATION, option])
            self.assertEqual(2, done.code)
            self.assertIn("--replay-mode iteration", done.stderr)

    def test_ranks_measure_the_same_launches(self):
        measured = []
        for rank in ("0", "1"):
            env = {"RANK": rank, "WORLD_SIZE": "2"}
            self.profile_unharmed(*("names:120",) * 60, options=[ITERATION, "--force"], env=env)
            measured.append([(row["Kernel Name"], row["Grid Size"], row["Occurrence"]) for row in self.capture().rows])
        self.assertGreater(len(measured[0]), OF_ONE)
        self.assertEqual(*measured)


class AutoTest(EndToEndTest):
    """--replay-mode auto, which is the default."""

    def modes(self):
        """How often each kernel was measured in each way."""
        return collections.Counter((row["Kernel Name"], row["Replay Mode"]) for row in self.capture().rows)

    def test_what_must_not_be_replayed_is_measured_in_windows(self):
        self.profile_unharmed("cooperative:2", "train:2", metrics=ONE_PASS)
        modes = self.modes()
        self.assertEqual(OF_ONE, sum(count for (_, mode), count in modes.items() if mode == "kernel"))
        self.assertEqual(1, sum(count for (_, mode), count in modes.items() if mode == "iteration"))
        self.assertEqual(0, self.capture().summary["left_alone"])

    def test_collectives_are_in_no_window(self):
        self.profile_unharmed("cooperative:1", "train:2", "nccl:2", "cooperative:2", "train:1", metrics=ONE_PASS)
        self.assertEqual(2, self.capture().summary["left_alone"])

    def test_what_is_captured_is_in_no_window(self):
        for mode in ("auto", "iteration"):
            with self.subTest(mode=mode):
                # The same launches as in the windows that wait for their next pass.
                self.profile_unharmed(
                    "train:30",
                    "capture:3",
                    "train:30",
                    "capture:2",
                    "train:100",
                    options=[f"--replay-mode={mode}", "--samples=3", "--force"],
                )

    def test_further_samples_come_from_repetitions(self):
        # So many launches with nothing new that the set quick is done with.
        self.profile_unharmed(*slowly(3), "train:200", *slowly(24), options=["--samples=3"])
        replayed = {name: count for (name, mode), count in self.modes().items() if mode == "kernel"}
        rows = [row for row in self.capture().rows if row["Replay Mode"] == "iteration"]
        whole = collections.Counter(row["Kernel Name"] for row in rows if row["Passes"] == PASSES)
        quick = collections.Counter(row["Kernel Name"] for row in rows if row["Passes"] == 1)
        self.assertEqual(OF_ONE, sum(replayed.values()))
        self.assertEqual(replayed, quick)
        for name, count in replayed.items():
            self.assertGreaterEqual(whole.get(name, 0), 2 * count, name)
        for row in self.capture().rows:
            self.assert_recorded_values(row, METRICS if row["Passes"] == PASSES else ONE_PASS)

    def test_nothing_else_is_counted_where_sass_instructions_are(self):
        metrics = [*METRICS, "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"]
        self.profile_unharmed(*slowly(3), "train:200", *slowly(8), "cooperative:2", options=["--samples=3"], metrics=metrics)
        passes = {int(row["Passes"]) for row in self.capture().rows}
        self.assertGreater(min(passes), 1)
        self.assertIn("iteration", {mode for _, mode in self.modes()})

    def test_collectives_of_several_gpus_are_left_alone(self):
        for mode in ("auto", "kernel", "iteration"):
            with self.subTest(mode=mode):
                self.profile_unharmed(
                    "train:1",
                    "device:1",
                    "train:1",
                    "nccl:2",
                    options=["--force", f"--replay-mode={mode}", "--samples=1"],
                    metrics=ONE_PASS,
                )
                summary = self.capture().summary
                self.assertEqual((2 * OF_ONE, 2), (summary["measured"], summary["left_alone"]))
                self.assertNotIn("nccl", " ".join(row["Kernel Name"] for row in self.capture().rows))

    def test_windows_go_on_beside_collectives_of_several_gpus(self):
        steps = ("train:1", "device:1", "train:1", "nccl:2", "train:1", "device:0", "train:1", "cooperative:2")
        self.profile_unharmed(*steps, options=[ITERATION, "--samples=all"], metrics=ONE_PASS)
        summary = self.capture().summary
        self.assertEqual((4 * OF_ONE + 2, 2), (summary["measured"], summary["left_alone"]))

    def test_counters_held_in_vain_on_one_gpu_are_given_back_on_all(self):
        """Where one session ends, CUPTI counts nothing in those of other GPUs any more."""
        quiet = f"train:{6_200 // OF_ONE}"  # after so many launches counters are held in vain
        steps = ("train:1", "device:1", quiet, "device:0", "cooperative:2", "device:1", "cooperative:2")
        told = self.profile_unharmed(*steps, options=[ITERATION, "--timeline=on"], metrics=ONE_PASS).stderr
        self.assertNotIn("could not be measured", " ".join(told.split()))
        summary = self.capture().summary
        self.assertEqual(summary["launches"], summary["covered"])

    def test_nothing_is_made_alone_where_streams_wait_for_values(self):
        for mode in ("auto", "kernel"):
            with self.subTest(mode=mode):
                options = ["--force", f"--replay-mode={mode}", "--samples=2"]
                told = self.profile_unharmed("values:3", "train:3", "cooperative:2", options=options).stderr
                self.assertIn("streams wait for values in memory", " ".join(told.split()))
                self.assertEqual(OF_ONE, self.capture().summary["measured"])  # before the first

    def test_raw_counters_are_of_replays(self):
        for option in ("--keep-counters", "--cache-control=all"):
            with self.subTest(option=option):
                self.profile_unharmed("train:2", "nccl:2", options=["--force", option])
                self.assertEqual({"kernel"}, {row["Replay Mode"] for row in self.capture().rows})
                self.assertEqual(2, self.capture().summary["left_alone"])


class IterationThreadsTest(EndToEndTest):
    """Also under ThreadSanitizer."""

    def test_threads(self):
        self.profile_unharmed("threads:4:60", options=[ITERATION, "--samples=all"], metrics=ONE_PASS)
        self.assertEqual(4 * 60 * OF_ONE, len(self.capture().rows))

    def test_threads_of_both_ways(self):
        self.profile_unharmed("threads:4:60", options=["--samples=all"], metrics=ONE_PASS)
        self.assertEqual(4 * 60 * OF_ONE, len(self.capture().rows))

    def test_threads_and_passes(self):
        self.profile_unharmed("threads:3:100", options=[ITERATION, "-k", ADD])
        self.assertEqual(3 * 100 * OF_ONE, self.capture().summary["launches"])
