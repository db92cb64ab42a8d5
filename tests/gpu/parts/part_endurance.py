"""Long runs: memory does not grow with iterations."""

from harness import check
from training_loops import run_watched

PART = "endurance"

FEW, MANY = 2_000, 10_000  # iterations
MODES = ("none", "iteration", "sample", "kernel")
LIMIT = 150
MOST_GROWTH = 64 << 20  # bytes beyond that of the program alone: the most that waits to be written, and noise of allocators


def run(bench):
    if not bench.has_torch(PART, "PyTorch programs"):
        return
    growth(bench)


def growth(bench):
    alone = None
    with bench.board.case(PART, "cifar10.py batch 4 alone") as row:
        alone = grown(bench, "alone", lambda name, program: bench.commands.run(name, program, timeout=LIMIT))
        row.detail = f"{megabytes(alone)} more at most after {MANY:,} iterations than after {FEW:,}"
    for mode in MODES if alone is not None else ():
        with bench.board.case(PART, f"--replay-mode {mode}: {MANY:,} iterations of cifar10.py batch 4") as row:
            more = grown(
                bench,
                mode,
                lambda name, program, mode=mode: bench.dlkprof.profile(
                    name, ("--replay-mode", mode, "--set", "quick"), program, timeout=LIMIT
                ),
            )
            row.detail = f"{megabytes(more)} more at most than after {FEW:,} iterations; alone {megabytes(alone)}"
            check(more - alone <= MOST_GROWTH, row.detail)


def grown(bench, name, start):
    """Bytes that the many iterations held at most beyond the few."""
    peaks = []
    for count in (FEW, MANY):
        program = bench.cifar10("--batch_size", "4", "--iters", str(count), "--print_every", str(FEW))
        peaks.append(run_watched(bench, f"endurance_{name}_{count}", program, start).peak_bytes)
    return peaks[1] - peaks[0]


def megabytes(count):
    return f"{count / 2**20:+.0f} MB"
