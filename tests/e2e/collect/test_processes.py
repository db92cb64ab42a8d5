"""Programs of several processes: each that launches has a capture of its own, and none harms another."""

from harness import ADD, LAUNCHES_OF_AN_ITERATION, PROGRAM, EndToEndTest

OF_ONE = len(LAUNCHES_OF_AN_ITERATION)


class ProcessesTest(EndToEndTest):
    def launches(self):
        return sorted(capture.summary["launches"] for capture in self.captures())

    def test_fork_before_cuda(self):
        self.profile_unharmed("fork:train:2", "train:1", options=["-k", ADD])
        self.assertEqual([OF_ONE, 2 * OF_ONE], self.launches())
        for capture in self.captures():
            self.assertEqual("yes", capture.summary["ended"])
            self.assert_recorded_values(capture.rows[0])

    def test_fork_after_cuda(self):
        self.profile_unharmed(
            "train:1", "fork:print:child", "train:1", options=["-k", ADD, "--replay-mode=kernel", "--samples=all"]
        )
        self.assertEqual([2 * OF_ONE], self.launches())
        self.assertEqual([0, OF_ONE], [row["ID"] for row in self.capture().rows])

    def test_fork_after_cuda_and_use_it(self):
        # CUDA refuses: the program has to see that refusal, as it does without us.
        self.profile_unharmed("train:1", "fork:train:1", "train:1", options=["-k", ADD])
        self.assertEqual([2 * OF_ONE], self.launches())

    def test_exec(self):
        # An exec ends a program without its exit handlers: what was measured is there, the last counts are not.
        self.profile_unharmed(
            "train:1",
            "exec",
            "train:2",
            "exec",
            "train:3",
            "exit:4",
            options=["-k", ADD, "--replay-mode=kernel", "--samples=all"],
        )
        captures = self.captures()
        self.assertEqual([1, 2, 3], sorted(len(capture.rows) for capture in captures))
        self.assertEqual(["no", "no", "yes"], sorted(capture.summary["ended"] for capture in captures))
        self.assertEqual(3 * OF_ONE, max(self.launches()))

    def test_ranks(self):
        ranks = "for rank in 0 1 2 3; do RANK=$rank \"$0\" train:1 || exit; done"
        done = self.dlkprof("--ranks", "1,3-7", "-k", ADD, "--", "/bin/sh", "-c", ranks, PROGRAM)
        self.assertEqual(0, done.code, done.stderr)
        self.assertEqual([OF_ONE, OF_ONE], self.launches())

    def test_ranks_by_node_and_by_sample(self):
        ranks = "for rank in 0 1 2 3 4 5 6 7; do RANK=$rank LOCAL_RANK=$((rank % 4)) WORLD_SIZE=8 \"$0\" train:1 || exit; done"
        for asked in "1/node", "2/job":
            done = self.dlkprof(
                "--ranks", asked, "-k", ADD, "--force", "--base_name", asked[0], "--", "/bin/sh", "-c", ranks, PROGRAM
            )
            self.assertEqual(0, done.code, done.stderr)
            self.assertEqual(2, len(list(self.folder.glob(f"{asked[0]}*.dlkcap"))), asked)
        refused = self.dlkprof("--ranks", "1/node", "--", PROGRAM, "train:1", env={"RANK": "3"})
        self.assertEqual(2, refused.code)
        self.assertIn("the launcher sets none of LOCAL_RANK", refused.stderr)

    def test_dlkprof_in_each_rank(self):
        for rank in "0", "1":
            done = self.profile("train:1", "exit:3", env={"RANK": rank}, options=["--ranks=1", "--base_name=rank_%q{RANK}"])
            self.assertEqual((3, self.unprofiled("train:1").stdout), (done.code, done.stdout), done.stderr)
            self.assertEqual(rank == "0", "rank 0 is not among --ranks 1" in done.stderr, done.stderr)
        self.assertEqual(["rank_1.dlkcap"], [capture.path.name for capture in self.captures()])

    def test_child_programs(self):
        self.profile_unharmed("train:1", "spawn:train:2", "spawn:train:3", options=["-k", ADD])
        self.assertEqual([OF_ONE, 2 * OF_ONE, 3 * OF_ONE], self.launches())

    def test_child_that_crashes(self):
        self.profile_unharmed("spawn:segv", "train:1", "spawn:kill", options=["-k", ADD])
        self.assertEqual([OF_ONE], self.launches())

    def test_application_only(self):
        self.profile_unharmed("train:1", "spawn:train:2", options=["-k", ADD, "--target-processes=application-only"])
        self.assertEqual([OF_ONE], self.launches())

    def test_application_only_of_a_shell(self):
        # The application is the shell here, which launches nothing itself.
        done = self.dlkprof("--target-processes=application-only", "/bin/sh", "-c", f"{PROGRAM} train:1; exit 6")
        self.assertEqual(6, done.code, done.stderr)
        self.assertEqual([], self.captures())

    def test_program_behind_a_shell(self):
        done = self.dlkprof("-k", ADD, "--", "/bin/sh", "-c", f"{PROGRAM} train:1; {PROGRAM} train:2")
        self.assertEqual(0, done.code, done.stderr)
        self.assertEqual([OF_ONE, 2 * OF_ONE], self.launches())

    def test_processes_side_by_side(self):
        script = " & ".join(f"{PROGRAM} train:{count}" for count in (1, 2, 3, 4)) + " & wait"
        done = self.dlkprof("-k", ADD, "/bin/sh", "-c", script)
        self.assertEqual(0, done.code, done.stderr)
        self.assertEqual([OF_ONE * count for count in (1, 2, 3, 4)], self.launches())
        self.assert_no_misuse()


