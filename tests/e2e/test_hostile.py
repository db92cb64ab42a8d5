"""Programs that do what a profiler in them must bear: stdout, exit code and files are as without it."""

import hashlib

from harness import ADD, METRICS, EndToEndTest

WAYS = {
    "kernel": ("--replay-mode=kernel", "--samples=all"),
    "flushed": ("--replay-mode=kernel", "--samples=all", "--cache-control=all"),
    "iteration": ("--replay-mode=iteration",),
    "auto": ("--replay-mode=auto",),
    "none": ("--replay-mode=none",),
    "timeline": ("--replay-mode=kernel", "--samples=all", "--timeline=on"),
}


class HostileProgramTest(EndToEndTest):
    def files(self):
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(self.folder.iterdir())
                if path.is_file() and path.name.startswith(("of_the_program", "its_"))}

    def check(self, *steps, complains=True):
        alone = self.unprofiled(*steps)
        expected = (alone.code, alone.stdout, self.files())
        for name, options in WAYS.items():
            with self.subTest(way=name):
                done = self.profile(*steps, options=["--force", *options])
                self.assertEqual(expected, (done.code, done.stdout, self.files()), done.stderr)
                if complains:
                    self.assertIn("closed the descriptor", done.stderr)
        return alone

    def test_all_descriptors_closed_and_used_again(self):
        alone = self.check("marked:2", "close_all:9", "marked:2")
        self.assertIn("40 files as they were written", alone.stdout)

    def test_descriptors_of_others_closed_and_used_again(self):
        self.check("marked:2", "close_twice:100000", "marked:2")

    def test_threads_that_are_cancelled_while_they_launch(self):
        alone = self.check("train:1", "cancel:60", "train:1", complains=False)
        self.assertIn("60 cancelled", alone.stdout)

    def test_a_stderr_that_cannot_be_written(self):
        for how in ("pipe", "file"):
            with self.subTest(how=how):
                self.check("train:1", f"break_stderr:{how}", "close_twice:5", "train:2", "exit:7", complains=False)
