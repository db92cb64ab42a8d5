"""Running commands under a time limit, and keeping score of what passed, failed, was skipped, or was measured."""

import contextlib
import dataclasses
import os
import signal
import statistics
import subprocess
import threading
import time
from pathlib import Path

PASS, FAIL, SKIP, FIGURE = "pass", "FAIL", "skip", "figure"


class CheckFailed(Exception):
    """A case did not hold; the text says what was seen and what was expected."""


class Skipped(Exception):
    """A case cannot be run here; the text says why."""


def check(condition, words):
    if not condition:
        raise CheckFailed(words)


def is_asked_for(case):
    """Whether DLKPROF_TEST_CASES, where it is set, holds the name of the case."""
    names = os.environ.get("DLKPROF_TEST_CASES", "").split()
    return not names or case in names


@dataclasses.dataclass(frozen=True)
class Done:
    """A command that has ended. `code` is as a shell gives it: 128 + signal where a signal ended it."""

    argv: list
    code: int
    stdout: bytes
    stderr: str
    seconds: float
    timed_out: bool

    def require_success(self):
        """Itself, where the command ended with 0; else the case fails with the end of what it said."""
        if self.timed_out:
            raise CheckFailed(f"{Path(self.argv[0]).name} was stopped after {self.seconds:.0f} s")
        last_words = (self.stderr.strip() or self.stdout.decode(errors="replace").strip()).splitlines()[-2:]
        check(self.code == 0, f"{Path(self.argv[0]).name} ended with {self.code}: {' / '.join(last_words)}")
        return self


class Commands:
    """Runs commands, one log of each; none begins after the deadline or outlives it. Any thread may call."""

    LEAST_SECONDS = 3  # with less time left nothing is started

    def __init__(self, logs, seconds):
        self.logs = Path(logs)
        self.logs.mkdir(parents=True, exist_ok=True)
        self._deadline = time.monotonic() + seconds
        self._total = seconds
        self._names = {}
        self._lock = threading.Lock()

    def seconds_left(self):
        return self._deadline - time.monotonic()

    def run(self, name, argv, timeout=60, env=None, interrupt_at=None):
        """Runs `argv` in a process group of its own. `interrupt_at`: the bytes on stdout at which Ctrl-C is sent."""
        limit = min(timeout, self.seconds_left())
        if limit < self.LEAST_SECONDS:
            raise Skipped(f"out of time: the {self._total:.0f} s for the whole run are used up")
        out, err = self._log_paths(name)
        argv = [str(word) for word in argv]
        begin = time.monotonic()
        with open(out, "wb") as stdout, open(err, "wb") as stderr:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                env={**os.environ, **(env or {})},
                start_new_session=True,
            )
        timed_out = not _wait(process, begin + limit, out, interrupt_at)
        code = process.returncode if process.returncode >= 0 else 128 - process.returncode
        return Done(argv, code, out.read_bytes(), err.read_text(errors="replace"), time.monotonic() - begin, timed_out)

    def _log_paths(self, name):
        safe = "".join(letter if letter.isalnum() or letter in "-._" else "_" for letter in name)
        with self._lock:
            self._names[safe] = self._names.get(safe, 0) + 1
            if self._names[safe] > 1:
                safe += f"_{self._names[safe]}"
        return self.logs / f"{safe}.out", self.logs / f"{safe}.err"


def _wait(process, deadline, out, interrupt_at):
    """True where the process ended by itself, or of the Ctrl-C that was asked for. Its group is gone in any case."""
    try:
        if interrupt_at is not None and _appears(out, interrupt_at, process, deadline):
            time.sleep(0.3)  # let it get into the middle of what it does
            os.killpg(process.pid, signal.SIGINT)
        process.wait(timeout=max(0.1, deadline - time.monotonic()))
        return True
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return False


def _appears(path, text, process, deadline):
    while process.poll() is None and time.monotonic() < deadline:
        if text in path.read_bytes():
            return True
        time.sleep(0.05)
    return False


@dataclasses.dataclass
class Row:
    part: str
    case: str
    status: str = PASS
    detail: str = ""


class Scoreboard:
    """Every case's outcome, in the order in which they were run."""

    def __init__(self, announce=print):
        self.rows = []
        self._announce = announce

    @contextlib.contextmanager
    def case(self, part, name, status=PASS):
        """A case: passes unless its body raises. The body may set `detail` on the row it is given."""
        row = Row(part, name, status)
        try:
            yield row
        except Skipped as reason:
            row.status, row.detail = SKIP, str(reason)
        except CheckFailed as reason:
            row.status, row.detail = FAIL, str(reason)
        except Exception as error:  # a broken case must not take the others with it
            row.status, row.detail = FAIL, f"{type(error).__name__}: {error}"
        self.add(row)

    def add(self, row):
        self.rows.append(row)
        self._announce(f"{row.status:6} {row.part} {row.case}: {row.detail}")

    def figure(self, part, name, detail):
        self.add(Row(part, name, FIGURE, detail))

    def skip(self, part, name, reason):
        self.add(Row(part, name, SKIP, str(reason)))

    def failed(self):
        return any(row.status == FAIL for row in self.rows)

    def counts(self):
        return {status: sum(row.status == status for row in self.rows) for status in (PASS, FAIL, SKIP, FIGURE)}


def spread(values, form):
    """The median, and where there are several the smallest and the largest, as format() writes them."""
    middle = format(statistics.median(values), form)
    return middle if len(values) == 1 else f"{middle} ({min(values):{form}} to {max(values):{form}})"


def text_table(headings, rows):
    """Columns padded to their widest cell; newlines in cells become spaces."""
    cells = [headings] + [[" ".join(str(cell).split()) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(headings))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in cells]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])


def markdown_table(headings, rows):
    def line(cells):
        return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"

    return "\n".join([line(headings), line(["---"] * len(headings)), *(line(row) for row in rows)])
