"""Every kernel of a training loop: what iteration replay costs beside ncu, on the same programs with the same metrics."""

import contextlib
import dataclasses
import itertools
import sqlite3
import statistics
import sys
from pathlib import Path

from harness import CheckFailed, Skipped, check
from launch_tables import parse_launches
from tools import mean_step_ms

PART = "speed"

SETS = ("quick", "basic")
# Launches of two runs of ncu whose difference in time is that of the launches alone: enough of them to stand out of a process'
# own seconds, which differ by one from run to run.
FEW, MANY = 5, {"quick": 205, "basic": 35}
SKIPPED = 300          # launches before them, in which libraries warm up
MOST_BYTES = 300 << 20  # of host memory beyond the program's own
# All launches of a few steps, in windows that each hold a step of transformer.py: for those there must be memory.
EVERY = ("--samples", "all", "--launch-skip-before-match", "6000", "-c", "9000", "--max-memory", "4400")
MOST_COST_US = 40.0     # of a launch within a window, beyond what it takes alone
LEAST_TIMES = 1000      # as much that ncu adds to a launch
LIMIT = 240            # seconds a run


@dataclasses.dataclass(frozen=True)
class Loop:
    """A program that trains, for long enough that all of it is measured; `once` is the same for a few iterations, of more
    launches than ncu skips."""

    name: str
    long: list
    once: list
    batch_size: int
    least_times: float = 1.0  # as long that ncu takes for all kernels of a step, with basic


@dataclasses.dataclass(frozen=True)
class Run:
    """A whole process: how long it took, the most memory that the program held, and the launches measured."""

    seconds: float
    peak_bytes: int
    launches: list
    stderr: str


@dataclasses.dataclass(frozen=True)
class Slope:
    """The seconds that ncu takes for a further launch, with so many metrics, and for how many of them it printed a figure."""

    seconds: float
    metrics: int
    given: int

    def words(self):
        return f"{1e3 * self.seconds:.1f} ms a further launch, figures for {self.given} of {self.metrics} metrics"


@dataclasses.dataclass(frozen=True)
class Result:
    """Of a metric set: iteration replay, and ncu; None what was not measured."""

    ours: Run
    slope: Slope


@dataclasses.dataclass(frozen=True)
class Measured:
    """A launch that was measured: when it began, its part of its window's time, and its launch configuration."""

    start_unix_ns: int
    cost_ns: int
    config: int


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
            results = {metric_set: measure(bench, loop, metric_set, alone) for metric_set in SETS}
            whole_steps(bench, loop, results, alone["long"])


def loops(bench):
    def loop(name, program, batch_size, least_times, iterations, few, *more):
        more = ("--batch_size", str(batch_size), *more)
        return Loop(name, program("--iters", iterations, *more), program("--iters", few, *more), batch_size, least_times)

    return [loop("cifar10.py batch 512", bench.cifar10, 512, 10.0, "300", "8", "--print_every", "20"),
            loop("transformer.py", bench.transformer, 8, 50.0, "160", "2")]


def measure(bench, loop, metric_set, alone):
    ours = slope = None
    with bench.board.case(PART, f"{loop.name}, --set {metric_set}: iteration replay") as row:
        ours = run_ours(bench, loop, metric_set)
        row.detail = our_words(ours, alone["long"])
    if ours is None:
        return Result(None, None)
    metrics = metrics_of(ours.launches)
    with bench.board.case(PART, f"{loop.name}, --set {metric_set}: ncu, launch by launch") as row:
        slope = ncu_slope(bench, loop, metric_set, metrics)
        row.detail = f"{slope.words()} ({FEW} and {MANY[metric_set]} launches)"
    with bench.board.case(PART, f"{loop.name}, --set {metric_set}: ncu, -c 1 of each configuration") as row:
        row.detail = each_configuration(bench, loop, metric_set, metrics, alone["once"])
    with bench.board.case(PART, f"{loop.name}, --set {metric_set}: memory of the process") as row:
        row.detail = memory_words(ours, alone["long"])
    seconds = None if slope is None else slope.seconds
    bench.board.figure(PART, f"{loop.name}, --set {metric_set}: against ncu", against_ncu(ours, alone["long"], seconds))
    return Result(ours, slope)


