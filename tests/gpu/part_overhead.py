"""What a training loop pays for dlkprof being attached while nothing is selected: cifar10.py, many pairs of runs."""

import contextlib
import json
import re
import statistics
import subprocess
import sys
from pathlib import Path

from harness import FIGURE, PASS, CheckFailed, Skipped, check

PART = "overhead"

SERVER = Path(__file__).resolve().parent / "warm_python.py"
PROGRAM = SERVER.parent.parent.parent / "samples" / "pytorch" / "cifar10.py"

NOTHING = ("-k", "nothing_matches_this", "--target-processes", "all")
COUNTERS_ONLY = ("--timeline", "off")
LIMIT = 1.01            # of the step time without, where the GPU is what bounds the program
# Batch size, further options, limit. At batch size 4 launching bounds the program, and CUPTI's being there costs each launch
# a microsecond before anything is asked of it: a figure, not a promise.
CASES = ((512, (), LIMIT), (512, COUNTERS_ONLY, LIMIT), (4, (), None), (4, COUNTERS_ONLY, None))
STEPS = 500
PAIRS, LEAST_PAIRS = 10, 8
SECONDS_A_RUN = 30


def run(bench):
    name = "attached, nothing selected, cifar10.py batch {}"
    try:
        bench.require_torch()
        with warm_python(bench) as python:
            for batch_size, options, limit in CASES:
                case = " ".join((name.format(batch_size), *options))
                with bench.board.case(PART, case, PASS if limit else FIGURE) as row:
                    row.detail = measure(bench, python, batch_size, options, limit)
    except (Skipped, CheckFailed) as reason:
        bench.board.skip(PART, name.format("of any size"), reason)


class WarmPython:
    """The program of warm_python.py, at work: `run` gives cifar10.py's median step time in ms."""

    def __init__(self, bench):
        self._logs = bench.commands.logs
        self._left = bench.commands.seconds_left
        self._process = subprocess.Popen([*pinned(), sys.executable, str(SERVER), str(PROGRAM), "torch", "torch.nn", "torch._dynamo"],
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)
        self._answer("importing PyTorch")

    def run(self, name, batch_size, environment):
        if self._left() < SECONDS_A_RUN:
            raise Skipped("out of time")
        error = self._logs / f"{name}.err"
        job = {"arguments": ["--iters", str(STEPS), "--print_every", "50", "--batch_size", str(batch_size)],
               "environment": environment, "stdout": str(self._logs / f"{name}.out"), "stderr": str(error)}
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        code = self._answer(name)
        text = error.read_text(errors="replace")
        found = re.search(r"median_step_ms ([\d.]+)", text)
        check(code == "0" and found is not None, f"{name} ended with {code}: {' / '.join(text.splitlines()[-2:])}")
        return float(found.group(1))

    def _answer(self, what):
        line = self._process.stdout.readline()
        check(line != "", f"{what}: the interpreter is gone")
        return line.strip()

    def close(self):
        self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=10)
        self._process.kill()


def pinned():
    """What stands before a command that is to have a few cores of its own, so that the scheduler moves it about less."""
    pin = ["taskset", "-c", "2-5"]
    return pin if _can([*pin, "true"]) else []


def _can(argv):
    try:
        return subprocess.run(argv, check=False, capture_output=True).returncode == 0
    except OSError:
        return False


def environment_of(bench, name, options):
    """What dlkprof puts into a program's environment to profile it and its children."""
    show = "import json, os; print(json.dumps(dict(os.environ)))"
    done = bench.dlkprof.profile(name, options, [sys.executable, "-c", show])
    everything = json.loads(done.require_success().stdout)
    environment = {name: value for name, value in everything.items()
                   if "INJECTION" in name or "DLKPROF" in name or name == "PYTHONPATH"}
    check("CUDA_INJECTION64_PATH" in environment, "dlkprof set no CUDA_INJECTION64_PATH")
    return environment


def measure(bench, python, batch_size, options, limit):
    """The detail of a case: ratios of the step time with dlkprof to that without, run by run."""
    run = f"overhead_{batch_size}{'_counters_only' if options else ''}"
    environment = environment_of(bench, run, (*NOTHING, *options))
    runs = {"without": [], "with": []}
    for pair in range(PAIRS):
        # Which comes first alternates, so that a drift of the clocks falls on both.
        order = ("without", "with") if pair % 2 == 0 else ("with", "without")
        try:
            times = {how: python.run(f"{run}_{pair}_{how}", batch_size, environment if how == "with" else {})
                     for how in order}
        except Skipped:
            break
        for how, time in times.items():
            runs[how].append(time)
    captures = len(list(bench.dlkprof.captures.glob(f"{run}*.dlkcap")))
    check(captures >= len(runs["with"]), f"{captures} captures of {len(runs['with'])} runs: dlkprof was not attached")
    return verdict(runs["without"], runs["with"], limit)


def verdict(without, attached, limit=LIMIT):
    if len(without) < LEAST_PAIRS:
        raise Skipped(f"out of time after {len(without)} of {PAIRS} pairs")
    ratios = [two / one for one, two in zip(without, attached)]
    noise = [later / earlier for earlier, later in zip(without, without[1:])]
    medians = statistics.median(attached) / statistics.median(without)
    low, high = interval(ratios)
    words = (f"step time with / without: median of pairs {statistics.median(ratios):.4f} (95 % interval {low:.4f} to {high:.4f}, "
             f"n {len(ratios)}, {min(ratios):.4f} to {max(ratios):.4f}), ratio of medians {medians:.4f}; "
             f"{statistics.median(without):.4f} ms a step without ({min(without):.4f} to {max(without):.4f}), {STEPS} steps a run; "
             f"runs without, each against the one before: {min(noise):.4f} to {max(noise):.4f}")
    check(limit is None or statistics.median(ratios) <= limit, f"{words}; limit {limit}")
    return words


def interval(values):
    """The order statistics that hold the median with at least 95 % (sign test; Conover, Practical Nonparametric
    Statistics, 3rd ed., section 3.2); of fewer than 6 values the smallest and largest."""
    ordered, n = sorted(values), len(values)
    tail, term, rank = 0.0, 0.5**n, 0  # binomial(n, 1/2): P(X <= rank - 1)
    while rank < n // 2 and tail + term <= 0.025:
        tail += term
        term *= (n - rank) / (rank + 1)
        rank += 1
    rank = max(rank, 1)
    return ordered[rank - 1], ordered[n - rank]


@contextlib.contextmanager
def warm_python(bench):
    try:
        python = WarmPython(bench)
    except OSError as error:
        raise CheckFailed(str(error)) from error
    try:
        yield python
    finally:
        python.close()
