"""A program that destroys its contexts prints the same, and what was measured in them has figures."""

from harness import check

PART = "contexts"

LIMIT = 60
ROUNDS, LAUNCHES = 3, 20  # of contexts_probe.cu
ALL = ("--samples", "all", "--set", "quick")
# What is measured of its launches.
WAYS = {"none": 0, "kernel": ROUNDS * LAUNCHES, "auto": ROUNDS * LAUNCHES, "iteration": ROUNDS * LAUNCHES}


def run(bench):
    program = bench.sample("contexts_probe", str(ROUNDS))
    alone = bench.commands.run(PART, program, timeout=LIMIT).require_success()
    for way, expected in WAYS.items():
        with bench.board.case(PART, way) as row:
            row.detail = profile(bench, way, expected, program, alone)


def profile(bench, way, expected, program, alone):
    base = f"{PART}_{way}"
    options = ("--replay-mode", way, *(ALL if expected else ()))
    done = bench.dlkprof.profile(base, options, program, timeout=LIMIT).require_success()
    check(done.stdout == alone.stdout, f"stdout differs: {done.stdout[:60]!r}, alone {alone.stdout[:60]!r}")
    measured = len(bench.dlkprof.launches(base)) if expected else 0
    detail = f"{measured} of {expected} launches measured; {done.seconds:.1f} s, {alone.seconds:.1f} s alone"
    check(measured == expected, detail)
    return detail
