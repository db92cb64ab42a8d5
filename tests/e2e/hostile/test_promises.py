"""What the library may take of the program (docs/reference/safety.md): memory, descriptors, and disk."""

import os
import unittest

from harness import FAKES, PROGRAM, WAYS, EndToEndTest

SANITIZED = bool(os.environ.get("DLKPROF_SANITIZE"))


class PromisesTest(EndToEndTest):
    def used(self, *steps, options=None):
        """Peak memory in bytes and open descriptors at the end, as the program itself says."""
        run = self.unprofiled if options is None else lambda *words: self.profile(*words, options=["--force", *options])
        done = run(*steps, "used")
        self.assertEqual(0, done.code, done.stderr)
        line = next(line for line in done.stdout.splitlines() if line.startswith("used "))
        _, kilobytes, descriptors = line.split()
        return int(kilobytes) << 10, int(descriptors)

    @unittest.skipIf(SANITIZED, "takes several times as much")
    def test_memory_and_descriptors(self):
        """Beside what CUPTI takes, of which a program that does nothing has as much."""
        steps = ("marked:100", "nest:65000", "thread_storm:50", "train:2000")
        memory, descriptors = self.used(*steps)
        for timeline, most in (("off", 20 << 20), ("on", 100 << 20)):
            with self.subTest(timeline=timeline):
                options = ["--replay-mode=none", f"--timeline={timeline}"]
                cupti_memory, _ = self.used("train:1", options=options)
                more_memory, more_descriptors = self.used(*steps, options=options)
                self.assertLess(more_memory - max(memory, cupti_memory), most)
                self.assertLessEqual(more_descriptors - descriptors, 4)

    @unittest.skipIf(SANITIZED, "sanitizers have their own open()")
    def test_no_thread_of_its_own_opens_a_file(self):
        """Its number would be the lowest, which the program may just be closing twice."""
        watched = ["/usr/bin/env", f"LD_PRELOAD={FAKES}/libwatched_opens.so", PROGRAM]
        for name, options in WAYS.items():
            with self.subTest(way=name):
                done = self.dlkprof("--force", *options, *watched, "marked:2", "train:3")
                self.assertEqual(0, done.code, done.stderr)
                opened = [line for line in self.journal_lines("trace") if "beside the program" in line]
                self.assertEqual([], [line for line in opened if ".counterdata" not in line], "but what a fake reads")

    def test_a_capture_that_reaches_its_limit(self):
        done = self.profile(
            "marked:5000", "train:3", "exit:7", options=["--replay-mode=none", "--timeline=on", "--max-capture=1"]
        )
        alone = self.unprofiled("marked:5000", "train:3", "exit:7")
        self.assertEqual((alone.code, alone.stdout), (done.code, done.stdout), done.stderr)
        self.assertEqual(1, done.stderr.count("--max-capture)"), done.stderr)
        capture = next(self.folder.glob("*.dlkcap"))
        self.assertLessEqual(capture.stat().st_size, 1_000_000)
        self.assertIn("Profiling has ended before the program did", self.summary_text(capture))
        self.assertNotIn("middle of a record", self.summary_text(capture))
