"""After letting go: the program's speed is its own again, and dlkprof says what its iterations take without it."""

import dataclasses
import os
import sqlite3
import statistics

from harness import check, is_asked_for
from tools import median_step_ms

PART = "detaching"

LIMIT = 120
PAIRS = int(os.environ.get("DLKPROF_TEST_PAIRS", "8"))
STEPS = 3_000  # most of them after letting go
SLOWER = 1.01
TOLD_APART = 0.02  # the undisturbed iteration time that is told, of the program's own alone


def run(bench):
    if not bench.has_torch(PART, "PyTorch programs"):
        return
    for options in (("--mode=pytorch",), ()):
        if not is_asked_for("pytorch" if options else "default"):
            continue
        with bench.board.case(PART, f"cifar10.py, {' '.join(options) or 'default options'}") as row:
            row.detail = judge(bench, options)


def judge(bench, options):
    """Pairs of processes that take turns; steps are timed by the program itself."""
    program = bench.cifar10("--batch_size", "128", "--iters", str(STEPS), "--print_every", "500")
    ratios, told = [], []
    for pair in range(PAIRS):
        name = f"detaching{len(options)}_{pair}"
        alone = bench.commands.run(f"{name}_alone", program, timeout=LIMIT).require_success()
        ours = bench.dlkprof.profile(name, options, program, timeout=LIMIT).require_success()
        check(ours.stdout == alone.stdout, "stdout differs")
        ratios.append(median_step_ms(ours) / median_step_ms(alone))
        figures = undisturbed(bench.dlkprof.captures / f"{name}_dldb.sqlite")
        if figures:
            told.append(
                Told(
                    *figures, of_alone=figures[1] / 1e6 / median_step_ms(alone), of_itself=figures[1] / 1e6 / median_step_ms(ours)
                )
            )
    middle = statistics.median(ratios)
    words = f"median step {middle:.4f} of that alone ({min(ratios):.4f} to {max(ratios):.4f}, n {PAIRS} pairs)"
    if options:
        check(len(told) == PAIRS, f"{words}; undisturbed iterations are told of {len(told)} of {PAIRS} runs")
        apart = median_of(told, "of_alone")
        words += (
            f"; told: {median_of(told, 'mean_ns') / 1e6:.3f} ms undisturbed (median {median_of(told, 'median_ns') / 1e6:.3f}, n {told[0].n} "
            f"iterations), {apart:.4f} of the step alone and {median_of(told, 'of_itself'):.4f} of the same run's; "
            f"{median_of(told, 'profiled_ns') / 1e6:.3f} ms while profiled"
        )
        check(abs(apart - 1) <= TOLD_APART, words)
    check(middle <= SLOWER, words)
    return words


@dataclasses.dataclass
class Told:
    """Of iterations without the profiler. The program tells means of blocks of steps, so the mean is compared."""

    n: int
    mean_ns: float
    median_ns: float
    profiled_ns: float
    of_alone: float
    of_itself: float


def median_of(told, field):
    return statistics.median(getattr(one, field) for one in told)


def undisturbed(database):
    """Iterations, their mean and median time without the profiler, and the median while profiled, in ns; None where not told."""
    return (
        sqlite3.connect(database)
        .execute(
            "SELECT undisturbed_iterations, undisturbed_mean_ns, undisturbed_median_ns, median_iteration_ns FROM summary_stats "
            "WHERE undisturbed_iterations IS NOT NULL"
        )
        .fetchone()
    )
