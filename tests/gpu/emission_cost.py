"""What the timeline and NVTX cost cifar10.py beyond what PyTorch's own emission of ranges costs, measured side by side."""

import contextlib
import csv
import dataclasses
import json
import os
import re
import select
import statistics
import subprocess
import sys
import time

from harness import CheckFailed, Skipped, check
from part_overhead import environment_of, interval, pinned
from tools import HERE, SAMPLES

LIMIT = 1.10               # of the step time under PyTorch's emit_nvtx
BATCH_SIZES = (4, 128, 512)
STEPS, WARM_UP_STEPS = 250, 60
PRINT_EVERY = 50           # steps of a block; the first block of a turn is not timed
SETS, ROUNDS = 2, 4        # new processes for each set; in each round every variant takes a turn with each batch size
LEAST_ROUNDS = 4           # of all sets together
BUDGET_S, LEAST_LEFT_S = 90, 30
START_S, TURN_S = 90, 30   # after which a process is given up

VARIANTS = ("bare", "emit_nvtx", "emission", "timeline", "dlkprof")
MEANINGS = {
    "bare": "the program alone",
    "emit_nvtx": "within `torch.autograd.profiler.emit_nvtx(record_shapes=True)`, nobody listening",
    "emission": "the Python part of `--mode=pytorch`, nobody listening",
    "timeline": "`dlkprof --replay-mode none`",
    "dlkprof": "`dlkprof --mode pytorch --replay-mode none`",
}
RATIOS = (("dlkprof", "emit_nvtx"), ("dlkprof", "emission"), ("emission", "emit_nvtx"),
          ("emit_nvtx", "bare"), ("emission", "bare"), ("timeline", "bare"), ("dlkprof", "bare"))


@dataclasses.dataclass
class Times:
    """Median step times in ms: a value a round, in the same order for every variant."""

    batch_size: int
    of: dict = dataclasses.field(default_factory=lambda: {variant: [] for variant in VARIANTS})

    @property
    def rounds(self):
        return len(self.of["bare"])

    def ratios(self, one, other):
        return [a / b for a, b in zip(self.of[one], self.of[other])]

    def noise(self):
        """Each turn of the bare program against the one before."""
        return [later / earlier for earlier, later in zip(self.of["bare"], self.of["bare"][1:])]


def run(bench, part, options):
    """`options`: of dlkprof, for the variants that are run under it. The Times of each batch size that was measured."""
    times = {size: Times(size) for size in BATCH_SIZES}
    with bench.board.case(part, "cost: everything was recorded meanwhile") as row:
        row.detail = measure(bench, options, times)
    for size in BATCH_SIZES:
        with bench.board.case(part, f"cost beyond PyTorch's emission, batch {size}") as row:
            row.detail = verdict(times[size])
        if times[size].rounds:
            bench.board.figure(part, f"cost, batch {size}", "; ".join(
                ratio_words(times[size], *pair) for pair in RATIOS[1:]))
    return [one for one in times.values() if one.rounds]


def verdict(times):
    if times.rounds < LEAST_ROUNDS:
        raise Skipped(f"{times.rounds} rounds; {LEAST_ROUNDS} are needed")
    words = (f"{ratio_words(times, *RATIOS[0])}; {statistics.median(times.of['emit_nvtx']):.4f} ms a step with emit_nvtx, "
             f"{statistics.median(times.of['bare']):.4f} ms bare; {STEPS} steps a turn")
    check(statistics.median(times.ratios(*RATIOS[0])) < LIMIT, f"{words}; limit {LIMIT}")
    return words


def ratio_words(times, one, other):
    ratios = times.ratios(one, other)
    low, high = interval(ratios)
    return (f"{one} / {other} {statistics.median(ratios):.4f} (95 % interval {low:.4f} to {high:.4f}, n {len(ratios)}, "
            f"{min(ratios):.4f} to {max(ratios):.4f})")


def measure(bench, options, times):
    """Fills `times`; the detail of a case: what dlkprof recorded of the turns."""
    environments = environments_of(bench, options)
    deadline = time.monotonic() + BUDGET_S
    recorded = []
    try:
        for number in range(SETS):
            if time.monotonic() > deadline or bench.commands.seconds_left() < LEAST_LEFT_S:
                break
            steps = take_rounds(bench, environments, number, times, deadline)
            recorded.append(judge_captures(bench, options, steps))
    finally:
        remove_captures(bench, options)
    if not recorded:
        raise Skipped("out of time")
    return "; ".join(recorded)


