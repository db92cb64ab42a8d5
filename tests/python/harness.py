"""Runs small programs under python/inject/, on the stand-in for PyTorch in fake_torch/, and reads what reached NVTX."""

import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PYTHON = HERE.parent.parent / "python"
INJECT = PYTHON / "inject"
FAKE_TORCH = HERE / "fake_torch"

TIMEOUT_S = 60


class Done:
    """A program that has ended, and the log of the stand-in."""

    def __init__(self, process, log):
        self.code = process.returncode
        self.stdout = process.stdout
        self.stderr = process.stderr
        lines = log.read_text().splitlines() if log.exists() else []
        self.events = [tuple(line.split(" ", 2)) for line in lines]  # (process, thread, what)

    @property
    def log(self):
        return [what for _, _, what in self.events]

    def ranges(self, prefix=""):
        """Messages of ranges as (depth, message), each thread by itself, in the order of their start."""
        return [(depth, message) for _, depth, message in self._ranges_of_threads() if message.startswith(prefix)]

    def _ranges_of_threads(self):
        depths, found = {}, []
        for process, thread, what in self.events:
            depth = depths.setdefault((process, thread), 0)
            if what.startswith("push "):
                found.append(((process, thread), depth, what[len("push ") :]))
                depths[process, thread] += 1
            elif what == "pop":
                depths[process, thread] -= 1
        if any(depths.values()):
            raise AssertionError(f"ranges were left open or popped too often: {depths}\n{self.log}")
        return found

    def paths(self):
        """The modules that were called, as the op names that the model makes of their ranges."""
        prefix, paths, found = "dlkprof:module: ", {}, []
        for thread, depth, message in self._ranges_of_threads():
            path = paths.setdefault(thread, [])
            del path[depth:]
            path.append(message[len(prefix) :] if message.startswith(prefix) else None)
            if path[-1] is not None:
                found.append("/" + "/".join(part for part in path if part is not None))
        return found

    def facts(self):
        """name -> value, as last told."""
        marks = (what[len("mark dlkprof:fact: ") :].split(" ", 2) for what in self.log if what.startswith("mark dlkprof:fact:"))
        return {name: value for source, name, value in marks if source == "pytorch"}


class PythonTest(unittest.TestCase):
    """A folder for each test, gone afterwards."""

    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()

    def write(self, name, source):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(source))
        return path

    def run_python(self, *arguments, asked="pytorch", path=(), python=sys.executable, **environment):
        """Python with these arguments in the test's folder; `asked` is DLKPROF_PYTHON, unset where None."""
        log = self.folder / "log"
        if log.exists():
            log.unlink()
        path = [str(INJECT), *map(str, path), str(FAKE_TORCH)]
        kept = {name: os.environ[name] for name in ("HOME", "PATH", "LANG") if name in os.environ}
        asking = {} if asked is None else {"DLKPROF_PYTHON": asked}
        process = subprocess.run(
            [str(python), *map(str, arguments)],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
            env={
                **kept,
                "PYTHONPATH": os.pathsep.join(path),
                "PYTHONDONTWRITEBYTECODE": "1",
                "FAKE_TORCH_LOG": str(log),
                **asking,
                **environment,
            },
        )
        return Done(process, log)

    def run_script(self, source, **options):
        return self.run_python(self.write("train.py", source), **options)

    def assert_clean(self, done):
        """It ended well and nobody had anything to say."""
        self.assertEqual((done.code, done.stderr), (0, ""))
