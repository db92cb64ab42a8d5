"""Runs the built dlkprof over the fakes of tests/fakes/, and reads what it left behind.

CMake says by the environment where: DLKPROF_BUILD (the build tree), DLKPROF_SOURCE; and DLKPROF_SANITIZE, the sanitizers
that everything is built with, if any.
"""

import csv
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["DLKPROF_BUILD"])
SOURCE = pathlib.Path(os.environ["DLKPROF_SOURCE"])
DLKPROF = BUILD / "bin/dlkprof"
INJECTED = BUILD / "lib/libdlkprof_inject.so"
FAKES = BUILD / "fakes"
PROGRAM = FAKES / "fake_program"
RECORDED = SOURCE / "tests/data/h200_cnn_b512.expected.csv"

# The kernels of tests/fakes/cuda/kernels.cpp by the name that ncu's base "function" gives them, and for each of those
# that are measured the row of RECORDED whose counters it has.
ADD, ROTATE, GEMM = "add_in_place", "rotate", "Kernel2"
NVJET, SGEMM = "nvjet_tst_128x64_64x8_2x1_v_bz_TNT", "volta_sgemm_128x64_nn"
RECORDED_ROW = {ADD: 1, ROTATE: 48, GEMM: 16, NVJET: 6, SGEMM: 20}
LAUNCHES_OF_AN_ITERATION = [ADD, GEMM, ROTATE, GEMM, NVJET, SGEMM]

# Ways of collecting: each replay mode, and options that add code of their own to it.
WAYS = {
    "kernel": ("--replay-mode=kernel", "--samples=all"),
    "flushed": ("--replay-mode=kernel", "--samples=all", "--cache-control=all"),
    "timeline": ("--replay-mode=kernel", "--samples=all", "--timeline=on"),
    "iteration": ("--replay-mode=iteration",),
    "auto": ("--replay-mode=auto",),
    "sample": ("--replay-mode=sample", "--timeline=on"),
    "none": ("--replay-mode=none",),
    "pc_sampling": ("--replay-mode=none", "--pc-sampling"),
}

TIMEOUT_S = 600 if os.environ.get("DLKPROF_SOAK") else 180 if os.environ.get("DLKPROF_SANITIZE") else 60
# Programs that crash on purpose shall die as they do without sanitizers; CUPTI never frees some of its memory; and forked
# children of programs with threads go on.
SANITIZER_OPTIONS = "handle_segv=0:handle_abort=0:detect_leaks=0:die_after_fork=0"


