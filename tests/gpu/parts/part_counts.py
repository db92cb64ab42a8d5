"""What --section source counts of each instruction against ncu's section SourceCounters; programs do not notice."""

import sqlite3
import sys

import counted_page
from harness import Skipped, check, is_asked_for
from part_graphs import words_of
from part_source import CUDA, TRITON, built_with_lines
from tools import PROGRAMS

PART = "counts"

LIMIT = 120  # seconds a run; threads and flax_cnn hung before launches no longer waited for the one that is patched
SOURCE = ("--section", "source")
# Programs that nobody made for this: what they print is what they print alone.
CASES = {
    "cifar10": ("cifar10", "--batch_size", "512", "--iters", "60"),
    "transformer": ("transformer", "--layers", "6", "--iters", "20"),
    "mlp": ("mlp", "--iters", "200"),
    "llama": ("llama.py", "10"),
    "threads": ("threads.py",),
    "flax_cnn": ("flax_cnn.py", "40"),
    "cupy": ("cupy_blur.py",),
}


def run(bench):
    for name, words, kernels in CUDA:
        if is_asked_for(name):
            compare(bench, name, [built_with_lines(bench, name), *words], kernels)
    if is_asked_for("triton"):
        compare(bench, "triton", [sys.executable, PROGRAMS / TRITON[0], "30"], TRITON[1])
    for name, words in CASES.items():
        if is_asked_for(name):
            with bench.board.case(PART, name) as row:
                row.detail = counted_by_configuration(bench, name, counted(bench, name, words_of(bench, words)))


def counted(bench, name, program):
    """The rows of report `source`."""
    base = f"counts_{name}"
    alone = bench.commands.run(f"{base}.alone", program, timeout=LIMIT).require_success()
    done = bench.dlkprof.profile(base, SOURCE, program, timeout=LIMIT).require_success()
    check(done.stdout == alone.stdout, "the program printed something else")
    return bench.dlkprof.report(bench.dlkprof.capture(base), "source")


def counted_by_configuration(bench, name, rows):
    """Where launches of several threads overlap, counting ends, maybe before it has begun."""
    capture = bench.dlkprof.capture(f"counts_{name}")
    configurations = bench.dlkprof.report(capture, "coverage")
    measured = sum(int(one["Measured"]) > 0 for one in configurations)
    database = sqlite3.connect(bench.dlkprof.captures / f"counts_{name}_dldb.sqlite")
    told = [detail for (detail,) in database.execute("SELECT detail FROM notice WHERE what LIKE '%were not counted%'")]
    check(measured > 0 or told, "nothing was counted, and no reason was told")
    return f"{len(rows)} instructions; {measured} of {len(configurations)} launch configurations counted{'; ended: ' if told else ''}{'; '.join(told)}"


def compare(bench, name, program, kernels):
    with bench.board.case(PART, name) as row:
        rows = counted(bench, name, program)
        check(rows, "nothing was counted")
        row.detail = f"{len(rows)} instructions"
    for kernel in kernels:
        with bench.board.case(PART, f"instructions of {kernel}") as row:
            ours = [one for one in rows if one["Kernel Name"] == kernel]
            row.detail = counted_page.compare(ours, their_page(bench, name, program, kernel))


def their_page(bench, name, program, kernel):
    if bench.ncu.program is None:
        raise Skipped("ncu is not on PATH")
    done = bench.commands.run(
        f"counts_{name}_{kernel}.ncu",
        [
            bench.ncu.program,
            "--section",
            "SourceCounters",
            "--page",
            "source",
            "--csv",
            "--print-units",
            "base",
            "-k",
            kernel,
            "-c",
            "1",
            *program,
        ],
        timeout=LIMIT,
    )
    if b"==ERROR==" in done.stdout:
        raise Skipped("ncu measures nothing here")
    return done.require_success().stdout.decode(errors="replace")
