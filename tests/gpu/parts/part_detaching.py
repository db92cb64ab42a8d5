"""After letting go: the program's speed is its own again, and dlkprof says what its iterations take without it."""

import dataclasses
import json
import os
import random
import sqlite3
import statistics
import time

import places
from harness import Skipped, check, is_asked_for
from side_by_side import LEAST_LEFT_S, PAD, PAGE, Loop, Times, Variant, environment_of, interval, take_turns
from tools import median_step_ms

PART = "detaching"

LIMIT = 120
PAIRS = int(os.environ.get("DLKPROF_TEST_PAIRS", "8"))
STEPS = 3_000  # most of them after letting go
SLOWER = 1.01
TOLD_APART = 0.02  # the undisturbed iteration time that is told, of the program's own alone
BATCH_SIZE = 128  # cifar10.py's own: the CPU bounds its steps on an H200
LARGE_BATCH_SIZE = 4096  # the GPU does
# An H200 machine's speed drifts by 3 % from one 60 ms to the next (median) and by 6 % within half a second, so turns are short.
# The first steps of each process come before all turns that are compared: dlkprof has let go by then.
LOOP = Loop("cifar10.py", 5, 110, laid_out_alike=True, one_by_one=True, lines=2)
LOOP_OF_GPU = Loop("cifar10.py", 4, 100, laid_out_alike=True, one_by_one=True)
# Processes that are alive at once are pairs, whose turns follow each other.
PAIRS_AT_ONCE = 4
BUDGET_S = float(os.environ.get("DLKPROF_TEST_BUDGET_S", "480"))  # of a case


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    options: tuple
    batch_size: int
    loop: Loop
    rounds: int  # of turns

    def words(self):
        return f"cifar10.py, batch {self.batch_size}, {' '.join(self.options) or 'default options'}"


PYTORCH = ("--mode=pytorch",)
CASES = (
    Case("default", (), BATCH_SIZE, LOOP, 300),
    Case("pytorch", PYTORCH, BATCH_SIZE, LOOP, 300),
    Case("large", (), LARGE_BATCH_SIZE, LOOP_OF_GPU, 30),
)


def run(bench):
    if not bench.has_torch(PART, "PyTorch programs"):
        return
    for case in CASES:
        if is_asked_for(case.name):
            with bench.board.case(PART, f"{case.words()}: step") as row:
                row.detail = beside_alone(bench, case)
    if is_asked_for("told"):
        with bench.board.case(PART, f"cifar10.py, {' '.join(PYTORCH)}: undisturbed time that is told") as row:
            row.detail = judge_told(bench, PYTORCH)


def beside_alone(bench, case):
    """Turn against turn of processes that are all alive, of which dlkprof has let go of half. Processes that run one after another
    differ by a tenth, which hides one per cent."""
    times, sizes = Times(case.batch_size), random.Random(PART)
    left, longest_s, deadline = 0, 0.0, time.monotonic() + min(BUDGET_S, bench.commands.seconds_left() - LEAST_LEFT_S)
    while time.monotonic() + longest_s < deadline:
        begin = time.monotonic()
        take_turns(bench, pairs(bench, case, sizes), [times], case.rounds, deadline, case.loop)
        left += captures_let_go(bench, case.name)
        longest_s = max(longest_s, time.monotonic() - begin)
    ratios = ratios_of(times)
    # Of several runs a median of all can be made.
    (bench.out / f"{PART}_{case.name}.json").write_text(json.dumps([times.sets, times.facts]))
    low, high = interval(ratios)
    middle = statistics.median(ratios)
    words = (
        f"{statistics.median(times.of('alone_0')):.3f} ms alone, {middle:.4f} of that (95 % interval {low:.4f} to {high:.4f}, "
        f"all {min(ratios):.4f} to {max(ratios):.4f}), n {len(ratios)} pairs of processes, {case.rounds} turns of {case.loop.steps_of_turn} "
        f"steps each; two processes alone: {apart_alone(times)}; {left} let go; addresses and hashes alike, environments of random size; "
        f"{places.words()}; {facts_words(times)}"
    )
    if len(ratios) < PAIRS:
        raise Skipped(f"{PAIRS} pairs of processes are asked: {words}")
    check(middle <= SLOWER, words)
    return words


