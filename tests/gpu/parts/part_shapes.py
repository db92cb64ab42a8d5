"""Shapes that change from step to step give no wrong figures; after detaching speed comes back."""

import statistics
import sys

from harness import check
from iteration_table import INSTRUCTIONS, deviations
from tools import PROBES, median_step_ms

PART = "shapes"

LIMIT = 150
PAIRS, DETACHED_AT = 3, 1_500
SLOWER = 1.01
STEPS = 400
FIRST = 300  # launches that kernel replay measures, all of them
SAME = 0.95  # of the launches measured both ways; some kernels' instructions depend on timing


def run(bench):
    if not bench.has_torch(PART, "PyTorch programs"):
        return
    with bench.board.case(PART, "cifar10.py batch 512 after detaching, beside alone") as row:
        row.detail = detached(bench)
    shapes(bench)


# --- Detaching --------------------------------------------------------------------------------------------------------


def detached(bench):
    """The median step of most of a run, in which all was measured long before; pairs that take turns."""
    program = bench.cifar10("--batch_size", "512", "--iters", str(DETACHED_AT), "--print_every", "300")
    ratios = []
    for pair in range(PAIRS):
        alone = bench.commands.run(f"shapes_step_alone{pair}", program, timeout=LIMIT).require_success()
        options = ("--replay-mode", "iteration", "--set", "quick", "--samples", "1", "--timeline", "off")
        ours = bench.dlkprof.profile(f"shapes_step{pair}", options, program, timeout=LIMIT).require_success()
        check(ours.stdout == alone.stdout, "stdout differs")
        ratios.append(median_step_ms(ours) / median_step_ms(alone))
    middle = statistics.median(ratios)
    words = (
        f"median step {middle:.4f} of that alone ({min(ratios):.4f} to {max(ratios):.4f}, n {PAIRS}; {DETACHED_AT} iterations)"
    )
    check(middle <= SLOWER, words)
    return words


# --- Shapes -----------------------------------------------------------------------------------------------------------


def shapes(bench):
    program = [sys.executable, PROBES / "shapes_probe.py", str(STEPS)]
    reference = None
    with bench.board.case(PART, "lengths at random, --replay-mode kernel") as row:
        alone = bench.commands.run("shapes_alone", program, timeout=LIMIT).require_success()
        reference, row.detail = profiled(bench, "kernel", ("-c", str(FIRST), "--samples", "all"), program, alone)
    for mode in ("iteration", "auto") if reference else ():
        with bench.board.case(PART, f"lengths at random, --replay-mode {mode}") as row:
            limits = ("-c", str(FIRST)) if mode == "auto" else ()
            ours, words = profiled(bench, mode, limits, program, alone)
            row.detail = f"{words}; {same_instructions(ours, reference)}"


def profiled(bench, mode, options, program, alone):
    name = f"shapes_{mode}"
    metrics = f"{INSTRUCTIONS},gpu__time_duration.sum"
    done = bench.dlkprof.profile(
        name, ("--replay-mode", mode, "--metrics", metrics, "--timeline", "off", *options), program, timeout=LIMIT
    ).require_success()
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
    words = (
        f"instructions equal to kernel replay's of the same launch in {equal} of {len(apart)}, at most {100 * max(apart):.3f} % "
        "apart"
    )
    check(equal >= SAME * len(apart), words)
    return words
