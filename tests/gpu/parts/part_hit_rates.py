"""L2's hit rate where neither dlkprof nor ncu replays anything: hits and misses each in a run of its own, of a single pass.

On GH100 lts__t_sector_hit_rate needs two passes. Each tool saves and restores memory between them in its own way, which leaves
other data in the cache: what differs then is the replay (docs/user/accuracy.md).
"""

import statistics

from harness import Skipped, check
from launch_tables import join
from part_accuracy import LEFT_ALONE, cifar10_programs, options_for, programs

PART = "hit_rates"

HITS, MISSES = "lts__t_sectors_lookup_hit.sum", "lts__t_sectors_lookup_miss.sum"
MEDIAN_LIMIT = 5.0  # points, over launches
LIMIT = 90  # seconds a run
PASSES = "profiler__replayer_passes"


def run(bench):
    chosen = programs(bench)
    try:
        bench.require_torch()
        chosen += reversed(cifar10_programs(bench))
    except Skipped as reason:
        bench.board.skip(PART, "cifar10.py", reason)
    apart = []
    for program in chosen:
        with bench.board.case(PART, f"launches of {program.name}") as row:
            found = measure(bench, program)
            apart += found
            row.detail = f"n {len(found)}, " + words_of(found)
    with bench.board.case(PART, "all launches") as row:
        row.detail = verdict(apart)


def measure(bench, program):
    """Of each launch, ours beyond ncu's: points."""
    pairs = {metric: pairs_of(bench, program, metric) for metric in (HITS, MISSES)}
    check(
        [theirs.key for theirs, _ in pairs[HITS]] == [theirs.key for theirs, _ in pairs[MISSES]], "other launches from run to run"
    )
    apart = []
    for hits, misses in zip(pairs[HITS], pairs[MISSES]):
        theirs, ours = (rate(hit.number(HITS), miss.number(MISSES)) for hit, miss in zip(hits, misses))
        if theirs is not None and ours is not None:
            apart.append(ours - theirs)
    check(apart, "no launch that looked anything up in L2")
    return apart


def pairs_of(bench, program, metric):
    name = f"hit_rates_{program.name}_{metric.rpartition('_')[2]}".replace(" ", "_")
    theirs = bench.ncu.launches(name, [metric], program.selection, program.command, timeout=LIMIT)
    check(theirs, "ncu measured nothing")
    bench.dlkprof.profile(name, options_for(program, [metric]), program.command, timeout=LIMIT).require_success()
    joined = join(theirs, bench.dlkprof.written_launches(name))
    absent = [launch.mangled for launch in joined.only_reference if launch.mangled not in LEFT_ALONE]
    check(joined.pairs and not absent and not joined.only_other, f"{len(joined.pairs)} launches joined; only ncu: {absent[:3]}")
    for launches, column in ((theirs, PASSES), ([ours for _, ours in joined.pairs], "Passes")):
        check(all(launch.number(column) == 1 for launch in launches), f"{metric} took {launches[0].text(column)} passes")
    return joined.pairs


def rate(hits, misses):
    """Per cent; None where a figure is missing, or nothing was looked up."""
    if hits is None or misses is None or hits + misses == 0:
        return None
    return 100 * hits / (hits + misses)


def words_of(apart):
    return (
        f"median {statistics.median(map(abs, apart)):.2f} points, {min(apart):+.2f} to {max(apart):+.2f}; "
        f"{sum(abs(one) > MEDIAN_LIMIT for one in apart)} beyond {MEDIAN_LIMIT:.0f}"
    )


def verdict(apart):
    check(apart, "nothing was measured")
    words = f"n {len(apart)}, {words_of(apart)}"
    check(statistics.median(map(abs, apart)) <= MEDIAN_LIMIT, f"{words}; limit {MEDIAN_LIMIT:.0f} in the median")
    return words
