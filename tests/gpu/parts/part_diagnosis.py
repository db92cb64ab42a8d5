"""Each sample diagnosed as what it was written to be, beside ncu's rules; occupancy equal to ncu's; a bf16 product's rate."""

import sys

import diagnosis_report
from deviation import PRINTED, Rule, deviate
from harness import CheckFailed, Skipped, check
from ncu_rules import bottlenecks
from traits import OTHERS, SUBJECTS
from verdicts import REPORTS, read_verdicts
from tools import PROBES

PART = "diagnosis"

# ncu's names of what follows from a launch configuration, and the columns of dlkprof's report.
OCCUPANCY = "Theoretical Occupancy (%)"
LIMITS = {
    "registers": ("launch__occupancy_limit_registers", "Block Limit Registers"),
    "warps": ("launch__occupancy_limit_warps", "Block Limit Warps"),
    "blocks": ("launch__occupancy_limit_blocks", "Block Limit SM"),
}
# ncu states this limit for the part of L1 that the driver made shared memory for this launch, dlkprof for the largest that it
# can make. The driver takes as little as limits nothing, so that ncu's may be level with the least limit where ours is above.
SHARED = "shared memory"
SHARED_LIMIT = "launch__occupancy_limit_shared_mem"
NCU_OCCUPANCY = ("--section", "Occupancy", "--section", "LaunchStats")

PRODUCT_SIZE = 8192
PRODUCT_LIMIT = 0.05  # of the arithmetic over the time
PRODUCT_REPORTS = ("kernel", "roofline", "tensor")


def run(bench):
    table, occupancy, commands = [], [], []
    for subject in SUBJECTS:
        with bench.board.case(PART, f"profiles of {subject.program}") as row:
            verdicts, launches, rules, commands = measure(bench, subject.program, subject.arguments, ("--set", "full"))
            row.detail = f"{len(verdicts.configurations())} kernels"
            table += diagnose(bench, subject, verdicts, rules)
            occupancy.append(same_occupancy(bench, subject.program, verdicts, launches))
    for program, arguments in OTHERS:
        with bench.board.case(PART, f"profiles of {program}") as row:
            verdicts, launches, _, _ = measure(bench, program, arguments, NCU_OCCUPANCY)
            row.detail = f"{len(verdicts.configurations())} kernels"
            occupancy.append(same_occupancy(bench, program, verdicts, launches))
    product = None
    with bench.board.case(PART, f"bf16 product of {PRODUCT_SIZE}") as row:
        row.detail = product = large_product(bench)
    path = bench.out / "diagnosis.md"
    path.write_text(diagnosis_report.markdown(bench.facts, table, occupancy, product, commands))
    bench.board.figure(PART, "diagnosis.md", f"{len(table)} kernels diagnosed: {path}")


def measure(bench, program, arguments, ncu_sections):
    """(Verdicts, ncu's launches or None, its rule results or None, both command lines)."""
    name = f"diagnosis_{program}"
    command = bench.sample(program, *arguments)
    sections = ("--set", "full") if ncu_sections == ("--set", "full") else ("--section", "occupancy", "--section", "launch")
    options = (*sections, "--timeline", "on", f"--reports={','.join((*REPORTS, 'kernel'))}", "--formats=csv")
    done = bench.dlkprof.profile(name, options, command, timeout=90).require_success()
    verdicts = read_verdicts(bench.dlkprof.captures, name, (*REPORTS, "kernel"))
    try:
        launches, rules, argv = bench.ncu.diagnosed(name, ncu_sections, command, bench.out / "captures", timeout=120)
    except Skipped as reason:
        bench.board.skip(PART, f"ncu of {program}", reason)
        return verdicts, None, None, [done.argv]
    return verdicts, launches, rules, [argv, done.argv]


def diagnose(bench, subject, verdicts, rules):
    """A case and a row of the table for each trait."""
    rows = []
    for trait in subject.traits:
        named, words = trait.shows(verdicts, trait.kernel)
        of_kernel = None if rules is None else bottlenecks(rules, trait.kernel)
        with bench.board.case(PART, f"{subject.program}: {trait.kernel} is {trait.written_to_be}") as row:
            check(named, words)
            row.detail = words
        rows.append(diagnosis_report.diagnosis_row(subject.program, trait, named, words, of_kernel))
    return rows


