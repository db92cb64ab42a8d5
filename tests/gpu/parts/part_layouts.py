"""What the addresses of a process make of the steps of a loop that the CPU bounds: processes of the same program, which take turns.

Two builds or two environments may differ by as much for no other reason (Mytkowicz et al., Producing Wrong Data Without Doing Anything
Obviously Wrong!, ASPLOS 2009, section 4), so that what a profiler leaves behind is told from that only over many layouts."""

import statistics
import time

from harness import check
from side_by_side import LEAST_LEFT_S, PAD, Loop, Times, Variant, take_turns

PART = "layouts"

BATCH_SIZE = 128  # the CPU bounds the steps of cifar10.py on an H200
PADS = (0, 16, 64, 256, 1024, 1808, 2592, 4080)  # bytes in the environment; a page has 4096
SETS, ROUNDS = 2, 150
STEPS, WARM_UP_TURNS = 5, 40  # turns are short, as the machine's speed drifts
KINDS = {  # name: addresses and hashes alike, bytes by which the environments differ
    "addresses and hashes alike": (True, len(PADS) * (0,)),
    "and environments of several sizes": (True, PADS),
    "as processes are": (False, len(PADS) * (0,)),
}


def run(bench):
    if not bench.has_torch(PART, "PyTorch programs"):
        return
    for name, (alike, pads) in KINDS.items():
        loop = Loop("cifar10.py", STEPS, WARM_UP_TURNS, laid_out_alike=alike)
        bench.board.figure(PART, f"cifar10.py, batch {BATCH_SIZE}, {name}", differences(bench, loop, pads))


def differences(bench, loop, pads):
    """Each of `pads` is of one process a set, so that what a size of the environment makes shows in both sets."""
    variants = [Variant(str(number), {PAD: pad * "x"}) for number, pad in enumerate(pads)]
    times = Times(BATCH_SIZE)
    for _ in range(SETS):
        take_turns(bench, variants, [times], ROUNDS, time.monotonic() + bench.commands.seconds_left() - LEAST_LEFT_S, loop)
    check(len(times.sets) == SETS, "no time was left")
    sets = [relative(one) for one in times.sets]
    every = [value for one in sets for value in one]
    apart = [abs(first - second) for first, second in zip(*sets)]
    return (
        f"median steps of {len(every)} processes over their set's: {min(every):.4f} to {max(every):.4f}, deviation "
        f"{100 * statistics.stdev(every):.2f} %; correlation of the two sets {statistics.correlation(*sets):.2f}, "
        f"{100 * statistics.median(apart):.2f} % apart in the median; {ROUNDS} turns of {loop.steps} steps each"
    )


def relative(taken):
    """Of each process the median of what its turns took of all processes' turns of that round."""
    of_round = [statistics.median(turns) for turns in zip(*taken.values())]
    return [statistics.median(turn / middle for turn, middle in zip(turns, of_round)) for turns in taken.values()]