def environments_of(bench, options):
    """What each variant's process has in its environment."""
    ours = {variant: environment_of(bench, base_name(variant), words) for variant, words in options.items()}
    python = {name: ours["dlkprof"].get(name, "") for name in ("PYTHONPATH", "DLKPROF_PYTHON")}
    check(python["DLKPROF_PYTHON"] == "pytorch", f"--mode pytorch set no DLKPROF_PYTHON: {python}")
    return {"bare": {}, "emit_nvtx": {}, "emission": python, **ours}


def base_name(variant):
    return f"cost_of_{variant}"


def take_rounds(bench, environments, number, times, deadline):
    """A set of processes that take turns until their rounds or the time are used up; steps that each of them ran."""
    with contextlib.ExitStack() as stack:
        players = {variant: stack.enter_context(Player(bench, variant, number, environments[variant])) for variant in VARIANTS}
        for size in BATCH_SIZES:
            for player in players.values():
                player.tell(size, WARM_UP_STEPS)  # all at once: importing PyTorch takes seconds
            for player in players.values():
                player.answer(START_S)
        for turn in range(ROUNDS):
            if time.monotonic() > deadline:
                break
            # Who comes first changes from round to round, so that a drift of the clocks falls on all.
            order = [*VARIANTS[turn % len(VARIANTS):], *VARIANTS[:turn % len(VARIANTS)]]
            for size in BATCH_SIZES:
                took = {variant: players[variant].time(size) for variant in order}
                for variant, milliseconds in took.items():
                    times[size].of[variant].append(milliseconds)
        return players["dlkprof"].steps


class Player:
    """A process of turns.py, in the environment of a variant."""

    def __init__(self, bench, variant, number, environment):
        self._name = f"cost_{variant}_{number}"
        self._log = open(bench.commands.logs / f"{self._name}.err", "wb")
        emit = ["--emit_nvtx"] if variant == "emit_nvtx" else []
        self._process = subprocess.Popen(
            [*pinned(), sys.executable, str(HERE / "turns.py"), *emit, str(SAMPLES / "pytorch" / "cifar10.py")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, text=True, start_new_session=True,
            env={**os.environ, **environment})
        self.steps = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Lets it end by itself, so that captures are whole."""
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=TURN_S)
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()
        self._log.close()

    def time(self, batch_size):
        """The median step time of a turn, in ms."""
        self.tell(batch_size, STEPS)
        found = re.search(r"median_step_ms ([\d.]+)", self.answer(TURN_S))
        check(found is not None, f"{self._name} timed nothing")
        return float(found.group(1))

    def tell(self, batch_size, steps):
        self.steps += steps
        arguments = ["--batch_size", str(batch_size), "--iters", str(steps), "--print_every", str(PRINT_EVERY)]
        try:
            self._process.stdin.write(json.dumps(arguments) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise CheckFailed(f"{self._name} is gone") from error

    def answer(self, seconds):
        """What the program said on stderr."""
        ready, _, _ = select.select([self._process.stdout], [], [], seconds)
        check(ready, f"{self._name} did not answer within {seconds} s")
        line = self._process.stdout.readline()
        check(line != "", f"{self._name} is gone")
        done = json.loads(line)
        last_words = " / ".join(done["stderr"].splitlines()[-2:])
        check(done["code"] == 0, f"{self._name} ended a turn with {done['code']}: {last_words}")
        check("dlkprof: " not in done["stderr"], f"{self._name}: {last_words}")  # our Python part has given up
        return done["stderr"]


def captures_of(bench, variant):
    return sorted(bench.dlkprof.captures.glob(f"{base_name(variant)}*.dlkcap"))


def judge_captures(bench, options, steps):
    """That dlkprof was at work: a capture of each process, and in that with ranges every step. Removes them."""
    counts = {variant: len(captures_of(bench, variant)) for variant in options}
    check(all(counts.values()), f"captures: {counts}; dlkprof was not attached")
    capture = max(captures_of(bench, "dlkprof"), key=lambda path: path.stat().st_size)
    megabytes = capture.stat().st_size / 1e6
    found = training_steps(bench, capture)
    words = f"{found} of {steps} steps in the capture, {megabytes:.1f} MB"
    check(found == steps, words)
    remove_captures(bench, options)
    return words


def training_steps(bench, capture):
    """Iterations by the default key node, less the one before the first."""
    words = [f"--database={capture}", "--reports=summary", "--formats=csv", f"--output_path={capture.parent}",
             "--base_name=cost_summary", "--force"]
    bench.dlkprof.run("cost_summary", words).require_success()
    with open(capture.parent / "cost_summary_summary.csv", newline="", encoding="utf-8") as file:
        values = {row["Row Name"]: row["Value"] for row in csv.DictReader(file)}
    return int(values["Total Iterations"]) - 1


def remove_captures(bench, options):
    for variant in options:
        for capture in captures_of(bench, variant):  # each of megabytes
            capture.unlink()
