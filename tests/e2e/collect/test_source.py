"""--section source: what each instruction did, in one launch of each configuration."""

from harness import LAUNCHES_OF_AN_ITERATION, PROGRAM, EndToEndTest

KERNELS = len(set(LAUNCHES_OF_AN_ITERATION))
SOURCE = ("--section", "source")
EXECUTED, THREADS, SECTORS, EXCESSIVE = (
    "Instructions Executed", "Avg. Threads Executed", "L2 Theoretical Sectors Global", "L2 Theoretical Sectors Global Excessive",
)  # fmt: skip


class SourceTest(EndToEndTest):
    def count(self, *steps, options=SOURCE, env=None):
        self.profile_unharmed(*steps, options=options, env=env, metrics=())
        return self.report_json(self.capture().path, "--reports=source")

    def test_instructions_of_one_launch_of_each_configuration(self):
        rows = self.count("train:3")
        counted = [row for row in rows if row[EXECUTED]]
        # tests/fakes/cupti/sass_metrics.cpp has what one run does, at 0x10 and 0x20.
        launches = {row["Kernel Name"]: row["Launches Counted"] for row in counted}
        self.assertEqual(KERNELS, len(launches))
        for row in counted:
            of_one = [row[name] / row["Launches Counted"] for name in (EXECUTED, SECTORS, EXCESSIVE)]
            wanted = {0x10: ([8, 64, 48], 32), 0x20: ([8, 0, 0], 16)}[row["SASS Offset"]]
            self.assertEqual(wanted, (of_one, row[THREADS]), row)

    def test_one_launch_of_each_configuration_is_patched(self):
        rows = self.count("train:3")
        counted = sum({row["Kernel Name"]: row["Launches Counted"] for row in rows}.values())
        self.assertGreaterEqual(counted, KERNELS)
        trace = self.journal_lines("trace")
        self.assertEqual(counted, trace.count("counting of instructions begins"))
        self.assertEqual(counted, trace.count("counting of instructions ends"))
        self.assertEqual(counted, trace.count("pc sampling ends"))  # each time before, and with no sample of the program's
        self.assertEqual(trace.count("pc sampling begins"), trace.count("pc sampling ends"))

    def test_lines_and_the_database_say_the_same(self):
        rows = self.count("train:1")
        self.assertEqual(
            {("/src/kernels.cu", line) for line in (11, 12)}, {(row["Source File"], row["Source Line"]) for row in rows}
        )
        self.assertEqual(rows, self.report_json(self.folder / "dlkprof_dldb.sqlite", "--reports=source"))

    def test_with_its_report(self):
        self.profile_unharmed("train:2", options=(*SOURCE, "--reports=source,coverage"), metrics=())
        self.assertIn("Kernel2", (self.folder / "dlkprof_source.csv").read_text(encoding="utf-8"))

    def test_what_a_killed_program_had_counted_has_lines(self):
        self.profile("train:1", "_exit:0", options=SOURCE, metrics=())
        rows = self.report_json(self.capture().path, "--reports=source")
        self.assertTrue(rows)
        self.assertTrue(all(row["Source Line"] for row in rows))

    def test_only_what_is_selected_is_counted(self):
        rows = self.count("train:2", options=(*SOURCE, "--kernel-id", "::Kernel2:1"))
        self.assertEqual({"Kernel2"}, {row["Kernel Name"] for row in rows if row[EXECUTED]})

    def test_without_pc_sampling_the_first_launch_is_counted_and_the_reason_told(self):
        done = self.profile(
            "train:4",
            options=SOURCE,
            metrics=(),
            env={"FAKE_CUPTI_FAIL": "cuptiPCSamplingEnable=CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"},
        )
        self.assertEqual(1, done.stderr.count("CUPTI patched none of its machine code; "), done.stderr)
        self.assertIn("NVreg_RestrictProfilingToAdminUsers", done.stderr)
        counted = {
            row["Kernel Name"]: row["Launches Counted"] for row in self.report_json(self.capture().path, "--reports=source")
        }
        self.assertEqual([1], list(counted.values()))

    def test_a_failure_is_said_once(self):
        for call in "cuptiSassMetricsSetConfig", "cuptiSassMetricsEnable", "cuptiSassMetricsFlushData":
            with self.subTest(call):
                done = self.profile(
                    "train:4", options=(*SOURCE, "--force"), metrics=(), env={"FAKE_CUPTI_FAIL": f"{call}=CUPTI_ERROR_UNKNOWN"}
                )
                self.assertEqual(0, done.code)
                self.assertEqual(1, done.stderr.count("dlkprof: the instructions of a kernel were not counted"), done.stderr)
                self.assertEqual([], self.report_json(self.capture().path, "--reports=source"))

    def test_launches_of_other_threads_wait_for_the_one_that_is_patched(self):
        rows = self.count("threads:4:200")
        self.assertTrue(rows)
        for row in rows:
            self.assertEqual(8 * row["Launches Counted"], row[EXECUTED])

    def refused(self, *options):
        done = self.dlkprof(*options, PROGRAM, "print:ran")
        self.assertEqual((2, ""), (done.code, done.stdout))
        return done.stderr

    def test_what_it_excludes_is_refused(self):
        for options, words in (
            (("--section", "memory"), "excludes counters"), (("--set", "full"), "excludes counters"),
            (("--replay-mode", "kernel"), "replays nothing"), (("--samples", "2"), "one launch of each"),
            (("--pc-sampling",), "excludes --pc-sampling"), (("--timeline", "on"), "no timeline"),
            (("--mode", "pytorch"), "no timeline"), (("--nvtx-include", "a/"), "no timeline"),
        ):  # fmt: skip
            with self.subTest(options):
                self.assertIn(words, self.refused(*SOURCE, *options))