class ThreadsTest(EndToEndTest):
    """The valuable one under ThreadSanitizer: label `threads`."""

    def test_threads_caches_as_they_are(self):
        self.profile_unharmed("threads:4:6", options=["--replay-mode=kernel", "--samples=5"])
        capture = self.capture()
        self.assertEqual(4 * 6 * OF_ONE, capture.summary["launches"])
        self.assertEqual(5 * OF_ONE, len(capture.rows))
        for row in capture.rows:
            self.assert_recorded_values(row)

    def test_threads_caches_flushed(self):
        self.profile_unharmed("threads:4:4", options=["--replay-mode=kernel", "--samples=3", "--cache-control=all"])
        self.assertEqual(3 * OF_ONE, len(self.capture().rows))

    def test_threads_and_a_count_that_is_used_up(self):
        self.profile_unharmed("threads:4:200", options=["-c", "3", "--replay-mode=kernel", "--samples=all"])
        self.assertEqual(3, len(self.capture().rows))

    def test_threads_only_counted(self):
        self.profile_unharmed("threads:4:300", options=["--replay-mode=none"])
        summary = self.capture().summary
        self.assertEqual((4 * 300 * OF_ONE,) * 2, (summary["launches"], summary["timed"]))

    def test_counts_stay_exact_when_timing_has_ended(self):
        # Past the timed launches those that nothing selects are counted without a lock.
        self.profile_unharmed("threads:4:600", options=["-k", "regex:nvjet", "--replay-mode=kernel", "--samples=1"])
        summary = self.capture().summary
        self.assertEqual(4 * 600 * OF_ONE, summary["launches"])
        self.assertGreater(summary["timed"], 0)
        self.assertLess(summary["timed"], summary["launches"])

    def test_nothing_selected_is_counted_and_not_timed(self):
        self.profile_unharmed("threads:4:600", options=["-k", "no_such_kernel"])
        capture = self.capture()
        self.assertEqual((4 * 600 * OF_ONE, 0), (capture.summary["launches"], capture.summary["timed"]))
        self.assertIn("Not taken, as nothing was selected", self.summary_text(capture.path))

    def test_memory_written_by_another_thread_meanwhile(self):
        for caches in ("none", "all"):
            with self.subTest(caches=caches):
                self.profile_unharmed(
                    "uploads:20", options=["--replay-mode=kernel", "--samples=all", f"--cache-control={caches}", "--force"]
                )
                self.assertEqual(20 * OF_ONE, len(self.capture().rows))
