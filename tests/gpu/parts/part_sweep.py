"""A sweep over batch sizes on a real GPU: a database for each, their comparison, and --resume."""

import json

from harness import check

PART = "sweep"

SIZES = (4, 512)
LIMIT = 150


def run(bench):
    if not bench.has_torch(PART, "cifar10.py"):
        return
    with bench.board.case(PART, f"cifar10.py batch {' and '.join(map(str, SIZES))}, --set quick") as row:
        row.detail = compared(bench, sweep(bench, "sweep"))
    with bench.board.case(PART, "--resume runs nothing again") as row:
        row.detail = resumed(bench)


def sweep(bench, name, *more):
    program = bench.cifar10("--iters", "300", "--print_every", "100", "--batch_size", "{batch_size}")
    words = [
        "-L",
        "batch_size",
        ",".join(map(str, SIZES)),
        "--set",
        "quick",
        "--replay-mode",
        "iteration",
        "--compare_formats",
        "json",
        "--output_path",
        bench.dlkprof.captures,
        "--base_name",
        "sweep",
        *more,
    ]
    return bench.dlkprof.run(name, ["sweep", *words, "--", *program], timeout=LIMIT).require_success()


def resumed(bench):
    before = captures_of(bench)
    done = sweep(bench, "sweep_resumed", "--resume")
    check(before and captures_of(bench) == before, f"made again, of {sorted(before)}")
    return f"{len(before)} captures as they were; {compared(bench, done)}"


def captures_of(bench):
    """Each file, and which it is: one that is made again is another."""
    return {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in bench.dlkprof.captures.glob("sweep_*.dlkcap")}


def compared(bench, done):
    databases = {path.name for path in bench.dlkprof.captures.glob("sweep_batch_size-*_dldb.sqlite")}
    check(databases == {f"sweep_batch_size-{size}_dldb.sqlite" for size in SIZES}, f"databases: {databases}")
    comparison = json.loads((bench.dlkprof.captures / "sweep_compare.json").read_text())
    check(comparison, "an empty comparison")
    return f"{len(databases)} databases and sweep_compare.json, {done.seconds:.1f} s"
