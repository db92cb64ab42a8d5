"""Captures of 100 kB that are made to take all memory or time: whoever reads them is told, or gets a report, and soon."""

import os
import resource
import subprocess
import unittest

from harness import BUILD, DLKPROF, EndToEndTest

MOST_SECONDS = 10
MOST_BYTES = 500 << 20
SANITIZED = bool(os.environ.get("DLKPROF_SANITIZE"))  # takes several times as much of both
KINDS = "columns configurations images launches names nest nests samples threads".split()


class BombsTest(EndToEndTest):
    def bomb(self, kind):
        path = self.folder / f"{kind}.dlkcap"
        if not path.exists():
            done = self.run_command(BUILD / "bin" / "bomb_capture", kind, path)
            self.assertEqual(0, done.code, done.stderr)
        self.assertLessEqual(path.stat().st_size, 100_000)
        return path

    def read_bounded(self, *words, limit=None):
        """Exit code and stderr; the program and all its children within bounds."""
        process = subprocess.Popen([str(word) for word in (DLKPROF, *words)], cwd=self.folder, env=self.environment(),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                   preexec_fn=limit and (lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))))  # fmt: skip
        stderr = process.stderr.read()
        process.stderr.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if not SANITIZED:
            self.assertLess(usage.ru_utime + usage.ru_stime, MOST_SECONDS, words)  # what else runs here does not count
            self.assertLess(usage.ru_maxrss << 10, MOST_BYTES, words)
        return process.returncode, stderr

    def test_reports_take_neither_all_memory_nor_all_time(self):
        for kind in KINDS:
            with self.subTest(kind=kind):
                path = self.bomb(kind)
                everything = ("--reports=all", "--formats=csv,json", f"--database={path}", "--force")
                for words in (
                    ("report", path),
                    everything,
                    *([("report", path, "--metrics=sm__inst_executed.max")] * (kind == "images")),
                ):
                    code, stderr = self.read_bounded(*words)
                    self.assertIn(code, (0, 1), stderr)
                    self.assertNotIn("unexpected", stderr)

    @unittest.skipIf(SANITIZED, "the sanitizers reserve terabytes")
    def test_what_takes_too_much_memory_is_named(self):
        path = self.bomb("configurations")
        code, stderr = self.read_bounded("report", path, limit=100 << 20)
        self.assertEqual(1, code, stderr)
        self.assertIn("not enough memory for", stderr)
        self.assertIn("configurations.dlkcap", stderr)
        self.assertIn("ulimit -v", stderr)
