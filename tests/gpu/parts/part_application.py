"""Iteration replay of cifar10.py beside ncu's application replay, which leaves caches as the program does: ncu runs it once a pass."""

from harness import CheckFailed, Skipped, check
from iteration_table import Table, markdown, metrics_of
from part_iteration import PROGRAM, alone, profile

PART = "application"

NCU_ITERATIONS = "40"  # more than the launches compared are from
NCU_LIMIT = 420


def run(bench):
    try:
        bench.require_torch()
        program = alone(bench, "application", PROGRAM)
    except (Skipped, CheckFailed) as reason:
        bench.board.skip(PART, "cifar10.py", reason)
        return
    with bench.board.case(PART, "--replay-mode iteration --set basic of cifar10.py beside ncu's application replay") as row:
        ours, _ = profile(bench, "application_basic", ("--set", "basic"), "iteration", program)
        table = Table(matched_with_ncu(bench, ours))
        (bench.out / "application_accuracy.md").write_text(markdown({"application replay": table}))
        row.detail = table.verdict()


def matched_with_ncu(bench, ours):
    """Pairs of the same launch, of the first that follow each other without a gap: ncu counts from the first it measures."""
    ours = sorted(ours, key=lambda launch: int(launch.text("ID")))
    first = int(ours[0].text("ID"))
    block = [launch for number, launch in enumerate(ours) if int(launch.text("ID")) == first + number]
    selection = ("--replay-mode", "application", "-s", str(first), "-c", str(len(block)))
    program = bench.cifar10("--iters", NCU_ITERATIONS, *PROGRAM[2:])
    theirs = bench.ncu.launches("iteration_application", metrics_of(block), selection, program, timeout=NCU_LIMIT)
    check([launch.key for launch in theirs] == [launch.key for launch in block], f"ncu measured {len(theirs)} launches, others than ours")
    return list(zip(block, theirs))
