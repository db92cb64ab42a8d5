"""What variants of a run of a training loop cost, side by side: a process for each, which take turns of a few steps."""

import contextlib
import dataclasses
import json
import os
import select
import statistics
import subprocess
import sys
import time

from harness import CheckFailed, check
from places import Places
from tools import PROBES, SAMPLES

STEPS = 20  # of a turn: between two lines that cifar10.py prints, where it waits for the GPU
WARM_UP_TURNS = 4  # of each process and batch size
PAD, PAGE = "DLKPROF_TEST_PAD", 4096  # a variable of the environment, which lies above the stack; by how much it may move that
START_S, TURN_S = 90, 30  # after which a process is given up
LEAST_LEFT_S = 30
USED = ("faults", "switches", "user_us")  # what turns.py says of a turn


@dataclasses.dataclass(frozen=True)
class Loop:
    """A sample that trains, how many of its steps are to a line that it prints, and how many turns warm it up. `laid_out_alike`: all
    processes have the same addresses and hashes, by which those whose steps the CPU bounds differ by 2 % (standard deviation; 1 %
    without). `one_by_one`: they begin one after another, as no two can have a GPU's counters. `lines` of a turn: of several the first
    does not count, before which other processes had the caches."""

    script: str
    steps: int
    warm_up_turns: int
    laid_out_alike: bool = False
    one_by_one: bool = False
    lines: int = 1

    @property
    def steps_of_turn(self):
        return self.steps * self.lines

    @property
    def command(self):
        return ["setarch", "-R"] if self.laid_out_alike else []

    @property
    def environment(self):
        return {"PYTHONHASHSEED": "0"} if self.laid_out_alike else {}


CIFAR10 = Loop("cifar10.py", STEPS, WARM_UP_TURNS)


@dataclasses.dataclass
class Variant:
    name: str
    environment: dict
    emit_nvtx: bool = False


@dataclasses.dataclass
class Times:
    """Of one batch size, ms a step: of each set of processes, a value a round, in the same order for every variant."""

    batch_size: int
    sets: list = dataclasses.field(default_factory=list)  # {variant: [ms]}
    facts: list = dataclasses.field(default_factory=list)  # {variant: {what Player.facts says}}

    @property
    def rounds(self):
        return sum(len(next(iter(one.values()))) for one in self.sets)

    def of(self, variant):
        return [value for one in self.sets for value in one[variant]]

    def ratios(self, one, other):
        """Turn against turn of the same round."""
        return [a / b for a, b in zip(self.of(one), self.of(other))]

    def set_medians(self, one, other):
        """Of the ratios of each set of processes: what else processes differ in shows between sets."""
        return [statistics.median(a / b for a, b in zip(of_set[one], of_set[other])) for of_set in self.sets]

    def noise(self, variant):
        """Each turn against the one before."""
        return [later / earlier for one in self.sets for earlier, later in zip(one[variant], one[variant][1:])]


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


def ratio_words(times, one, other):
    ratios = times.ratios(one, other)
    low, high = interval(ratios)
    return (
        f"{one} / {other} {statistics.median(ratios):.4f} (95 % interval {low:.4f} to {high:.4f}, n {len(ratios)}, "
        f"{min(ratios):.4f} to {max(ratios):.4f})"
    )


def environment_of(bench, name, options):
    """What dlkprof puts into a program's environment to profile it and its children."""
    show = "import json, os; print(json.dumps(dict(os.environ)))"
    done = bench.dlkprof.profile(name, options, [sys.executable, "-c", show])
    everything = json.loads(done.require_success().stdout)
    environment = {
        name: value for name, value in everything.items() if "INJECTION" in name or "DLKPROF" in name or name == "PYTHONPATH"
    }
    check("CUDA_INJECTION64_PATH" in environment, "dlkprof set no CUDA_INJECTION64_PATH")
    return environment


