"""Every kernel of a training loop: what iteration replay costs beside ncu, on the same programs with the same metrics."""

import dataclasses
import sys
from pathlib import Path

from harness import CheckFailed, Skipped, check

PART = "speed"

SETS = ("quick", "basic")
# Launches of two runs of ncu whose difference in time is that of the launches alone: enough of them to stand out of a process'
# own seconds, which differ by one from run to run.
FEW, MANY = 5, {"quick": 205, "basic": 35}
SKIPPED = 300          # launches before them, in which libraries warm up
MOST_BYTES = 300 << 20  # of host memory beyond the program's own
LIMIT = 240            # seconds a run


@dataclasses.dataclass(frozen=True)
class Loop:
    """A program that trains, for long enough that all of it is measured; `once` is the same for a few iterations, of more
    launches than ncu skips."""

    name: str
    long: list
    once: list


@dataclasses.dataclass(frozen=True)
class Run:
    """A whole process: how long it took, the most memory that the program held, and the launches measured."""

    seconds: float
    peak_bytes: int
    launches: list


def run(bench):
    try:
        bench.require_torch()
    except (Skipped, CheckFailed) as reason:
        bench.board.skip(PART, "training loops", reason)
        return
    for loop in loops(bench):
        alone = {}
        with bench.board.case(PART, f"{loop.name} alone") as row:
            alone = {"long": run_alone(bench, loop, loop.long), "once": run_alone(bench, loop, loop.once)}
            row.detail = f"{alone['long'].seconds:.1f} s, and {alone['once'].seconds:.1f} s for a few iterations"
        if alone:
            for metric_set in SETS:
                measure(bench, loop, metric_set, alone)


def loops(bench):
    def loop(name, program, iterations, few, *more):
        return Loop(name, program("--iters", iterations, *more), program("--iters", few, *more))

    return [loop("cifar10.py batch 512", bench.cifar10, "300", "8", "--print_every", "20", "--batch_size", "512"),
            loop("transformer.py", bench.transformer, "160", "2")]


def measure(bench, loop, metric_set, alone):
    ours = None
    with bench.board.case(PART, f"{loop.name}, --set {metric_set}: iteration replay") as row:
        ours = run_ours(bench, loop, metric_set)
        row.detail = our_words(ours, alone["long"])
    if ours is None:
        return
    metrics = metrics_of(ours.launches)
    slope = None
    with bench.board.case(PART, f"{loop.name}, --set {metric_set}: ncu, launch by launch") as row:
        slope = ncu_slope(bench, loop, metric_set, metrics)
        row.detail = f"{1e3 * slope:.1f} ms a further launch ({FEW} and {MANY[metric_set]} launches)"
    with bench.board.case(PART, f"{loop.name}, --set {metric_set}: ncu, -c 1 of each configuration") as row:
        row.detail = each_configuration(bench, loop, metric_set, metrics, alone["once"])
    with bench.board.case(PART, f"{loop.name}, --set {metric_set}: memory of the process") as row:
        row.detail = memory_words(ours, alone["long"])
    bench.board.figure(PART, f"{loop.name}, --set {metric_set}: against ncu", against_ncu(ours, alone["long"], slope))


def run_alone(bench, loop, program):
    return run_watched(bench, f"speed_{loop.name}_alone", program, lambda name, watched: bench.commands.run(
        name, watched, timeout=LIMIT))


def run_ours(bench, loop, metric_set):
    name = f"speed_{loop.name}_{metric_set}".replace(" ", "_")
    options = ("--replay-mode", "iteration", "--set", metric_set, "--samples", "1", "--timeline", "off")
    done = run_watched(bench, name, loop.long, lambda _, watched: bench.dlkprof.profile(name, options, watched, timeout=LIMIT))
    launches = bench.dlkprof.launches(name)
    check(launches, "nothing was measured")
    return dataclasses.replace(done, launches=launches)


def run_watched(bench, name, program, start):
    """Where `start` runs a command and gives what harness.Commands.run does."""
    peak = bench.out / f"{name.replace(' ', '_')}.bytes"
    watched = [sys.executable, Path(__file__).with_name("peak_memory.py"), peak, *program]
    done = start(name, watched).require_success()
    return Run(done.seconds, int(peak.read_text()), [])


def our_words(ours, alone):
    costs = [launch.number("cost_ns") for launch in ours.launches]
    check(all(costs), "launches without a cost")
    return (f"{len(ours.launches)} launches of {len({launch.key for launch in ours.launches})} configurations, "
            f"{ours.launches[0].number('passes'):.0f} passes; {sum(costs) / 1e9:.2f} s in windows, "
            f"{sum(costs) / len(costs) / 1e6:.3f} ms a launch; whole process {ours.seconds:.1f} s, {alone.seconds:.1f} s alone")


def memory_words(ours, alone):
    grown = ours.peak_bytes - alone.peak_bytes
    words = f"{grown / 2**20:+.0f} MB beyond {alone.peak_bytes / 2**20:.0f} MB (most resident at any time)"
    check(grown <= MOST_BYTES, words)
    return words


def metrics_of(launches):
    """NVPerf's names, as columns of the report have them; those that dlkprof computes itself have no unit within."""
    return [name for name in launches[0].columns if "__" in name]


def ncu_slope(bench, loop, metric_set, metrics):
    seconds, many = {}, MANY[metric_set]
    for count in (FEW, many):
        name = f"speed_{loop.name}_{metric_set}_{count}"
        seconds[count] = run_ncu(bench, name, metrics, ("-s", str(SKIPPED), "-c", str(count)), loop.once).seconds
    check(seconds[many] > seconds[FEW], f"{seconds[many]:.1f} s for {many} launches, {seconds[FEW]:.1f} s for {FEW}")
    return (seconds[many] - seconds[FEW]) / (many - FEW)


def each_configuration(bench, loop, metric_set, metrics, alone):
    selection = ("--filter-mode", "per-launch-config", "-c", "1")
    done = run_ncu(bench, f"speed_{loop.name}_{metric_set}_each", metrics, selection, loop.once)
    return f"whole process {done.seconds:.1f} s for a few iterations, {alone.seconds:.1f} s alone"


def run_ncu(bench, name, metrics, selection, program):
    done = bench.ncu.run(name, metrics, selection, program, timeout=LIMIT)
    if b"==ERROR==" in done.stdout:
        raise Skipped("ncu measures nothing here")
    return done.require_success()


def against_ncu(ours, alone, slope):
    if slope is None:
        return "ncu was not measured"
    count = len(ours.launches)
    windows = sum(launch.number("cost_ns") for launch in ours.launches) / 1e9
    words = f"ncu needs {slope * count:.0f} s for as many launches ({count}): {slope * count / windows:.1f} times as long as windows"
    extra = ours.seconds - alone.seconds
    if extra < windows:  # as where one run of the program takes a second more than another
        return f"{words}; the whole process took {extra:+.1f} s beside alone, which says nothing"
    return f"{words}, {slope * count / extra:.1f} times as long with start and end, which took {extra:.1f} s"
