"""A folder of its own for each test, and profilers that only play their part."""

import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

from harness import Commands, Scoreboard
from made_up_tables import OUR_CSV
from tools import Bench, Dlkprof, Ncu

# Runs the program, keeps a table of two launches, and reports it: a dlkprof that does all right.
GOOD_DLKPROF = f"""
import subprocess, sys
if sys.argv[1] == "report":
    sys.stdout.write({OUR_CSV!r})
    sys.exit(0)
sys.exit(subprocess.call(sys.argv[sys.argv.index("--") + 1:]))
"""


class InFolder(unittest.TestCase):
    """A folder of its own for each test, and a bench whose profilers are stand-ins."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.commands = Commands(self.folder / "logs", 60)
        self.board = Scoreboard(lambda line: None)

    def script(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!{sys.executable}\n{textwrap.dedent(text)}")
        path.chmod(0o755)
        return path

    def bench(self, dlkprof, ncu="raise SystemExit('==ERROR== no counters here')"):
        self.script("install/bin/dlkprof", dlkprof)
        profiler = Ncu(self.commands)
        profiler.program = str(self.script("ncu", ncu))
        return Bench(
            self.board,
            self.commands,
            Dlkprof(self.folder / "install", self.folder / "captures", self.commands),
            profiler,
            self.folder,
            self.folder / "programs",
        )

    def statuses(self):
        return {row.case: (row.status, row.detail) for row in self.board.rows}
