"""Programs that end while passes are still being collected: they end as they do alone, and what was collected until then is kept."""

import contextlib
import sqlite3

from harness import check, is_asked_for

PART = "endings"

LIMIT = 90
OPTIONS = {
    "basic": ("--set", "basic"),
    "full": ("--set", "full"),
    "basic_pytorch": ("--set", "basic", "--mode", "pytorch"),
    "full_pytorch": ("--set", "full", "--mode", "pytorch"),
    "full_kernel": ("--set", "full", "--replay-mode", "kernel"),
    "full_iteration": ("--set", "full", "--replay-mode", "iteration"),
}
STEPS = (5, 20, 60)  # of a small network, which has all passes after some 40


def run(bench):
    if not bench.has_torch(PART, "PyTorch programs"):
        return
    for name, options in OPTIONS.items():
        for steps in STEPS:
            if not is_asked_for(name):
                continue
            with bench.board.case(PART, f"{' '.join(options)}, {steps} steps") as row:
                row.detail = judge(bench, f"endings_{name}_{steps}", options, steps)


def judge(bench, base, options, steps):
    program = bench.cifar10("--batch_size", "4", "--iters", str(steps))
    alone = bench.commands.run(f"endings_{steps}_alone", program, timeout=LIMIT).require_success()
    done = bench.dlkprof.profile(base, options, program, timeout=LIMIT).require_success()
    check(done.stdout == alone.stdout, "the program printed something else")
    with contextlib.closing(sqlite3.connect(bench.dlkprof.captures / f"{base}_dldb.sqlite")) as database:
        notices = [row[0] for row in database.execute("SELECT what FROM notice WHERE what LIKE '%its capture was not closed%'")]
        whole, some = database.execute(
            "SELECT count(*), count(CASE WHEN m.passes < s.passes THEN 1 END) FROM measured_launch m "
            "JOIN metric_set s ON s.id = m.metric_set"
        ).fetchone()
    check(not notices, f"the capture has no end: {notices}")
    check(whole > 0, "nothing was measured")
    return f"{whole} launches measured, {some} of them without all passes; {done.seconds:.1f} s, {alone.seconds:.1f} s alone"
