"""The screen that a profile ends with: one screen, the same from the capture and from the database, of programs as users write them."""

import csv
import io
import sys

from harness import check
from tools import PROGRAMS

PART = "screen"

MOST_LINES, MOST_COLUMNS = 50, 80
LIMIT = 120
LLAMA_SHARE = 70  # per cent of the GPU time of an iteration, in the ten rows of the screen
# Name, options, words of the program; whether it is the Llama, whose layers are to be one row.
CASES = (
    ("cifar10_b512", ("--mode", "pytorch"), ("cifar10", "--batch_size", "512"), False),
    ("resnet50", ("--mode", "pytorch", "--replay-mode", "iteration"), ("resnet50.py",), False),
    ("llama", ("--mode", "pytorch", "--replay-mode", "iteration"), ("llama.py",), True),
    ("llama_sampled", ("--mode", "pytorch", "--replay-mode", "sample"), ("llama.py",), True),
    ("llama_compiled", ("--mode", "pytorch", "--replay-mode", "iteration"), ("llama.py", "--compile"), True),
    ("flax_cnn", ("--mode", "jax", "--replay-mode", "sample"), ("flax_cnn.py", "2000"), False),
    ("cupy_blur", (), ("cupy_blur.py",), False),
    ("triton_softmax", ("--mode", "pytorch"), ("triton_softmax.py",), False),
    ("kernels_alone", ("--kernel-id", "::regex:gemm:"), ("cifar10", "--batch_size", "512"), False),
)


def run(bench):
    for case in CASES:
        with bench.board.case(PART, case[0]) as row:
            row.detail = judge(bench, *case)


def words_of(bench, program):
    if program[0] == "cifar10":
        return bench.cifar10(*program[1:])
    return [sys.executable, PROGRAMS / program[0], *program[1:]]


def judge(bench, name, options, program, is_llama):
    base = f"screen_{name}"
    done = bench.dlkprof.profile(base, options, words_of(bench, program), timeout=LIMIT).require_success()
    capture = bench.dlkprof.capture(base)
    screen = shown(bench, name, capture)
    check_size(screen)
    check(without_file(screen) in without_file(done.stderr), "the profile did not end with the screen that its capture gives")
    database = bench.dlkprof.captures / f"{base}_dldb.sqlite"
    if database.exists():
        of_database = shown(bench, f"{name}_database", database)
        check(without_file(of_database) == without_file(screen), "the database gives another screen than its capture")
    (bench.out / f"{base}.txt").write_text(screen)
    share = share_of_ten_rows(bench, name, capture) if database.exists() else None
    if is_llama:
        check(share >= LLAMA_SHARE, f"ten rows hold {share:.1f} % of the GPU time")
    rows = "" if share is None else f", ten rows hold {share:.1f} % of the GPU time"
    return f"{len(screen.splitlines())} lines{rows}"


def shown(bench, name, file):
    done = bench.dlkprof.run(f"screen_{name}.report", ["report", file], env={"COLUMNS": str(MOST_COLUMNS)}).require_success()
    return done.stdout.decode()


def without_file(screen):
    """The screen but for the line that names the file."""
    return "\n".join(line for line in screen.splitlines() if not line.startswith("Next: dlkprof report"))


def check_size(screen):
    lines = screen.splitlines()
    check(len(lines) <= MOST_LINES, f"{len(lines)} lines")
    widest = max(map(len, lines))
    check(widest <= MOST_COLUMNS, f"a line of {widest} columns")


def share_of_ten_rows(bench, name, capture):
    arguments = ["report", capture, "--reports", "detail", "--by", "layer", "--format", "csv"]
    done = bench.dlkprof.run(f"screen_{name}.layers", arguments).require_success()
    times = [float(row["Total GPU Time (ns)"] or 0) for row in csv.DictReader(io.StringIO(done.stdout.decode()))]
    return 100 * sum(sorted(times)[-10:]) / max(1.0, sum(times))