def take_turns(bench, variants, times, rounds, deadline, loop=CIFAR10, then=lambda player: None):
    """A new set of processes, which take `rounds` turns each for every one of `times`, or as many as fit into the time; and
    then(player) for each. The steps that each of them ran, warm-up included."""
    with contextlib.ExitStack() as stack:
        players = [stack.enter_context(Player(bench, variant, loop)) for variant in variants]
        for one in times:
            warm_up(players, one.batch_size, loop)
            taken = {variant.name: [] for variant in variants}
            for turn in range(rounds):
                if time.monotonic() > deadline or bench.commands.seconds_left() < LEAST_LEFT_S:
                    break
                for player in in_order(players, turn):
                    taken[player.name].append(player.turn())
            for player in players:
                then(player)
                player.end()
            if any(taken.values()):
                one.sets.append(taken)
                one.facts.append({player.name: player.facts(rounds) for player in players})
        return players[0].steps


def in_order(players, turn):
    """Who comes first changes from round to round, and who comes after whom, so that a drift of the clocks falls on all. Pairs of
    neighbours stay together."""
    first = turn // 2 * 2 % len(players)
    return (players[first:] + players[:first])[:: 1 - 2 * (turn % 2)]


def warm_up(players, batch_size, loop):
    """All at once, as importing PyTorch takes seconds, or one by one."""
    for group in [[player] for player in players] if loop.one_by_one else [players]:
        for player in group:
            player.start(batch_size)
        for player in group:
            player.answer(START_S)
        for _ in range(loop.warm_up_turns - 1):
            for player in group:
                player.turn()


def ms_a_step(turn, loop):
    """Of what turns.py said of a turn."""
    if loop.lines == 1:
        return 1e3 * turn["seconds"] / loop.steps
    return 1e3 * (turn["seconds"] - turn["first_seconds"]) / ((loop.lines - 1) * loop.steps)


class Player:
    """A process of turns.py in the environment of a variant."""

    def __init__(self, bench, variant, loop):
        self.name = variant.name
        self._loop = loop
        self._log = open(bench.commands.logs / f"turns_{variant.name}.err", "ab")
        emit = ["--emit_nvtx"] if variant.emit_nvtx else []
        self._process = subprocess.Popen(
            [*loop.command, sys.executable, str(PROBES / "turns.py"), *emit, str(SAMPLES / "pytorch" / loop.script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            start_new_session=True,
            env={**os.environ, **loop.environment, **variant.environment},
        )
        self.pid = self._process.pid
        self._places = Places(self.pid)
        self._turns = []  # what turns.py answered
        self._end = {}
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

    def start(self, batch_size):
        self._tell(["--batch_size", str(batch_size), "--iters", str(10**9), "--print_every", str(self._loop.steps)])

    def turn(self):
        """Milliseconds a step."""
        self._places.keep()
        self._tell(self._loop.lines)
        self.answer(TURN_S, self._loop.lines)
        return ms_a_step(self._turns[-1], self._loop)

    def end(self):
        self._tell("end")
        done = self._answer(TURN_S)
        last_words = " / ".join(done["stderr"].splitlines()[-2:])
        check(done["code"] == 0, f"{self.name} ended with {done['code']}: {last_words}")
        check("dlkprof: " not in done["stderr"], f"{self.name}: {last_words}")  # our Python part has given up
        self._end = done

    def facts(self, turns):
        """What a step used, medians of the last turns; at the end free chunks of the heap."""
        last = self._turns[-turns:]
        return {
            "first_ms": 1e3 * statistics.median(turn["first_seconds"] for turn in last) / self._loop.steps,
            **{name: statistics.median(turn[name] for turn in last) / self._loop.steps_of_turn for name in USED},
            "free_chunks": self._end.get("free_chunks"),
        }

    def answer(self, seconds, lines=1):
        """Waits for what a turn of so many lines is answered with."""
        done = self._answer(seconds)
        check("seconds" in done, f"{self.name} ended: {' / '.join(str(done.get('stderr')).splitlines()[-2:])}")
        self.steps += lines * self._loop.steps
        self._turns.append(done)

    def _tell(self, what):
        try:
            self._process.stdin.write(json.dumps(what) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise CheckFailed(f"{self.name} is gone") from error

    def _answer(self, seconds):
        ready, _, _ = select.select([self._process.stdout], [], [], seconds)
        check(ready, f"{self.name} did not answer within {seconds} s")
        line = self._process.stdout.readline()
        check(line != "", f"{self.name} is gone")
        return json.loads(line)
