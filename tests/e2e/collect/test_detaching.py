"""When all is measured and enough iterations are on the timeline, dlkprof leaves the program to itself."""

from harness import EndToEndTest

ONE_PASS = ["gpu__time_duration.sum"]


class DetachingTest(EndToEndTest):
    def detached(self, *steps, options=()):
        self.profile_unharmed(*steps, options=[*options] or ["--iterations=20"], metrics=ONE_PASS)
        return [line for line in self.journal_lines("trace") if line == "finalized"]

    def test_the_program_is_left_and_its_steps_are_timed(self):
        self.assertEqual(["finalized"], self.detached("marked:1200", "exit:7"))
        capture = self.capture()
        self.assertEqual("yes", capture.summary["ended"])
        self.assertLess(capture.summary["launches"], 1200 * 12)
        self.assertGreater(capture.summary["timed"], 0.99 * capture.summary["launches"])
        screen = self.report(capture.path).stdout
        self.assertIn("Undisturbed", screen)
        self.assertIn("without the profiler", screen)
        self.assertEqual(screen.replace(str(capture.path), ""),
                         self.report("dlkprof_dldb.sqlite").stdout.replace("dlkprof_dldb.sqlite", ""))  # fmt: skip

    def test_without_markers_it_is_said_that_iterations_are_not_known(self):
        self.assertEqual(["finalized"], self.detached("train:2500"))
        self.assertIn("no marker told its iterations apart", " ".join(self.report(self.capture().path).stdout.split()))

    def test_all_of_the_run_where_that_is_asked_for(self):
        for option in ("--timeline=on", "--iterations=0", "--samples=all", "--profile-from-start=off"):
            with self.subTest(option=option):
                self.assertEqual([], self.detached("train:2500", options=[option, "--force"]))

    def test_not_where_the_program_has_graphs(self):
        self.assertEqual([], self.detached("capture:3", "train:2500"))
        self.assertIn("CUPTI stayed loaded", " ".join(self.report(self.capture().path).stdout.split()))

    def check_holes_are_filled(self, *steps):
        self.assertEqual(["finalized"], self.detached(*steps))
        self.assertEqual(["holes 0"], [line for line in self.journal_lines("trace") if line.startswith("holes")])

    def test_holes_in_the_heap_are_filled(self):
        self.check_holes_are_filled("train:2500")

    def test_the_main_thread_detaches(self):
        # All is measured while the other thread launches, which could not fill the holes.
        self.check_holes_are_filled("train:120", "threads:1:800", "train:1000")

    def test_threads(self):
        self.profile_unharmed("threads:3:1500", "train:500", options=["--iterations=20"], metrics=ONE_PASS)
        self.assertEqual("yes", self.capture().summary["ended"])
