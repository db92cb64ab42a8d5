"""What dlkprof costs cifar10.py as it is beside PyTorch's own emission, at its default batch size: many sets of processes."""

import collections
import statistics
import time

import places
from cpu_samples import PERIOD_NS, Sampler
from emission_cost import LIMIT
from harness import Skipped, check, spread
from side_by_side import LEAST_LEFT_S, Loop, Times, Variant, environment_of, interval, take_turns

PART = "emission"

BATCH_SIZE = 128  # cifar10.py's own
BASE = "emit_nvtx"  # within PyTorch's emit_nvtx, nobody listening
LISTENING = "listening"  # the same, listened to
DLKPROF = "dlkprof"  # what its users do
OPTIONS = {LISTENING: ("--replay-mode", "none"), DLKPROF: ("--mode", "pytorch", "--replay-mode", "none")}
VARIANTS = (BASE, *OPTIONS)
# Turns that are long: what is done once a second, and what the first steps take after others have had the cores, then weigh little
# more than where the program runs by itself.
LOOP = Loop("cifar10.py", 100, 2)
# Processes that begin together, one of each variant, are one observation: their turns have more in common than those of others.
SETS_AT_ONCE, ROUNDS = 3, 5
LEAST_SETS = 18
BUDGET_S = 280
# How files' names begin, with what is theirs; the rest is one.
LIBRARIES = ("libcupti", "libdlkprof_inject", "libdlkprof_pytorch", "libcuda", "libtorch_cpu", "libc", "libstdc++", "python3")


def run(bench):
    if not bench.has_torch(PART, "cifar10.py"):
        return
    times, samples = Times(BATCH_SIZE), Samples()
    with bench.board.case(PART, "captures of all that was listened to") as row:
        row.detail = measure(bench, times, samples)
    with bench.board.case(PART, f"beyond PyTorch's emission, cifar10.py batch {BATCH_SIZE}") as row:
        row.detail = verdict(times)
    bench.board.figure(PART, "listening to PyTorch's own ranges", words_of(times, LISTENING))
    bench.board.figure(PART, "processor time of a step, of the threads that take turns", samples.words())


def measure(bench, times, samples):
    variants = [variant for number in range(SETS_AT_ONCE) for variant in variants_of(bench, number)]
    deadline = time.monotonic() + BUDGET_S
    sizes = []
    while time.monotonic() < deadline and bench.commands.seconds_left() > LEAST_LEFT_S:
        take_turns(bench, variants, [times], ROUNDS, deadline, LOOP, samples.take)
        sizes += take_captures(bench)
    if not sizes:
        raise Skipped("out of time")
    return f"{len(sizes)} captures of {min(sizes) / 1e6:.1f} to {max(sizes) / 1e6:.1f} MB"


def variants_of(bench, number):
    """One process of each."""
    environments = {variant: environment_of(bench, f"{PART}_{variant}_{number}", options) for variant, options in OPTIONS.items()}
    return [Variant(f"{variant}_{number}", environments.get(variant, {}), emit_nvtx=variant != DLKPROF) for variant in VARIANTS]


def take_captures(bench):
    """Their sizes, of the processes that were alive at once; removes them."""
    captures = list(bench.dlkprof.captures.glob(f"{PART}_*.dlkcap"))
    sizes = [path.stat().st_size for path in captures]
    for path in captures:
        path.unlink()
    expected = SETS_AT_ONCE * len(OPTIONS)
    check(len(sizes) == expected, f"{len(sizes)} captures of {expected} processes: dlkprof was not attached")
    return sizes


def variant_of(name):
    return name.rsplit("_", 1)[0]


class Samples:
    """Of each variant and process, microseconds a step by library: of a turn more, after those that are timed."""

    def __init__(self):
        self._of = {variant: [] for variant in VARIANTS}
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
            shares[next((name for name in LIBRARIES if library.startswith(f"{name}.")), "all others")] += (
                microseconds / LOOP.steps
            )
        self._of[variant_of(player.name)].append(shares)

    def words(self):
        if self._refused or not all(self._of.values()):
            return f"not sampled: {self._refused or 'out of time'}"
        if self._lost:
            return f"not sampled: the kernel lost {self._lost} samples"
        parts = "; ".join(f"{name} {self._beside(name)}" for name in (*LIBRARIES, "all others"))
        return (
            f"us, {', '.join(VARIANTS)}, medians of {min(map(len, self._of.values()))} processes each (smallest to largest): "
            f"{parts}; a sample each {PERIOD_NS / 1e3:.0f} us of {LOOP.steps} steps of a process"
        )

    def _beside(self, name):
        return ", ".join(spread([shares[name] for shares in self._of[variant]], ".1f") for variant in VARIANTS)


def ratios_of(times, variant):
    """Of each set of processes the median of its rounds' ratios to BASE."""
    return [
        statistics.median(one / other for one, other in zip(alive[f"{variant}_{number}"], alive[f"{BASE}_{number}"]))
        for alive in times.sets
        for number in range(SETS_AT_ONCE)
    ]


def words_of(times, variant):
    ratios = ratios_of(times, variant)
    if not ratios:
        return "out of time"
    low, high = interval(ratios)
    return (
        f"step time {variant} / {BASE}: median of {len(ratios)} pairs of processes {statistics.median(ratios):.4f} (95 % interval "
        f"{low:.4f} to {high:.4f}; pairs {min(ratios):.4f} to {max(ratios):.4f})"
    )


def verdict(times):
    ratios = ratios_of(times, DLKPROF)
    if len(ratios) < LEAST_SETS:
        raise Skipped(f"{len(ratios)} sets of processes; {LEAST_SETS} are needed")
    alone = [value for alive in times.sets for name, values in alive.items() if variant_of(name) == BASE for value in values]
    words = (
        f"{words_of(times, DLKPROF)}, {ROUNDS} turns of {LOOP.steps} steps each; {places.words()}; "
        f"{spread(alone, '.4f')} ms a step with {BASE}"
    )
    check(statistics.median(ratios) < LIMIT, f"{words}; limit {LIMIT}")
    return words
