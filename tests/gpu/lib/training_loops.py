"""Training loops: the programs, and running them alone, under dlkprof and under ncu."""

import dataclasses
import sys
from pathlib import Path

from harness import Skipped, check
from launch_tables import parse_launches

# Launches of two runs of ncu whose difference in time is that of the launches alone: enough of them to stand out of a process'
# own seconds, which differ by one from run to run.
FEW = 5
SKIPPED = 300  # launches before them, in which libraries warm up
LIMIT = 240  # seconds a run


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


def loops(bench):
    return [cifar10(bench, 512, least_times=10.0), made(bench.transformer, "transformer.py", 8, ("160", "2"), least_times=50.0)]


def cifar10(bench, batch_size, **more):
    return made(bench.cifar10, f"cifar10.py batch {batch_size}", batch_size, ("300", "16"), "--print_every", "20", **more)


def made(program, name, batch_size, iterations, *words, **more):
    long, once = (program("--iters", count, "--batch_size", str(batch_size), *words) for count in iterations)
    return Loop(name, long, once, batch_size, **more)


def run_alone(bench, loop, program):
    return run_watched(
        bench, f"alone_{loop.name}", program, lambda name, watched: bench.commands.run(name, watched, timeout=LIMIT)
    )


def name_of(loop, metric_set, which):
    return f"loop_{loop.name}_{metric_set}_{which[1]}".replace(" ", "_")


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


def metrics_of(launches):
    """NVPerf's names, as columns of the report have them; those that dlkprof computes itself have no unit within."""
    return [heading for plain, heading in launches[0].headings.items() if "__" in plain]


def ncu_slope(bench, loop, name, metrics, many, caches="none"):
    """Launch by launch: what a further one takes, from runs with FEW and with `many` of them."""
    done = {
        count: run_ncu(bench, f"{name}_{count}", metrics, ("-s", str(SKIPPED), "-c", str(count)), loop.once, caches)
        for count in (FEW, many)
    }
    seconds = {count: one.seconds for count, one in done.items()}
    check(seconds[many] > seconds[FEW], f"{seconds[many]:.1f} s for {many} launches, {seconds[FEW]:.1f} s for {FEW}")
    launches = parse_launches(done[many].stdout.decode(errors="replace"))
    given = sum(any(launch.number(metric) is not None for launch in launches) for metric in metrics)
    return Slope((seconds[many] - seconds[FEW]) / (many - FEW), len(metrics), given)


def run_ncu(bench, name, metrics, selection, program, caches="none"):
    done = bench.ncu.run(name, metrics, selection, program, caches, timeout=LIMIT)
    if b"==ERROR==" in done.stdout:
        raise Skipped("ncu measures nothing here")
    return done.require_success()