def pairs(bench, case, sizes):
    """Who begins later may be slower, so of every second pair the one alone does. What dlkprof puts into the environment makes it
    larger, which alone moves the stack: environments have many sizes."""
    variants = []
    for number in range(PAIRS_AT_ONCE):
        both = [("alone", {}), ("ours", environment_of(bench, f"{PART}_{case.name}_{number}", case.options))]
        variants += [
            Variant(f"{kind}_{number}", {**environment, PAD: sizes.randrange(PAGE) * "x"})
            for kind, environment in both[:: -1 if number % 2 else 1]
        ]
    return variants


def ratios_of(times):
    """Of each pair of processes the median of its rounds' ratios."""
    return [
        statistics.median(ours / alone for ours, alone in zip(alive[f"ours_{number}"], alive[f"alone_{number}"]))
        for alive in times.sets
        for number in range(PAIRS_AT_ONCE)
    ]


def apart_alone(times):
    """What two processes differ by that have nothing of ours in them, each beside the next."""
    ratios = [
        statistics.median(one / other for one, other in zip(alive[f"alone_{number}"], alive[f"alone_{number + 1}"]))
        for alive in times.sets
        for number in range(PAIRS_AT_ONCE - 1)
    ]
    return f"{min(ratios):.4f} to {max(ratios):.4f}, n {len(ratios)}"


def facts_words(times):
    """What else differs between the processes, if anything."""
    return ", ".join(
        f"{words} {' and '.join(f'{fact_of(times, name, variant):g}' for variant in ('alone', 'ours'))}"
        for name, words in (
            ("first_ms", "alone and ours: ms a step up to the first line of a turn"),
            ("faults", "page faults a step"),
            ("switches", "context switches a step"),
            ("user_us", "us of CPU time a step in the program"),
            ("free_chunks", "free chunks in the heap at the end"),
        )
    )


def fact_of(times, name, variant):
    return statistics.median(
        facts[name] or 0 for of_set in times.facts for process, facts in of_set.items() if process.startswith(variant)
    )


def captures_let_go(bench, name):
    """How many there are of the processes that were alive, all of which dlkprof has let go of; removes them."""
    captures = sorted(bench.dlkprof.captures.glob(f"{PART}_{name}_*.dlkcap"))
    check(len(captures) == PAIRS_AT_ONCE, f"{len(captures)} captures of {PAIRS_AT_ONCE} processes: dlkprof was not attached")
    for capture in captures:
        told = bench.dlkprof.run(capture.stem, ["report", capture]).require_success().stdout.decode(errors="replace")
        check_let_go(" ".join(told.split()))
        capture.unlink()
    return len(captures)


def check_let_go(screen):
    check("without the profiler" in screen, "dlkprof did not let go of a process")
    check("CUPTI stayed loaded" not in screen, "CUPTI stayed in a process")


def judge_told(bench, options):
    """Pairs of processes that run one after another; steps are timed by the program itself."""
    program = bench.cifar10("--batch_size", str(BATCH_SIZE), "--iters", str(STEPS), "--print_every", "500")
    told = []
    for pair in range(PAIRS):
        name = f"detaching{len(options)}_{pair}"
        alone = bench.commands.run(f"{name}_alone", program, timeout=LIMIT).require_success()
        ours = bench.dlkprof.profile(name, options, program, timeout=LIMIT).require_success()
        check(ours.stdout == alone.stdout, "stdout differs")
        figures = undisturbed(bench.dlkprof.captures / f"{name}_dldb.sqlite")
        check(figures, "undisturbed iterations are not told")
        mean_ms = figures[1] / 1e6
        told.append(Told(*figures, of_alone=mean_ms / median_step_ms(alone), of_itself=mean_ms / median_step_ms(ours)))
    apart = median_of(told, "of_alone")
    words = (
        f"{median_of(told, 'mean_ns') / 1e6:.3f} ms undisturbed (median {median_of(told, 'median_ns') / 1e6:.3f}, n {told[0].n} "
        f"iterations), {apart:.4f} of the step alone and {median_of(told, 'of_itself'):.4f} of the same run's, n {PAIRS} pairs; "
        f"{median_of(told, 'profiled_ns') / 1e6:.3f} ms while profiled"
    )
    check(abs(apart - 1) <= TOLD_APART, words)
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