def same_occupancy(bench, program, verdicts, launches):
    """The row of a program in the table of occupancy; a case of its own."""
    outcome, count = "ncu was not run", 0
    if launches is None:
        bench.board.skip(PART, f"{program}: occupancy and its limiter", outcome)
        return program, count, outcome
    with bench.board.case(PART, f"{program}: occupancy and its limiter") as row:
        try:
            count, outcome = compare_occupancy(verdicts.configurations(), launches)
        except CheckFailed as reason:
            outcome = f"**differs**: {reason}"
            raise
        row.detail = f"{count} configurations: {outcome}"
    return program, count, outcome


def compare_occupancy(configurations, launches):
    """(configurations compared, words); CheckFailed where one differs or is missing."""
    by_key = {launch.key: launch for launch in launches}
    check(by_key, "ncu measured nothing")
    differing = []
    for key, launch in by_key.items():
        row = configurations.get(key)
        differing += [f"{key[0]}: not in the report"] if row is None else [f"{key[0]}: {one}" for one in differences(row, launch)]
    check(not differing, "; ".join(differing))
    limiters = sorted({configurations[key]["Limiter"] for key in by_key})
    return len(by_key), f"equal; limited by {' / '.join(limiters)}"


def differences(row, launch):
    """What a row of the report and ncu's launch do not agree on, in words."""
    found = []
    for metric, column in (("sm__maximum_warps_per_active_cycle_pct", OCCUPANCY), *LIMITS.values()):
        outcome = deviate(Rule(metric, PRINTED), launch.text(metric), row.get(column))
        if outcome is None:
            found.append(f"{column} {row.get(column) or 'empty'}, ncu {launch.text(metric) or 'empty'}")
        elif outcome[3]:
            found.append(f"{column} {row[column]}, ncu {launch.text(metric)}")
    ours, theirs = set(filter(None, row.get("Limiter", "").split(", "))), least_limits(launch)
    if not ours or ours - theirs or theirs - ours - {SHARED}:
        found.append(f"limiter {row.get('Limiter') or 'none'}, ncu's least limit {', '.join(sorted(theirs))}")
    return found


def least_limits(launch):
    limits = {
        name: launch.number(metric)
        for name, metric in ((SHARED, SHARED_LIMIT), *((name, one[0]) for name, one in LIMITS.items()))
    }
    known = {name: limit for name, limit in limits.items() if limit is not None}
    return {name for name, limit in known.items() if limit == min(known.values())}


def large_product(bench):
    """Words on the rate that the reports state beside the arithmetic over the measured time."""
    bench.require_torch()
    program = [sys.executable, PROBES / "bf16_product.py", str(PRODUCT_SIZE)]
    options = (
        "--set",
        "full",
        "--timeline",
        "on",
        "-k",
        "regex:gemm|nvjet|cutlass",
        "--kernel-name-base",
        "demangled",
        f"--reports={','.join(PRODUCT_REPORTS)}",
        "--formats=csv",
    )
    bench.dlkprof.profile("diagnosis_product", options, program, timeout=120).require_success()
    return product_words(read_verdicts(bench.dlkprof.captures, "diagnosis_product", PRODUCT_REPORTS), PRODUCT_SIZE)


def product_words(verdicts, size):
    rows = [row for row in verdicts.reports["roofline"] if row["Kernel Name"] and "BF16" in row["Precision"]]
    check(len(rows) == 1, f"{len(rows)} kernels with bf16 operations")
    row = rows[0]
    samples = float(row["Samples Measured"])
    calls = verdicts.number("kernel", row["Kernel Name"], "Calls Timed")
    mean_ns = verdicts.number("kernel", row["Kernel Name"], "Avg. GPU Time (ns)")
    check(samples > 0 and calls and mean_ns, "the product was not measured")
    achieved, expected = float(row["Performance (op/s)"]) / 1e12, 2 * size**3 / mean_ns / 1e3
    words = (
        f"`{row['Kernel Name']}`, {size} x {size} x {size}: {achieved:.1f} TFLOP/s achieved in the report `roofline`; 2MNK over "
        f"its mean time of {mean_ns / 1e3:.1f} us ({calls:.0f} calls) is {expected:.1f} TFLOP/s: {100 * (achieved / expected - 1):+.2f} % "
        f"(limit {100 * PRODUCT_LIMIT:.0f} %)"
    )
    check(abs(achieved / expected - 1) <= PRODUCT_LIMIT, words)
    return words
