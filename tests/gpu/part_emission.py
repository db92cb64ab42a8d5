"""What listening to PyTorch's own emission costs cifar10.py as it is, at its default batch size: many pairs of processes."""

import collections
import statistics
import time

import places
from cpu_samples import PERIOD_NS, Sampler
from emission_cost import LIMIT
from harness import Skipped, check
from side_by_side import LEAST_LEFT_S, Loop, Times, Variant, environment_of, interval, take_turns

PART = "emission"

BATCH_SIZE = 128     # cifar10.py's own
LISTENING = ("--replay-mode", "none")
# Turns that are long: what is done once a second, and what the first steps take after others have had the cores, then weigh little
# more than where the program runs by itself.
LOOP = Loop("cifar10.py", 100, 2)
# A pair of processes is one observation: turns of one pair have more in common than those of two.
PAIRS_AT_ONCE, ROUNDS = 4, 5
LEAST_PAIRS = 24
BUDGET_S = 280
LIBRARIES = ("libcupti", "libdlkprof_inject", "libcuda")  # how files' names begin, with what is theirs; the rest is one


def run(bench):
    if not bench.has_torch(PART, "cifar10.py"):
        return
    times, samples = Times(BATCH_SIZE), Samples()
    with bench.board.case(PART, "captures of all that was listened to") as row:
        row.detail = measure(bench, times, samples)
    with bench.board.case(PART, f"listening beyond PyTorch's emission, cifar10.py batch {BATCH_SIZE}") as row:
        row.detail = verdict(times)
    bench.board.figure(PART, "processor time of a step, of the threads that take turns", samples.words())


def measure(bench, times, samples):
    variants = [variant for number in range(PAIRS_AT_ONCE) for variant in (
        Variant(f"emit_nvtx_{number}", {}, emit_nvtx=True),
        Variant(f"listening_{number}", environment_of(bench, f"{PART}_{number}", LISTENING), emit_nvtx=True))]
    deadline = time.monotonic() + BUDGET_S
    sizes = []
    while time.monotonic() < deadline and bench.commands.seconds_left() > LEAST_LEFT_S:
        take_turns(bench, variants, [times], ROUNDS, deadline, LOOP, samples.take)
        sizes += take_captures(bench)
    if not sizes:
        raise Skipped("out of time")
    return f"{len(sizes)} captures of {min(sizes) / 1e6:.1f} to {max(sizes) / 1e6:.1f} MB"


def take_captures(bench):
    """Their sizes, of one set of processes; removes them."""
    captures = list(bench.dlkprof.captures.glob(f"{PART}_*.dlkcap"))
    sizes = [path.stat().st_size for path in captures]
    for path in captures:
        path.unlink()
    check(len(sizes) == PAIRS_AT_ONCE, f"{len(sizes)} captures of {PAIRS_AT_ONCE} processes: dlkprof was not attached")
    return sizes


def variant_of(name):
    return name.rsplit("_", 1)[0]


class Samples:
    """Of each variant and process, microseconds a step by library: of a turn more, after those that are timed."""

    def __init__(self):
        self._of = {"emit_nvtx": [], "listening": []}
        self._refused = None
        self._lost = 0

    def take(self, player):
        if self._refused:
            return
        try:
            with Sampler(player.pid, places.that_take_turns(player.pid)) as sampler:
                player.turn()
        except OSError as reason:
            self._refused = str(reason)
            return
        self._lost += sampler.lost
        shares = collections.Counter()
        for library, microseconds in sampler.microseconds.items():
            shares[next((name for name in LIBRARIES if library.startswith(f"{name}.")), "all others")] += microseconds / LOOP.steps
        self._of[variant_of(player.name)].append(shares)

    def words(self):
        if self._refused or not all(self._of.values()):
            return f"not sampled: {self._refused or 'out of time'}"
        if self._lost:
            return f"not sampled: the kernel lost {self._lost} samples"
        parts = "; ".join(f"{name} {self._beside(name)}" for name in (*LIBRARIES, "all others"))
        return (f"us, listening beside emit_nvtx, medians of {min(map(len, self._of.values()))} processes each (smallest to largest): "
                f"{parts}; a sample each {PERIOD_NS / 1e3:.0f} us of {LOOP.steps} steps of a process")

    def _beside(self, name):
        return " beside ".join(_middle([shares[name] for shares in self._of[variant]]) for variant in ("listening", "emit_nvtx"))


def _middle(values):
    return f"{statistics.median(values):.1f} ({min(values):.1f} to {max(values):.1f})"


def pairs_of(times):
    """Of each pair of processes the median of its rounds' ratios."""
    return [statistics.median(one / other for one, other in zip(of_set[f"listening_{number}"], of_set[f"emit_nvtx_{number}"]))
            for of_set in times.sets for number in range(PAIRS_AT_ONCE)]


def verdict(times):
    pairs = pairs_of(times)
    if len(pairs) < LEAST_PAIRS:
        raise Skipped(f"{len(pairs)} pairs of processes; {LEAST_PAIRS} are needed")
    low, high = interval(pairs)
    alone = [value for of_set in times.sets for name, values in of_set.items() if variant_of(name) == "emit_nvtx" for value in values]
    words = (f"step time listening / emit_nvtx: median of {len(pairs)} pairs of processes {statistics.median(pairs):.4f} (95 % interval "
             f"{low:.4f} to {high:.4f}; pairs {min(pairs):.4f} to {max(pairs):.4f}), {ROUNDS} turns of {LOOP.steps} steps each; {places.words()}; "
             f"{statistics.median(alone):.4f} ms a step with emit_nvtx ({min(alone):.4f} to {max(alone):.4f})")
    check(statistics.median(pairs) < LIMIT, f"{words}; limit {LIMIT}")
    return words
