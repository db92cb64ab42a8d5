"""Which launches are measured: ncu's filters through the whole command line."""

from harness import ADD, GEMM, LAUNCHES_OF_AN_ITERATION, NVJET, ROTATE, SGEMM, EndToEndTest

ITERATIONS = 3


class SelectionTest(EndToEndTest):
    def selected(self, *options, steps=(f"train:{ITERATIONS}",)):
        """The launches that are measured with these options, all samples of each."""
        self.profile_unharmed(
            *steps, options=["--force", "--samples=all", "--metrics=gpu__time_duration.sum", *options], metrics=()
        )
        return self.capture()

    def assert_selected(self, expected, *options):
        self.assertEqual(expected, self.selected(*options).kernels())

    def test_everything(self):
        self.assert_selected(LAUNCHES_OF_AN_ITERATION * ITERATIONS)

    def test_kernel_id_with_pattern(self):
        self.assert_selected([SGEMM] * ITERATIONS, "--kernel-id=::regex:gemm:")

    def test_kernel_id_with_whole_name_and_invocation(self):
        capture = self.selected("--kernel-id=::rotate:2")
        self.assertEqual([ROTATE], capture.kernels())
        second = len(LAUNCHES_OF_AN_ITERATION) + LAUNCHES_OF_AN_ITERATION.index(ROTATE)
        self.assertEqual([second], [row["ID"] for row in capture.rows])

    def test_kernel_id_by_context_and_stream(self):
        self.assertEqual([], self.selected("--kernel-id=2:::").kernels())

    def test_kernel_id_by_stream(self):
        capture = self.selected("--kernel-id=:13::", "-k", ADD, steps=("train:1", "stream", "train:2"))
        self.assertEqual([13, 13], [row["Stream"] for row in capture.rows])

    def test_whole_kernel_name(self):
        self.assert_selected([ADD] * ITERATIONS, "-k", ADD)

    def test_part_of_a_name_is_no_match(self):
        self.assert_selected([], "-k", "add")

    def test_kernel_name_base_demangled(self):
        self.assert_selected([GEMM, GEMM, SGEMM] * ITERATIONS, "-k", "regex:gemm", "--kernel-name-base=demangled")

    def test_skip_and_count(self):
        self.assert_selected([GEMM, NVJET, SGEMM, ADD], "-s", "3", "-c", "4")

    def test_what_is_beyond_the_count_is_not_incomplete(self):
        capture = self.selected("-c", "3")
        self.assertNotIn("Incomplete", self.summary_text(capture.path))
        rows = self.report_json(capture.path, "--reports=coverage")
        reasons = {row["Incomplete Because"] for row in rows if not row["Measured"]}
        self.assertEqual({"beyond what --launch-count selects"}, reasons)

    def test_skip_counts_matching_launches(self):
        capture = self.selected("-k", ROTATE, "-s", "1", "-c", "1")
        self.assertEqual([8], [row["ID"] for row in capture.rows])

    def test_skip_before_match_counts_all_launches(self):
        capture = self.selected("-k", ROTATE, "--launch-skip-before-match=9")
        self.assertEqual([14], [row["ID"] for row in capture.rows])

    def test_filter_mode_per_launch_config(self):
        self.assert_selected(LAUNCHES_OF_AN_ITERATION, "--filter-mode=per-launch-config", "-c", "1")

    def test_filter_mode_per_gpu(self):
        capture = self.selected("--filter-mode=per-gpu", "-c", "1", steps=("train:2", "device:1", "train:2"))
        self.assertEqual([(ADD, 0), (ADD, 1)], list(zip(capture.kernels(), [row["Device"] for row in capture.rows])))

    def test_devices(self):
        capture = self.selected("--devices=1", "-k", NVJET, steps=("train:2", "device:1", "train:2"))
        self.assertEqual([1, 1], [row["Device"] for row in capture.rows])

    def test_nvtx_ranges(self):
        """Of marked:2, whose ranges tests/fakes/targets/marked.cpp opens."""
        inside = {}
        for name, options in {
            "all": (),
            "forward": ("--nvtx-include=app@net/",),
            "backward": ("--nvtx-include=dlkprof:phase: backward/",),
            "pass": ("--nvtx-include=pass",),
            "not in pass": ("--nvtx-exclude=pass",),
            "teardown": ("--nvtx-include=[teardown]",),
            "step or teardown": ("--nvtx-include=dlkprof:step/", "--nvtx-include=regex:^tear/"),
        }.items():
            inside[name] = {row["ID"] for row in self.selected(*options, steps=("marked:2",)).rows}
        self.assertTrue(inside["forward"] and inside["forward"] < inside["pass"])
        self.assertEqual(inside["all"], inside["pass"] | inside["not in pass"])
        self.assertFalse(inside["pass"] & inside["not in pass"])
        self.assertEqual({max(inside["all"])}, inside["teardown"])
        self.assertLess(inside["teardown"], inside["step or teardown"])
        self.assertLess(inside["step or teardown"], inside["all"])  # the first launch is in no range, nor is the one after a step
        self.assertEqual(set(), inside["backward"])  # another thread launches there

    def test_nvtx_ranges_that_nothing_lies_in(self):
        done = self.profile("marked:2", options=["--nvtx-include=teardown"])
        self.assertIn("no launch lies within the NVTX ranges asked for: there are teardown/", done.stderr)
        refused = self.profile("marked:2", options=["--force", "--nvtx-include=a//b"])
        self.assertEqual(2, refused.code)
        self.assertIn("a//b\n      ^", refused.stderr)

    def test_near_misses_are_reported(self):
        done = self.profile("train:3", options=["--kernel-id=::regex:gemm:"])
        self.assertEqual(2 * ITERATIONS, self.capture().summary["near_missed"])
        self.assertIn(f"{2 * ITERATIONS} near misses, see --kernel-name-base demangled", done.stderr)

    def test_samples_of_each_configuration(self):
        self.profile_unharmed("train:4", options=["--replay-mode=kernel", "--samples=2", "-k", GEMM])
        grids = [row["Grid Size"] for row in self.capture().rows]
        self.assertEqual(["(4, 1, 1)", "(8, 1, 1)"] * 2, grids)

    def test_profile_from_start_off(self):
        steps = ("train:1", "profiler_start", "train:2", "profiler_stop", "train:1")
        capture = self.selected("--profile-from-start=off", "-k", ADD, steps=steps)
        self.assertEqual([6, 12], [row["ID"] for row in capture.rows])
        self.assertEqual(24, capture.summary["launches"])

    def test_the_profiler_is_started_and_stopped_by_another_thread(self):
        """Launches of a step are 6, of which the first is ADD: those between a start and a stop count, whatever thread calls them."""
        for letters, expected in (
            ("lsllel", [6, 12]),
            ("lslelslel", [6, 18]),
            ("sslellel", [0]),  # twice started, once stopped
            ("elelsl", [12]),  # stopped before any start, and never after
            ("lele", []),
        ):
            with self.subTest(letters=letters):
                capture = self.selected("--profile-from-start=off", "-k", ADD, steps=(f"between:{letters}",))
                self.assertEqual(expected, [row["ID"] for row in capture.rows])
                self.assertEqual(6 * letters.count("l"), capture.summary["launches"])

    def test_the_profiler_is_started_by_another_thread_in_all_replay_modes(self):
        letters = "lll" + "sllllllllllell" * 4
        for mode in ("none", "kernel", "iteration", "sample", "auto"):
            with self.subTest(mode=mode):
                options = ["--force", f"--replay-mode={mode}", "--profile-from-start=off", "-k", ADD]
                self.profile_unharmed(f"between:{letters}", options=options, metrics=())
                counted = [
                    row for row in self.report_json(self.capture().path, "--reports=coverage") if row["Kernel Name"] == ADD
                ]
                self.assertEqual(letters.count("l"), sum(row["Launches"] for row in counted))
                self.assertEqual(40, sum(row["Matched"] for row in counted))

    def test_the_profiler_is_started_and_stopped_while_launches_are_in_flight(self):
        for mode in ("none", "kernel", "iteration", "sample", "auto"):
            with self.subTest(mode=mode):
                options = ["--force", f"--replay-mode={mode}", "--profile-from-start=off", "-k", ADD]
                self.profile_unharmed("across:60:200", options=options, metrics=())
                counted = [
                    row for row in self.report_json(self.capture().path, "--reports=coverage") if row["Kernel Name"] == ADD
                ]
                self.assertEqual(200, sum(row["Launches"] for row in counted))
                matched = sum(row["Matched"] for row in counted)
                self.assertLessEqual(matched, 200)
                self.assertLessEqual(sum(row["Measured"] for row in counted), matched)

    def test_delay(self):
        capture = self.selected("--delay=0.4", "-k", ADD, steps=("train:2", "sleep:500", "train:1"))
        self.assertEqual([12], [row["ID"] for row in capture.rows])

    def test_duration(self):
        capture = self.selected("--duration=0.4", "-k", ADD, "-c", "2", steps=("train:1", "sleep:500", "train:2"))
        self.assertEqual([0], [row["ID"] for row in capture.rows])

    def test_after_the_last_selected_launch_the_profiler_lets_go(self):
        self.profile_unharmed("train:50", options=["-c", "1"])
        self.assertEqual(1, len(self.capture().rows))
