"""Running commands and keeping score."""

import unittest

from harness import FAIL, PASS, SKIP, CheckFailed, Commands, Scoreboard, Skipped
from stand_ins import InFolder


class ScoreboardTest(unittest.TestCase):
    def test_outcomes(self):
        board = Scoreboard(lambda line: None)
        for error in (None, Skipped("no GPU"), CheckFailed("differs"), ValueError("bug")):
            with board.case("part", "case"):
                if error is not None:
                    raise error
        self.assertEqual([row.status for row in board.rows], [PASS, SKIP, FAIL, FAIL])
        self.assertTrue(board.failed())
        self.assertEqual(board.counts(), {PASS: 1, FAIL: 2, SKIP: 1, "figure": 0})


class CommandsTest(InFolder):
    def test_exit_codes_as_a_shell_gives_them(self):
        self.assertEqual(self.commands.run("seven", ["sh", "-c", "exit 7"]).code, 7)
        self.assertEqual(self.commands.run("killed", ["sh", "-c", "kill -9 $$"]).code, 137)

    def test_streams_are_kept_apart_and_logged(self):
        done = self.commands.run("streams", ["sh", "-c", "echo out; echo err >&2"])
        self.assertEqual((done.stdout, done.stderr), (b"out\n", "err\n"))
        self.assertEqual((self.folder / "logs" / "streams.out").read_bytes(), b"out\n")
        self.commands.run("streams", ["true"])
        self.assertTrue((self.folder / "logs" / "streams_2.out").exists())

    def test_time_limit_ends_the_whole_group(self):
        done = self.commands.run("slow", ["sh", "-c", "sleep 30 & sleep 30"], timeout=3)
        self.assertTrue(done.timed_out)
        self.assertLess(done.seconds, 10)
        with self.assertRaises(CheckFailed):
            done.require_success()

    def test_interrupt_comes_once_the_text_is_there(self):
        program = self.script("waits", "import time\nprint('ready', flush=True)\ntime.sleep(20)\n")
        done = self.commands.run("waits", [program], timeout=15, interrupt_at=b"ready")
        self.assertEqual((done.code, done.stdout, done.timed_out), (130, b"ready\n", False))

    def test_nothing_starts_after_the_deadline(self):
        with self.assertRaises(Skipped):
            Commands(self.folder / "late", 1).run("late", ["true"])