def whole_steps(bench, loop, results, alone):
    steps = usual = None
    with bench.board.case(PART, f"{loop.name}, --set quick: ncu, launch by launch, by the names in its own sections") as row:
        check(results["quick"].ours is not None, "nothing was measured to compare with")
        usual, row.detail = usual_slope(bench, loop, metrics_of(results["quick"].ours.launches))
    with bench.board.case(PART, f"{loop.name}, --set quick: every launch of a few steps") as row:
        steps = measure_every_launch(bench, loop)
        row.detail = steps.words(alone)
    if steps is None:
        return
    with bench.board.case(PART, f"{loop.name}, --set quick: what a launch takes") as row:
        row.detail = steps.verdict(1e3 * mean_step_ms(alone, loop.batch_size) / steps.in_step, results["quick"].slope, usual)
    with bench.board.case(PART, f"{loop.name}, --set basic: all of a step, beside ncu") as row:
        row.detail = basic_verdict(loop, results["basic"], alone, steps.in_step)


def run_alone(bench, loop, program):
    return run_watched(bench, f"speed_{loop.name}_alone", program, lambda name, watched: bench.commands.run(
        name, watched, timeout=LIMIT))


def name_of(loop, metric_set, which):
    return f"speed_{loop.name}_{metric_set}_{which[1]}".replace(" ", "_")


def run_ours(bench, loop, metric_set, which=("--samples", "1"), timeline="off"):
    name = name_of(loop, metric_set, which)
    options = ("--replay-mode", "iteration", "--set", metric_set, "--timeline", timeline, *which)
    done = run_watched(bench, name, loop.long, lambda _, watched: bench.dlkprof.profile(name, options, watched, timeout=LIMIT))
    launches = bench.dlkprof.launches(name)
    check(launches, "nothing was measured")
    return dataclasses.replace(done, launches=launches)


def run_watched(bench, name, program, start):
    """Where `start` runs a command and gives what harness.Commands.run does."""
    peak = bench.out / f"{name.replace(' ', '_')}.bytes"
    watched = [sys.executable, Path(__file__).with_name("peak_memory.py"), peak, *program]
    done = start(name, watched).require_success()
    return Run(done.seconds, int(peak.read_text()), [], done.stderr)


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


def measure_every_launch(bench, loop):
    run = run_ours(bench, loop, "quick", EVERY, timeline="on")
    first, *windows = windows_of(measured_launches(bench, name_of(loop, "quick", EVERY)))
    check(windows, "all launches were in one window")
    return Steps(run, first, windows, launches_of_step([launch.config for window in windows for launch in window]))


@dataclasses.dataclass(frozen=True)
class Steps:
    """Every launch of a few steps, measured in windows, the first of which sets up."""

    run: Run
    first: list
    windows: list
    in_step: int  # launches

    def words(self, alone):
        whole = [launch.cost_ns for window in self.windows for launch in window]
        return (f"{len(whole)} launches, {self.in_step} a step, in {len(self.windows)} windows: {statistics.mean(whole) / 1e3:.1f} us each "
                f"with opening, closing and reading out windows; the first window, which sets up, "
                f"{sum(launch.cost_ns for launch in self.first) / 1e9:.1f} s; whole process {self.run.seconds:.1f} s, {alone.seconds:.1f} s "
                f"alone; {(self.run.peak_bytes - alone.peak_bytes) / 2**20:+.0f} MB")

    def verdict(self, alone_us, same, usual):
        """Of a launch within a window, beyond what it takes alone; what windows cost is by window, and said beside it. The limit is
        for ncu with the metrics closest to ours: the same names where it has figures for all of them (`same`), else those in its
        own sections (`usual`). For either tool what it adds counts."""
        gaps = [gap for window in self.windows for gap in gaps_of(window)]
        inside = statistics.mean(gaps)
        added = inside - alone_us
        words = (f"{inside:.1f} us a launch within windows (n {len(gaps)}, median {statistics.median(gaps):.1f}, {min(gaps):.1f} to "
                 f"{max(gaps):.1f}), {alone_us:.1f} us alone: {added:.1f} us more")
        for slope, names in ((same, "by the same names"), (usual, "by the names in its own sections")):
            if slope is not None:
                words += (f"; ncu {names} {slope.words()}: {1e6 * slope.seconds / added:.0f} times what we add, "
                          f"{1e6 * slope.seconds / inside:.0f} times a launch within windows")
        closest = same if same is not None and same.given == same.metrics else usual
        check(added <= MOST_COST_US, f"{words}; limit {MOST_COST_US:.0f} us")
        check(closest is not None, f"{words}; ncu was not measured with metrics like ours")
        check(1e6 * closest.seconds >= LEAST_TIMES * added, f"{words}; limit {LEAST_TIMES} times")
        return words


