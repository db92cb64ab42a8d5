"""Long runs: memory does not grow with iterations, speed comes back after detaching, and shapes that change give no wrong figures."""

import statistics
import sys
from pathlib import Path

from harness import Skipped, check
from part_iteration import INSTRUCTIONS, deviations
from part_speed import run_watched
from tools import median_step_ms

PART = "endurance"

FEW, MANY = 2_000, 10_000  # iterations
MODES = ("none", "iteration", "sample", "kernel")
LIMIT = 150
MOST_GROWTH = 64 << 20  # bytes beyond that of the program alone: the most that waits to be written, and noise of allocators
PAIRS, DETACHED_AT = 3, 1_500
SLOWER = 1.01
STEPS = 400
FIRST = 300  # launches that kernel replay measures, all of them
SAME = 0.95  # of the launches measured both ways; some kernels' instructions depend on timing


def run(bench):
    try:
        bench.require_torch()
    except Skipped as reason:
        bench.board.skip(PART, "PyTorch programs", reason)
        return
    growth(bench)
    with bench.board.case(PART, "cifar10.py batch 512 after detaching, beside alone") as row:
        row.detail = detached(bench)
    shapes(bench)


# --- Memory -----------------------------------------------------------------------------------------------------------

def growth(bench):
    alone = None
    with bench.board.case(PART, "cifar10.py batch 4 alone") as row:
        alone = grown(bench, "alone", lambda name, program: bench.commands.run(name, program, timeout=LIMIT))
        row.detail = f"{megabytes(alone)} more at most after {MANY:,} iterations than after {FEW:,}"
    for mode in MODES if alone is not None else ():
        with bench.board.case(PART, f"--replay-mode {mode}: {MANY:,} iterations of cifar10.py batch 4") as row:
            more = grown(bench, mode, lambda name, program, mode=mode: bench.dlkprof.profile(
                name, ("--replay-mode", mode, "--set", "quick"), program, timeout=LIMIT))
            row.detail = f"{megabytes(more)} more at most than after {FEW:,} iterations; alone {megabytes(alone)}"
            check(more - alone <= MOST_GROWTH, row.detail)


def grown(bench, name, start):
    """Bytes that the many iterations held at most beyond the few."""
    peaks = []
    for count in (FEW, MANY):
        program = bench.cifar10("--batch_size", "4", "--iters", str(count), "--print_every", str(FEW))
        peaks.append(run_watched(bench, f"endurance_{name}_{count}", program, start).peak_bytes)
    return peaks[1] - peaks[0]


def megabytes(count):
    return f"{count / 2**20:+.0f} MB"


# --- Detaching --------------------------------------------------------------------------------------------------------

def detached(bench):
    """The median step of most of a run, in which all was measured long before; pairs that take turns."""
    program = bench.cifar10("--batch_size", "512", "--iters", str(DETACHED_AT), "--print_every", "300")
    ratios = []
    for pair in range(PAIRS):
        alone = bench.commands.run(f"endurance_step_alone{pair}", program, timeout=LIMIT).require_success()
        ours = bench.dlkprof.profile(f"endurance_step{pair}", ("--replay-mode", "iteration", "--set", "quick", "--samples", "1",
                                                               "--timeline", "off"), program, timeout=LIMIT).require_success()
        check(ours.stdout == alone.stdout, "stdout differs")
        ratios.append(median_step_ms(ours) / median_step_ms(alone))
    middle = statistics.median(ratios)
    words = f"median step {middle:.4f} of that alone ({min(ratios):.4f} to {max(ratios):.4f}, n {PAIRS}; {DETACHED_AT} iterations)"
    check(middle <= SLOWER, words)
    return words


# --- Shapes -----------------------------------------------------------------------------------------------------------

def shapes(bench):
    program = [sys.executable, Path(__file__).with_name("shapes_probe.py"), str(STEPS)]
    reference = None
    with bench.board.case(PART, "lengths at random, --replay-mode kernel") as row:
        alone = bench.commands.run("endurance_shapes_alone", program, timeout=LIMIT).require_success()
        reference, row.detail = profiled(bench, "kernel", ("-c", str(FIRST), "--samples", "all"), program, alone)
    for mode in ("iteration", "auto") if reference else ():
        with bench.board.case(PART, f"lengths at random, --replay-mode {mode}") as row:
            limits = ("-c", str(FIRST)) if mode == "auto" else ()
            ours, words = profiled(bench, mode, limits, program, alone)
            row.detail = f"{words}; {same_instructions(ours, reference)}"


def profiled(bench, mode, options, program, alone):
    name = f"endurance_shapes_{mode}"
    metrics = f"{INSTRUCTIONS},gpu__time_duration.sum"
    done = bench.dlkprof.profile(name, ("--replay-mode", mode, "--metrics", metrics, "--timeline", "off", *options), program,
                                 timeout=LIMIT).require_success()
    check(done.stdout == alone.stdout, "stdout differs")
    launches = bench.dlkprof.launches(name)
    check(launches, "nothing was measured")
    return launches, f"{len(launches)} launches of {len({launch.key for launch in launches})} configurations measured"


def same_instructions(ours, reference):
    """Launch by launch: those of one configuration differ here, as grids round lengths up."""
    by_number = {launch.text("ID"): launch for launch in reference}
    pairs = [(launch, by_number[launch.text("ID")]) for launch in ours if launch.text("ID") in by_number]
    check(all(one.key == other.key for one, other in pairs), "launches are not numbered alike")
    apart = deviations(pairs, INSTRUCTIONS)
    check(apart, "no launch was measured both ways")
    equal = sum(value == 0 for value in apart)
    words = (f"instructions equal to kernel replay's of the same launch in {equal} of {len(apart)}, at most {100 * max(apart):.3f} % "
             "apart")
    check(equal >= SAME * len(apart), words)
    return words
