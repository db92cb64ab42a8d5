"""SASS, lines and stalls of sampled kernels against ncu's section SourceCounters."""

import shutil
import sys
from pathlib import Path

from harness import Skipped, check
from source_page import apart, instructions_of, opcode, parse_source_page, shares
from tools import PROGRAMS, SAMPLES

PART = "source"

LIMIT = 150  # seconds a run
POINTS = 5.0  # between shares of samples, of the ten hottest instructions and lines
LEAST_SAMPLES = 2000  # a share of 10 % is then known to some 1.3 points (95 %)
SAME_OPCODES = 99.0  # per cent of the instructions sampled
# Of 2^10 cycles, in both: kernels of the samples last 8 us and more, and with a period as long as that each launch is sampled
# once, always as far from its beginning.
SAMPLED = ("--replay-mode=none", "--pc-sampling=10", "--reports=source", "--formats=csv")
# ncu samples a launch anew: several, past the first ones, of which caches and clocks are not yet as later. By application replay,
# as restoring memory moves caches: lines of a softmax were 19.8 points apart with kernel replay, 3.7 so (H200, once).
LAUNCHES = ("--launch-skip", "10", "--launch-count", "60", "--warp-sampling-interval", "5")
# Program, its words, its kernels.
CUDA = (
    ("gemm_tiled", ("--launches", "100"), ("gemm_tiled_kernel",)),
    ("bank_conflict", ("--launches", "40"), ("transpose_conflict_kernel", "transpose_padded_kernel")),
    ("divergent", ("--launches", "300"), ("divergent_kernel",)),
)
TRITON = ("triton_product.py", ("product_kernel", "softmax_kernel"))


def run(bench):
    for program, words, kernels in CUDA:
        with bench.board.case(PART, f"samples of {program}") as row:
            rows = sampled(bench, program, [built_with_lines(bench, program), *words], row)
            compare(bench, program, [built_with_lines(bench, program), *words], kernels, rows)
    with bench.board.case(PART, "samples of Triton's kernels") as row:
        bench.require_torch()
        program = [sys.executable, PROGRAMS / TRITON[0], "300"]
        compare(bench, "triton", program, TRITON[1], sampled(bench, "triton", program, row))
    with bench.board.case(PART, "loops of Triton's product") as row:
        row.detail = loops_of(bench, "triton", "product_kernel")


def built_with_lines(bench, program):
    """The sample compiled once more, with -lineinfo."""
    folder = bench.out / "programs_with_lines"
    if not (folder / program).exists():
        bench.commands.run(
            f"build_{program}",
            ["sh", SAMPLES / "cuda" / "build.sh", "native", folder, SAMPLES / "cuda" / f"{program}.cu"],
            timeout=120,
            env={"NVCC_FLAGS": "-lineinfo"},
        ).require_success()
    return folder / program


def sampled(bench, name, program, row):
    """The rows of report `source`; the program prints what it prints alone."""
    alone = bench.commands.run(f"source_{name}.alone", program, timeout=LIMIT).require_success()
    done = bench.dlkprof.profile(f"source_{name}", SAMPLED, program, timeout=LIMIT).require_success()
    check(done.stdout == alone.stdout, "stdout differs from that of the program alone")
    rows = bench.dlkprof.report(bench.dlkprof.capture(f"source_{name}"), "source")
    check(rows, "nothing was sampled")
    database = bench.dlkprof.captures / f"source_{name}_dldb.sqlite"
    if database.exists():
        check(bench.dlkprof.report(database, "source") == rows, "the database gives another report than its capture")
    row.detail = f"{sum(int(one['PC Samples']) for one in rows)} samples at {len(rows)} instructions"
    return rows


def compare(bench, name, program, kernels, rows):
    for kernel in kernels:
        with bench.board.case(PART, f"SASS of {kernel}") as row:
            ours = instructions_of(rows, kernel)
            row.detail = same_sass(ours, their_instructions(bench, name, program, kernel))
        with bench.board.case(PART, f"hottest instructions of {kernel}") as row:
            row.detail = near(ours, their_instructions(bench, name, program, kernel), lambda one: one.offset)
        with bench.board.case(PART, f"hottest lines of {kernel}") as row:
            row.detail = near(ours, their_instructions(bench, name, program, kernel), line_by_offset(ours))
        with bench.board.case(PART, f"top stall reasons of {kernel}") as row:
            row.detail = same_reasons(ours, their_instructions(bench, name, program, kernel))


_PAGES = {}