def basic_verdict(loop, result, alone, in_step):
    """All kernels of a step: each launch by ncu; each launch configuration by iteration replay, starting and ending included."""
    check(result.ours is not None and result.slope is not None, "one of the two was not measured")
    seconds = max(result.ours.seconds - alone.seconds, sum(launch.number("cost_ns") for launch in result.ours.launches) / 1e9)
    theirs = result.slope.seconds * in_step
    times = theirs / seconds
    words = (f"ncu takes {theirs:.0f} s for {in_step} launches; iteration replay measures their "
             f"{len({launch.key for launch in result.ours.launches})} configurations in {seconds:.1f} s: {times:.1f} times as long")
    check(times >= loop.least_times, f"{words}; limit {loop.least_times}")
    return words


def measured_launches(bench, name):
    """From the database: in order of launching."""
    with contextlib.closing(sqlite3.connect(bench.dlkprof.captures / f"{name}_dldb.sqlite")) as database:
        rows = database.execute("SELECT start_unix_ns, cost_ns, config FROM measured_launch ORDER BY launch_index")
        return [Measured(*row) for row in rows]


def windows_of(launches):
    """Launches in runs: those of a window have its time in equal parts, and no others have the same."""
    return [list(window) for _, window in itertools.groupby(launches, key=lambda launch: launch.cost_ns)]


def gaps_of(window):
    """Microseconds from launch to launch; the window is opened after the first of them has begun."""
    return [(later.start_unix_ns - earlier.start_unix_ns) / 1e3 for earlier, later in zip(window[1:], window[2:])]


def launches_of_step(configs):
    """After how many the same come again, but for one in a hundred."""
    def repeats(period):
        return sum(one == other for one, other in zip(configs, configs[period:])) >= 0.99 * (len(configs) - period)

    period = next((period for period in range(1, len(configs) // 2 + 1) if repeats(period)), None)
    check(period, f"{len(configs)} launches do not repeat themselves")
    return period


def metrics_of(launches):
    """NVPerf's names, as columns of the report have them; those that dlkprof computes itself have no unit within."""
    return [heading for plain, heading in launches[0].headings.items() if "__" in plain]


def usual_slope(bench, loop, metrics):
    """Of what ncu's sections have for the same: quick takes performance monitors' counters by names that they do not have."""
    usual = sorted({metric.replace("TPC.TriageCompute.", "").replace("tpc__", "sm__").replace("_realtime", "") for metric in metrics})
    slope = ncu_slope(bench, loop, "quick", usual, "usual")
    return slope, f"{slope.words()} ({FEW} and {MANY['quick']} launches); {', '.join(usual)}"


def ncu_slope(bench, loop, metric_set, metrics, names="same"):
    done, many = {}, MANY[metric_set]
    for count in (FEW, many):
        name = f"speed_{loop.name}_{metric_set}_{names}_{count}"
        done[count] = run_ncu(bench, name, metrics, ("-s", str(SKIPPED), "-c", str(count)), loop.once)
    seconds = {count: one.seconds for count, one in done.items()}
    check(seconds[many] > seconds[FEW], f"{seconds[many]:.1f} s for {many} launches, {seconds[FEW]:.1f} s for {FEW}")
    launches = parse_launches(done[many].stdout.decode(errors="replace"))
    given = sum(any(launch.number(metric) is not None for launch in launches) for metric in metrics)
    return Slope((seconds[many] - seconds[FEW]) / (many - FEW), len(metrics), given)


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
