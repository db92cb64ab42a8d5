"""What listening to PyTorch's own emission costs cifar10.py as it is, at its default batch size: many pairs of processes."""

import statistics
import time

from emission_cost import LIMIT
from harness import Skipped, check
from side_by_side import LEAST_LEFT_S, STEPS, Times, Variant, environment_of, interval, take_turns

PART = "emission"

BATCH_SIZE = 128     # cifar10.py's own
LISTENING = ("--replay-mode", "none")
# Processes differ by more than turns do, in where their memory lies: so there are many, and a pair of them is one observation.
PAIRS_AT_ONCE, ROUNDS = 4, 12
LEAST_PAIRS = 24
BUDGET_S = 270


def run(bench):
    if not bench.has_torch(PART, "cifar10.py"):
        return
    times = Times(BATCH_SIZE)
    with bench.board.case(PART, "captures of all that was listened to") as row:
        row.detail = measure(bench, times)
    with bench.board.case(PART, f"listening beyond PyTorch's emission, cifar10.py batch {BATCH_SIZE}") as row:
        row.detail = verdict(times)


def measure(bench, times):
    variants = [variant for number in range(PAIRS_AT_ONCE) for variant in (
        Variant(f"emit_nvtx_{number}", {}, emit_nvtx=True),
        Variant(f"listening_{number}", environment_of(bench, f"{PART}_{number}", LISTENING), emit_nvtx=True))]
    deadline = time.monotonic() + BUDGET_S
    sizes = []
    while time.monotonic() < deadline and bench.commands.seconds_left() > LEAST_LEFT_S:
        take_turns(bench, variants, [times], ROUNDS, deadline)
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


def pairs_of(times):
    """Of each pair of processes the median of its rounds' ratios."""
    return [statistics.median(one / other for one, other in zip(of_set[f"listening_{number}"], of_set[f"emit_nvtx_{number}"]))
            for of_set in times.sets for number in range(PAIRS_AT_ONCE)]


def verdict(times):
    pairs = pairs_of(times)
    if len(pairs) < LEAST_PAIRS:
        raise Skipped(f"{len(pairs)} pairs of processes; {LEAST_PAIRS} are needed")
    low, high = interval(pairs)
    alone = [value for of_set in times.sets for name, values in of_set.items() if name.startswith("emit_nvtx") for value in values]
    words = (f"step time listening / emit_nvtx: median of {len(pairs)} pairs of processes {statistics.median(pairs):.4f} (95 % interval "
             f"{low:.4f} to {high:.4f}; pairs {min(pairs):.4f} to {max(pairs):.4f}), {ROUNDS} turns of {STEPS} steps each; "
             f"{statistics.median(alone):.4f} ms a step with emit_nvtx ({min(alone):.4f} to {max(alone):.4f})")
    check(statistics.median(pairs) < LIMIT, f"{words}; limit {LIMIT}")
    return words
