"""What a training loop pays for dlkprof being attached while nothing is selected: cifar10.py with and without, in turns."""

import statistics
import time

import places
from harness import FIGURE, PASS, CheckFailed, Skipped, check
from side_by_side import STEPS, Times, Variant, environment_of, interval, ratio_words, take_turns

PART = "overhead"

NOTHING = ("-k", "nothing_matches_this")
LIMIT = 1.01  # of the step time without, where the GPU is what bounds the program
# At batch size 4 launching bounds the program, and CUPTI's being there costs each call a fraction of a microsecond before
# anything is asked of it: a figure, not a promise.
LIMITS = {512: LIMIT, 4: None}
# Pairs of processes of one program are up to 5 % apart on a shared machine, so that six of them cannot tell 1.00 from 1.02.
SETS = {512: 16, 4: 4}
ROUNDS = 25
LEAST_SETS = 3
BUDGET_S = 220


def run(bench):
    times = [Times(size) for size in LIMITS]
    name = "attached, nothing selected, cifar10.py batch {}"
    try:
        bench.require_torch()
        measure(bench, times)
    except (Skipped, CheckFailed) as reason:
        bench.board.skip(PART, name.format("of any size"), reason)
    for one in times:
        limit = LIMITS[one.batch_size]
        with bench.board.case(PART, name.format(one.batch_size), PASS if limit else FIGURE) as row:
            row.detail = verdict(one, limit)


def measure(bench, times):
    run_name = "overhead"
    variants = [Variant("without", {}), Variant("attached", environment_of(bench, run_name, NOTHING))]
    deadline = time.monotonic() + BUDGET_S
    for number in range(max(SETS.values())):
        if time.monotonic() > deadline:
            break
        due = [one for one in times if number < SETS[one.batch_size]]
        take_turns(bench, variants, due, ROUNDS, deadline)
        captures = len(list(bench.dlkprof.captures.glob(f"{run_name}*.dlkcap")))
        check(captures > number, f"{captures} captures of {number + 1} processes: dlkprof was not attached")


def verdict(times, limit):
    """Processes differ in where their memory lies, so that a pair of them is one observation, whatever its turns."""
    if len(times.sets) < LEAST_SETS:
        raise Skipped(f"{len(times.sets)} pairs of processes; {LEAST_SETS} are needed")
    pairs = [statistics.median(a / b for a, b in zip(one["attached"], one["without"])) for one in times.sets]
    low, high = interval(pairs)
    without, noise = times.of("without"), times.noise("without")
    words = (
        f"step time attached / without: median of {len(pairs)} pairs of processes {statistics.median(pairs):.4f} (95 % interval "
        f"{low:.4f} to {high:.4f}); turn by turn: {ratio_words(times, 'attached', 'without')}; "
        f"{statistics.median(without):.4f} ms a step without ({min(without):.4f} to {max(without):.4f}), {STEPS} steps a turn; {places.words()}; "
        f"turns without, each against the one before: {min(noise):.4f} to {max(noise):.4f}"
    )
    check(limit is None or statistics.median(pairs) <= limit, f"{words}; limit {limit}")
    return words
