"""A program that destroys its contexts prints the same, and what was measured in them has figures."""

from harness import check

PART = "contexts"

LIMIT = 60
ROUNDS, LAUNCHES = 3, 20  # of contexts_probe.cu
ALL = ("--samples", "all", "--set", "quick")


def run(bench):
    program = bench.sample("contexts_probe", str(ROUNDS))
    alone = bench.commands.run(PART, program, timeout=LIMIT).require_success()
    for way in ("none", "kernel", "auto", "iteration"):
        with bench.board.case(PART, way) as row:
            row.detail = profile(bench, way, program, alone)


def profile(bench, way, program, alone):
    base = f"{PART}_{way}"
    measures = way != "none"
    options = ("--replay-mode", way, *(ALL if measures else ()))
    done = bench.dlkprof.profile(base, options, program, timeout=LIMIT).require_success()
    check(done.stdout == alone.stdout, f"stdout differs: {done.stdout[:60]!r}, alone {alone.stdout[:60]!r}")
    times = f"{done.seconds:.1f} s, {alone.seconds:.1f} s alone"
    if not measures:
        return times
    measured = len(bench.dlkprof.launches(base))
    detail = f"{measured} of {ROUNDS * LAUNCHES} launches measured; {times}"
    check(measured == ROUNDS * LAUNCHES, detail)
    return detail
