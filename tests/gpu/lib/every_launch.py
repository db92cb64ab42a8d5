"""Every launch of a few steps of a training loop, with the set quick: what each of them takes within windows, and with them."""

import contextlib
import dataclasses
import itertools
import sqlite3
import statistics

from harness import check
from training_loops import Run, name_of, run_ours

# All launches of a few steps, in windows that each hold a step of transformer.py: for those there must be memory.
EVERY = ("--samples", "all", "--launch-skip-before-match", "6000", "-c", "9000", "--max-memory", "4400")


@dataclasses.dataclass(frozen=True)
class Measured:
    """A launch that was measured: when it began, its part of its window's time, and its launch configuration."""

    start_unix_ns: int
    cost_ns: int
    config: int


@dataclasses.dataclass(frozen=True)
class Steps:
    """Every launch of a few steps, measured in windows, the first of which sets up."""

    run: Run
    first: list
    windows: list
    in_step: int  # launches

    def words(self, alone):
        whole = [launch.cost_ns for window in self.windows for launch in window]
        return (
            f"{len(whole)} launches, {self.in_step} a step, in {len(self.windows)} windows: {statistics.mean(whole) / 1e3:.1f} us each "
            f"with opening, closing and reading out windows; the first window, which sets up, "
            f"{sum(launch.cost_ns for launch in self.first) / 1e9:.1f} s; whole process {self.run.seconds:.1f} s, {alone.seconds:.1f} s "
            f"alone; {(self.run.peak_bytes - alone.peak_bytes) / 2**20:+.0f} MB"
        )

    def gaps(self):
        """Microseconds from launch to launch within windows."""
        return [gap for window in self.windows for gap in gaps_of(window)]


def measure_every_launch(bench, loop):
    run = run_ours(bench, loop, "quick", EVERY, timeline="on")
    first, *windows = windows_of(measured_launches(bench, name_of(loop, "quick", EVERY)))
    check(windows, "all launches were in one window")
    return Steps(run, first, windows, launches_of_step([launch.config for window in windows for launch in window]))


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
