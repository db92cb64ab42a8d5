"""Achieved occupancy as the set quick has it, from counters of monitors, beside what kernel replay reads out of each multiprocessor."""

import statistics
import sys

from harness import check
from tools import PROGRAMS

PART = "occupancy"

LIMIT = 150
KEY = ("Kernel Name", "Grid Size", "Block Size", "Dynamic Shared Memory (byte/block)")
MOST_POINTS = 2.0  # apart in the median
FARTHEST = 25.0
FEWEST = 5  # configurations
ENOUGH, LEAST_NS = 20, 10_000  # launches with samples, and how long they take


def run(bench):
    if not bench.has_torch(PART, "training loops"):
        return
    for name, short, long in (
        (
            "cifar10",
            bench.cifar10("--batch_size", "512", "--iters", "30"),
            bench.cifar10("--batch_size", "512", "--iters", "2000"),
        ),
        ("llama", [sys.executable, PROGRAMS / "llama.py", "30"], [sys.executable, PROGRAMS / "llama.py", "300"]),
    ):
        replayed = {}
        with bench.board.case(PART, f"{name}: kernel replay") as row:
            replayed = achieved(rows_of(bench, name, "kernel", ("--section", "occupancy"), short))
            row.detail = f"{len(replayed)} configurations"
        with bench.board.case(PART, f"{name}: windows") as row:
            row.detail = compare(replayed, achieved(rows_of(bench, name, "iteration", ("--set", "quick"), short)))
        with bench.board.case(PART, f"{name}: samples") as row:
            row.detail = compare(replayed, achieved(rows_of(bench, name, "sample", ("--set", "quick"), long), ENOUGH, LEAST_NS))


def rows_of(bench, name, mode, options, words):
    base = f"occupancy_{name}_{mode}"
    bench.dlkprof.profile(base, ("--replay-mode", mode, *options), words, timeout=LIMIT).require_success()
    return bench.dlkprof.report(bench.dlkprof.capture(base), "occupancy")


def achieved(rows, least_launches=1, least_ns=0):
    """Configuration -> per cent, of those that have it. Two that share a key are left out."""
    found, seen = {}, set()
    for row in rows:
        key = tuple(row[column] for column in KEY)
        again = key in seen
        seen.add(key)
        if again:
            found.pop(key, None)
        elif row["Achieved Occupancy (%)"] and is_long(row, least_launches, least_ns):
            found[key] = float(row["Achieved Occupancy (%)"])
    return found


def is_long(row, least_launches, least_ns):
    return int(row["Samples Measured"]) >= least_launches and int(row["Total GPU Time (ns)"]) >= least_ns * int(row["Launches"])


def compare(replayed, measured):
    apart = [(abs(measured[key] - replayed[key]), key, measured[key], replayed[key]) for key in measured if key in replayed]
    check(len(apart) >= FEWEST, f"{len(apart)} configurations have both, {FEWEST} are asked")
    points = [row[0] for row in apart]
    farthest, key, ours, theirs = max(apart)
    words = (
        f"{len(points)} configurations: {statistics.median(points):.2f} points apart in the median, {farthest:.2f} at most "
        f"({key[0][:40]} {key[1]}, {ours:.1f} %, {theirs:.1f} % replayed)"
    )
    check(statistics.median(points) <= MOST_POINTS and farthest <= FARTHEST, f"{words}; limits {MOST_POINTS} and {FARTHEST}")
    return words
