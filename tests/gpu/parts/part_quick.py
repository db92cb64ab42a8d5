"""Every kernel of a training step with the set quick: what a launch takes beyond what it takes alone, and what ncu adds to one."""

import statistics

from every_launch import measure_every_launch
from harness import FIGURE, PASS, check
from tools import mean_step_ms
from training_loops import FEW, cifar10, loops, metrics_of, ncu_slope, run_alone

PART = "quick"

MANY = 505  # launches of ncu's longer run: a process' own seconds, which differ by one, are 2 ms of each
MOST_COST_US = 40.0  # of a launch within a window, beyond what it takes alone
LEAST_TIMES = 1000  # as much that ncu adds to a launch, as it comes: it flushes caches before each launch


def run(bench):
    if not bench.has_torch(PART, "training loops"):
        return
    for loop in (cifar10(bench, 128), *loops(bench)):
        measure(bench, loop)


def measure(bench, loop):
    before = measure_alone(bench, loop, "before")
    steps = measure_steps(bench, loop, before) if before else None
    if steps is None:
        return
    after = measure_alone(bench, loop, "after") or before
    metrics = usual_names(metrics_of(steps.run.launches))
    measure_ncu(bench, loop, metrics, "none", FIGURE)
    ncu = measure_ncu(bench, loop, metrics, "all", PASS)
    with bench.board.case(PART, f"{loop.name}: what a launch takes") as row:
        alone_ms = statistics.mean(mean_step_ms(one, loop.batch_size) for one in (before, after))
        row.detail = verdict(steps, 1e3 * alone_ms / steps.in_step, ncu)


def measure_alone(bench, loop, when):
    with bench.board.case(PART, f"{loop.name} alone, {when}") as row:
        alone = run_alone(bench, loop, loop.long)
        row.detail = f"{mean_step_ms(alone, loop.batch_size):.3f} ms a step; whole process {alone.seconds:.1f} s"
        return alone


def measure_steps(bench, loop, alone):
    with bench.board.case(PART, f"{loop.name}: every launch of a few steps") as row:
        steps = measure_every_launch(bench, loop)
        row.detail = steps.words(alone)
        return steps


def measure_ncu(bench, loop, metrics, caches, status):
    with bench.board.case(PART, f"{loop.name}: ncu --cache-control {caches}, launch by launch", status) as row:
        ncu = ncu_slope(bench, loop, f"quick_{caches}_{loop.name}".replace(" ", "_"), metrics, MANY, caches)
        row.detail = f"{ncu.words()} ({FEW} and {MANY} launches): {', '.join(metrics)}"
        return ncu


def usual_names(metrics):
    """Of the same in ncu's own sections. By quick's own names (TriageCompute, performance monitors' counters) ncu samples
    (profiler__pmsampler_... in its table), which gives other figures and takes it a second a launch."""
    return sorted(
        {metric.replace("TPC.TriageCompute.", "").replace("tpc__", "sm__").replace("_realtime", "") for metric in metrics}
    )


def verdict(steps, alone_us, ncu):
    """Of a launch within a window, beyond what it takes alone; what windows cost is by window, and stands in the case before. For
    either tool what it adds counts: what a launch takes alone is nothing beside ncu's."""
    gaps = steps.gaps()
    inside = statistics.mean(gaps)
    added = inside - alone_us
    words = (
        f"{inside:.1f} us a launch within windows (n {len(gaps)}, median {statistics.median(gaps):.1f}, {min(gaps):.1f} to "
        f"{max(gaps):.1f}), {alone_us:.1f} us alone: {added:.1f} us more"
    )
    if ncu is not None:
        words += (
            f"; ncu adds {1e6 * ncu.seconds / added:.0f} times that, and takes {1e6 * ncu.seconds / inside:.0f} times as long as "
            "a launch within windows"
        )
    check(added <= MOST_COST_US, f"{words}; limit {MOST_COST_US:.0f} us")
    check(ncu is not None and ncu.given == ncu.metrics, f"{words}; ncu did not measure all of it")
    check(1e6 * ncu.seconds >= LEAST_TIMES * added, f"{words}; limit {LEAST_TIMES} times")
    return words
