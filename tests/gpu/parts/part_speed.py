"""All kernels of a training loop by their launch configurations: what iteration replay costs beside ncu, on the same programs with
the same metrics."""

import dataclasses

from every_launch import measure_every_launch
from harness import check
from launch_tables import cost_words
from training_loops import FEW, Run, Slope, loops, metrics_of, ncu_slope, run_alone, run_ncu, run_ours

PART = "speed"

MANY = 35  # launches of ncu's longer run
MOST_BYTES = 300 << 20  # of host memory beyond the program's own


@dataclasses.dataclass(frozen=True)
class Result:
    """Of the set basic: iteration replay, ncu, and how many launches a step has; None what was not measured."""

    ours: Run
    slope: Slope
    in_step: int


def run(bench):
    if not bench.has_torch(PART, "training loops"):
        return
    for loop in loops(bench):
        alone = {}
        with bench.board.case(PART, f"{loop.name} alone") as row:
            alone = {"long": run_alone(bench, loop, loop.long), "once": run_alone(bench, loop, loop.once)}
            row.detail = f"{alone['long'].seconds:.1f} s, and {alone['once'].seconds:.1f} s for a few iterations"
        if alone:
            measure(bench, loop, "quick", alone)
            beside_ncu(bench, loop, measure(bench, loop, "basic", alone), alone)


def measure(bench, loop, metric_set, alone):
    ours = None
    with bench.board.case(PART, f"{loop.name}, --set {metric_set}: iteration replay") as row:
        ours = run_ours(bench, loop, metric_set)
        row.detail = cost_words(ours.launches, ours.seconds, alone["long"].seconds)
    if ours is not None:
        with bench.board.case(PART, f"{loop.name}, --set {metric_set}: memory of the process") as row:
            row.detail = memory_words(ours, alone["long"])
    return ours


def beside_ncu(bench, loop, ours, alone):
    if ours is None:
        return
    slope, in_step, metrics = None, None, metrics_of(ours.launches)
    name = f"speed_{loop.name}_basic".replace(" ", "_")
    with bench.board.case(PART, f"{loop.name}, --set basic: ncu, launch by launch") as row:
        slope = ncu_slope(bench, loop, name, metrics, MANY)
        row.detail = f"{slope.words()} ({FEW} and {MANY} launches)"
    with bench.board.case(PART, f"{loop.name}, --set basic: ncu, -c 1 of each configuration") as row:
        row.detail = each_configuration(bench, loop, name, metrics, alone["once"])
    bench.board.figure(PART, f"{loop.name}, --set basic: against ncu", against_ncu(ours, alone["long"], slope and slope.seconds))
    with bench.board.case(PART, f"{loop.name}: launches of a step") as row:
        in_step = measure_every_launch(bench, loop).in_step
        row.detail = f"{in_step}"
    with bench.board.case(PART, f"{loop.name}, --set basic: all of a step, beside ncu") as row:
        row.detail = basic_verdict(loop, Result(ours, slope, in_step), alone["long"])


def memory_words(ours, alone):
    grown = ours.peak_bytes - alone.peak_bytes
    words = f"{grown / 2**20:+.0f} MB beyond {alone.peak_bytes / 2**20:.0f} MB (most resident at any time)"
    check(grown <= MOST_BYTES, words)
    return words


def basic_verdict(loop, result, alone):
    """All kernels of a step: each launch by ncu; each launch configuration by iteration replay, starting and ending included."""
    check(result.slope is not None and result.in_step is not None, "one of the two was not measured")
    seconds = max(result.ours.seconds - alone.seconds, sum(launch.number("cost_ns") for launch in result.ours.launches) / 1e9)
    theirs = result.slope.seconds * result.in_step
    times = theirs / seconds
    words = (
        f"ncu takes {theirs:.0f} s for {result.in_step} launches; iteration replay measures their "
        f"{len({launch.key for launch in result.ours.launches})} configurations in {seconds:.1f} s: {times:.1f} times as long"
    )
    check(times >= loop.least_times, f"{words}; limit {loop.least_times}")
    return words


def each_configuration(bench, loop, name, metrics, alone):
    selection = ("--filter-mode", "per-launch-config", "-c", "1")
    done = run_ncu(bench, f"{name}_each", metrics, selection, loop.once)
    return f"whole process {done.seconds:.1f} s for a few iterations, {alone.seconds:.1f} s alone"


def against_ncu(ours, alone, slope):
    if slope is None:
        return "ncu was not measured"
    count = len(ours.launches)
    windows = sum(launch.number("cost_ns") for launch in ours.launches) / 1e9
    words = (
        f"ncu needs {slope * count:.0f} s for as many launches ({count}): {slope * count / windows:.1f} times as long as windows"
    )
    extra = ours.seconds - alone.seconds
    if extra < windows:  # as where one run of the program takes a second more than another
        return f"{words}; the whole process took {extra:+.1f} s beside alone, which says nothing"
    return f"{words}, {slope * count / extra:.1f} times as long with start and end, which took {extra:.1f} s"