def their_instructions(bench, name, program, kernel):
    """ncu's, of one run for each kernel."""
    if bench.ncu.program is None:
        raise Skipped("ncu is not on PATH")
    if kernel not in _PAGES:
        report = Path(bench.out) / "captures" / f"source_{kernel}.ncu-rep"
        done = bench.commands.run(
            f"source_{name}_{kernel}.ncu",
            [
                bench.ncu.program,
                "--section",
                "SourceCounters",
                "--clock-control",
                "none",
                "--cache-control",
                "none",
                "--replay-mode",
                "application",
                "-k",
                kernel,
                *LAUNCHES,
                "-f",
                "-o",
                report,
                *program,
            ],
            timeout=LIMIT,
        )
        if b"==ERROR==" in done.stdout:
            raise Skipped("ncu measures nothing here")
        done.require_success()
        page = bench.commands.run(
            f"source_{kernel}.ncu_page",
            [
                bench.ncu.program,
                "--import",
                report,
                "--page",
                "source",
                "--print-source",
                "sass",
                "--csv",
                "--print-units",
                "base",
            ],
        ).require_success()
        _PAGES[kernel] = parse_source_page(page.stdout.decode(errors="replace"))
    return _PAGES[kernel]


def same_sass(ours, theirs):
    check(ours, "the kernel was not sampled")
    missing = sum(not one.text for one in ours)
    found = "" if shutil.which("nvdisasm") else " (nvdisasm is not on PATH)"
    check(missing == 0, f"{missing} of {len(ours)} instructions have no SASS{found}")
    by_offset = {one.offset: one for one in theirs}
    other = [
        f"{one.offset:#x}: {one.text!r}, ncu {by_offset[one.offset].text if one.offset in by_offset else 'nothing'!r}"
        for one in ours
        if one.offset not in by_offset or opcode(one.text) != opcode(by_offset[one.offset].text)
    ]
    same = 100 * (1 - len(other) / len(ours))
    check(same >= SAME_OPCODES, f"{same:.1f} % of the opcodes are ncu's: {'; '.join(other[:3])}")
    return f"{len(ours)} instructions sampled of {len(theirs)}; {same:.1f} % of their opcodes are ncu's"


def line_by_offset(ours):
    """Lines of an instruction as dlkprof has them: of ncu's instructions as well."""
    lines = {one.offset: (one.file, one.line) for one in ours}
    check(any(line for _, line in lines.values()), "no instruction has a line")
    return lambda one: lines.get(one.offset, ("", 0))


def near(ours, theirs, place_of):
    for whose, all_of_them in (("dlkprof", ours), ("ncu", theirs)):
        samples = sum(one.samples for one in all_of_them)
        check(samples >= LEAST_SAMPLES, f"{whose} has {samples:.0f} samples, fewer than {LEAST_SAMPLES}")
    points, place = apart(shares(ours, place_of), shares(theirs, place_of))
    check(points <= POINTS, f"{points:.1f} points apart at {place}; limit {POINTS:.0f}")
    return f"at most {points:.1f} points apart, at {place}"


# The names of ncu's columns are shorter than those of counters.
NCU_REASONS = {
    "long_scoreboard": "long_sb",
    "short_scoreboard": "short_sb",
    "math_pipe_throttle": "math",
    "mio_throttle": "mio",
    "lg_throttle": "lg",
    "tex_throttle": "tex",
    "no_instruction": "no_inst",
    "dispatch_stall": "dispatch",
    "branch_resolving": "branch_resolve",
    "imc_miss": "imc",
    "sleeping": "sleep",
}
NEARLY_MOST = 0.8  # of the samples of an instruction's first reason: the two tools may order close ones otherwise


def same_reasons(ours, theirs):
    """Of the three hottest instructions."""
    by_offset = {one.offset: one.stalls for one in theirs}
    words, same = [], True
    for one in sorted(ours, key=lambda one: -one.samples)[:3]:
        stalls = by_offset.get(one.offset) or {"nothing": 1}
        most = max(stalls, key=stalls.get)
        same = same and stalls.get(NCU_REASONS.get(one.top, one.top), 0) >= NEARLY_MOST * stalls[most]
        words.append(f"{hex(one.offset)} {one.top} (ncu {most})")
    check(same, ", ".join(words))
    return ", ".join(words)


def loops_of(bench, name, kernel):
    rows = [
        row for row in bench.dlkprof.report(bench.dlkprof.capture(f"source_{name}"), "source") if row["Kernel Name"] == kernel
    ]
    share = max((float(row["Loop Share Of Kernel (%)"]) for row in rows if row["Loop"]), default=0)
    check(share > 50, f"a loop with {share:.0f} % of the samples, where the kernel spends its time in one")
    return f"the largest loop has {share:.0f} % of the samples"
