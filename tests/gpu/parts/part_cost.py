"""What measuring costs: a launch under kernel replay."""

import statistics

from harness import Skipped, check
from part_accuracy import MEASURED

PART = "cost"

FEW, MANY = 5, 30  # launches of two runs whose difference in time is that of the launches alone


def run(bench):
    metrics = [rule.metric for rule in MEASURED]
    seconds_a_launch = {}
    for program in ("launches", "copy"):
        with bench.board.case(PART, f"kernel replay of {program}, from the capture") as row:
            row.detail = from_capture(bench, program, metrics)
    for tool in ("dlkprof", "ncu"):
        with bench.board.case(PART, f"a launch under {tool}, whole process") as row:
            row.detail, seconds_a_launch[tool] = whole_process(bench, tool, metrics)
    with bench.board.case(PART, "a launch costs no more than under ncu") as row:
        row.detail = against_ncu(seconds_a_launch)


def program_of(bench, name, launches):
    if name == "copy":
        return bench.sample("copy", "--launches", str(launches))
    return bench.sample("launches", "--variant", "driver", "--count", str(launches))


def dlkprof_options(metrics):
    return "--replay-mode", "kernel", "--samples", "all", "--cache-control", "none", "--metrics", ",".join(metrics)


def from_capture(bench, program, metrics):
    name = f"cost_capture_{program}"
    bench.dlkprof.profile(name, dlkprof_options(metrics), program_of(bench, program, FEW)).require_success()
    launches = bench.dlkprof.launches(name)
    costs = [(launch.number("cost_ns"), launch.number("passes")) for launch in launches]
    check(costs and all(cost and passes for cost, passes in costs), f"{len(costs)} launches, not all with cost_ns and passes")
    a_launch = [cost / 1e6 for cost, _ in costs]
    a_pass = [cost / 1e6 / passes for cost, passes in costs]
    return (
        f"{spread(a_launch, 'ms a launch')}; {spread(a_pass, 'ms a pass')}; "
        f"{costs[0][1]:.0f} passes, {len(metrics)} metrics, n {len(costs)}"
    )


def whole_process(bench, tool, metrics):
    """(words, seconds a launch): from the time of whole processes with few and with many launches."""
    times = {count: timed(bench, tool, metrics, count) for count in (FEW, MANY)}
    alone = timed(bench, "alone", metrics, MANY)
    slope = (times[MANY] - times[FEW]) / (MANY - FEW)
    words = (
        f"{1e3 * slope:.1f} ms a further launch; {1e3 * (times[MANY] - alone) / MANY:.1f} ms a launch with the tool's own "
        f"start ({times[MANY]:.2f} s against {alone:.2f} s alone, {MANY} launches)"
    )
    return words, slope


def timed(bench, tool, metrics, count):
    program = program_of(bench, "launches", count)
    name = f"cost_{tool}_{count}"
    if tool == "alone":
        done = bench.commands.run(name, program)
    elif tool == "ncu":
        done = bench.ncu.run(name, metrics, (), program, timeout=90)
    else:
        done = bench.dlkprof.profile(name, dlkprof_options(metrics), program, timeout=90)
    if tool == "ncu" and b"==ERROR==" in done.stdout:
        raise Skipped("ncu measures nothing here")
    return done.require_success().seconds


def against_ncu(seconds_a_launch):
    if len(seconds_a_launch) < 2:
        raise Skipped("not measured with both")
    ours, ncu = seconds_a_launch["dlkprof"], seconds_a_launch["ncu"]
    words = f"{1e3 * ours:.1f} ms a further launch, ncu {1e3 * ncu:.1f} ms: {ours / ncu:.2f} of it"
    check(ours <= ncu, words)
    return words


def spread(values, unit):
    return f"median {statistics.median(values):.4g} {unit} ({min(values):.4g} to {max(values):.4g})"