def _read_recorded():
    with open(RECORDED, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [name for name in rows[0] if "__" in name], rows


# The 14 metrics that the recording can answer, and what they are.
METRICS, RECORDED_ROWS = _read_recorded()
PASSES = 10  # for all of them


def short_name(row):
    """The kernel of a row of the metrics report, as ncu's base "function" has it."""
    return next(name for name in RECORDED_ROW if name in row["Kernel Name"])


@dataclasses.dataclass
class Done:
    """A command that has ended; `code` as a shell gives it: 128 + signal where a signal ended it."""

    code: int
    stdout: str
    stderr: str

    def said(self):
        """The messages of dlkprof on stderr, but for the files that it wrote or had no reason to write."""
        expected = ("dlkprof: wrote ", "dlkprof: no ops, iterations and database")
        lines = self.stderr.splitlines()
        return [line for line in lines if line.startswith("dlkprof: ") and not line.startswith(expected)]


@dataclasses.dataclass
class Capture:
    """What `dlkprof report` makes of one capture."""

    path: pathlib.Path
    rows: list  # one dictionary a launch that was measured
    summary: dict  # its table Coverage

    def kernels(self):
        """The names of the kernels measured, in their order, as ncu's base "function" gives them."""
        return [short_name(row) for row in self.rows]


def python_with(module):
    """A Python that has a module of the distribution's: that of the tests, or the system's, for which setup.sh installs it."""
    for python in (sys.executable, "/usr/bin/python3"):
        if os.access(python, os.X_OK) and subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode == 0:
            return python
    raise unittest.SkipTest(f"no Python here has the module {module}, which ./setup.sh test installs")


class EndToEndTest(unittest.TestCase):
    """A test with an empty folder of its own, in which everything is run."""

    maxDiff = None

    def setUp(self):
        self._scratch = tempfile.TemporaryDirectory(prefix="dlkprof-e2e-")
        self.addCleanup(self._scratch.cleanup)
        self.folder = pathlib.Path(self._scratch.name)
        self.journal = self.folder / "journal"

    def environment(self, **more):
        """Variables of a run: the fakes instead of a driver and a toolkit, and no colours."""
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        for name in ("ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS") if os.environ.get("DLKPROF_SANITIZE") else ():
            kept[name] = ":".join(filter(None, [os.environ.get(name), SANITIZER_OPTIONS]))
        kept |= {"LD_LIBRARY_PATH": str(FAKES), "CUDA_HOME": str(FAKES / "toolkit"), "FAKE_JOURNAL": str(self.journal)}
        return kept | more

    def start(self, words, env=None, **more):
        """A process in its own process group, with its output in pipes."""
        return subprocess.Popen(
            [str(word) for word in words], cwd=self.folder, env=self.environment(**(env or {})), text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, **more,
        )  # fmt: skip

    def run_command(self, *words, env=None, **more):
        return self.finish(self.start(words, env, **more))

    def finish(self, process):
        try:
            stdout, stderr = process.communicate(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            stdout, stderr = process.communicate()
            self.fail(f"{process.args} did not end within {TIMEOUT_S} s:\n{stdout}{stderr}")
        return Done(process.returncode if process.returncode >= 0 else 128 - process.returncode, stdout, stderr)

    def dlkprof(self, *words, **more):
        return self.run_command(DLKPROF, *words, **more)

    def profile(self, *steps, options=(), env=None, metrics=METRICS, **more):
        """Profiles fake_program taking `steps`."""
        wanted = [f"--metrics={','.join(metrics)}"] if metrics else []
        return self.dlkprof(*wanted, *options, PROGRAM, *steps, env=env, **more)

    def unprofiled(self, *steps, env=None):
        return self.run_command(PROGRAM, *steps, env=env)

    def profile_unharmed(self, *steps, options=(), env=None, metrics=METRICS):
        """Profiles, and makes sure that the program did what it does without; its failures included."""
        alone = self.unprofiled(*steps)
        profiled = self.profile(*steps, options=["--verbosity=minimal", *options], env=env, metrics=metrics)
        self.assertEqual((alone.code, alone.stdout), (profiled.code, profiled.stdout), profiled.stderr)
        self.assert_no_misuse()
        return profiled

    def captures(self):
        """Every capture of the folder, the program's own first."""
        paths = sorted(self.folder.glob("*.dlkcap"), key=lambda path: (len(path.name), path.name))
        return [self.read(path) for path in paths]

    def capture(self):
        captures = self.captures()
        self.assertEqual(1, len(captures), [capture.path.name for capture in captures])
        return captures[0]

    def read(self, path, *options):
        files = self.folder / "read"
        self.report(path, "--reports=metrics,summary", "--formats=json", f"--output_path={files}", "--base_name=read", "--force",
                    *options)  # fmt: skip
        metrics, summary = (json.loads((files / f"read_{name}.json").read_text()) for name in ("metrics", "summary"))
        return Capture(path, metrics["rows"], summary["tables"].get("Coverage", {}))  # none where no counts were written

    def summary_text(self, path):
        return self.report(path, "--reports=summary").stdout

    def report(self, path, *options):
        done = self.dlkprof("report", path, *options)
        self.assertEqual(0, done.code, done.stderr)
        return done

    def report_json(self, path, *options):
        return json.loads(self.report(path, "--format=json", *options).stdout)["rows"]

    def journal_lines(self, kind):
        """What the fakes noted: "misuse" or "trace"."""
        lines = self.journal.read_text(encoding="utf-8").splitlines() if self.journal.exists() else []
        return [line.removeprefix(kind + ": ") for line in lines if line.startswith(kind)]

    def assert_no_misuse(self):
        self.assertEqual([], self.journal_lines("misuse"))

    def assert_recorded_values(self, row, metrics=METRICS):
        """The metrics of a launch are those of the recorded range that its kernel stands for."""
        recorded = RECORDED_ROWS[RECORDED_ROW[short_name(row)]]
        for metric in metrics:
            self.assertEqual(float(recorded[metric]), float(f"{row[metric]:.6g}"), f"{row['Kernel Name']}: {metric}")
