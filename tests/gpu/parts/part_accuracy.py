"""dlkprof's figures against ncu's, launch by launch, and ncu's against its own."""

import dataclasses

import accuracy_report
from deviation import EXACT, POINTS, PRINTED, RELATIVE, Rule, compare, judge
from harness import Skipped, check
from launch_tables import join

PART = "accuracy"

# Below this many per cent of peak, points are given instead of a ratio of two small numbers.
NEAR_ZERO = 2.0
MEDIAN_LIMIT = 5.0
SINGLE_POINT_LIMIT = 0.5  # near zero: a single deviation over it is listed

MEASURED = (
    Rule("smsp__inst_executed.sum", EXACT),
    Rule("gpu__time_duration.sum", RELATIVE, MEDIAN_LIMIT),
    *(
        Rule(metric, RELATIVE, MEDIAN_LIMIT, NEAR_ZERO)
        for metric in (
            "sm__throughput.avg.pct_of_peak_sustained_elapsed",
            "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
            "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
            "l1tex__throughput.avg.pct_of_peak_sustained_active",
            "lts__throughput.avg.pct_of_peak_sustained_elapsed",
            "sm__warps_active.avg.pct_of_peak_sustained_active",
            "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
            "smsp__issue_active.avg.pct_of_peak_sustained_active",
        )
    ),
    Rule("l1tex__t_sector_hit_rate.pct", POINTS, MEDIAN_LIMIT),
    Rule("lts__t_sector_hit_rate.pct", POINTS, MEDIAN_LIMIT),
    Rule(accuracy_report.SM_CLOCK, RELATIVE, MEDIAN_LIMIT),
)

# What needs no counter: ncu's name, and the columns of dlkprof's table.
COMPUTED = (
    Rule("sm__maximum_warps_per_active_cycle_pct", PRINTED, columns=("theoretical_occupancy_pct", "theoretical_occupancy")),
    Rule("launch__occupancy_limit_registers", PRINTED, columns=("block_limit_registers",)),
    Rule("launch__occupancy_limit_warps", PRINTED, columns=("block_limit_warps",)),
    Rule("launch__occupancy_limit_blocks", PRINTED, columns=("block_limit_blocks", "block_limit_sm")),
    Rule("launch__registers_per_thread", PRINTED, columns=("registers_per_thread",)),
    Rule("launch__waves_per_multiprocessor", PRINTED, columns=("waves_per_sm", "waves_per_multiprocessor", "waves")),
)

RULES = (*MEASURED, *COMPUTED)

# dlkprof leaves these launches alone in kernel replay; ncu replays them.
LEFT_ALONE = ("cooperative_kernel", "graph_kernel")
CIFAR10_SELECTION = ("-k", "regex:gemm|nvjet|cutlass", "--kernel-name-base", "demangled", "-c", "12")


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    command: list
    selection: tuple = ()


def programs(bench):
    names = ("copy", "gemm_tiled", "bank_conflict", "register_limited", "tensor_core", "divergent", "inplace_add", "launches")
    return [Program(name, bench.sample(name)) for name in names]


def cifar10_programs(bench):
    def at(batch_size):
        command = bench.cifar10("--batch_size", str(batch_size), "--iters", "3", "--print_every", "1")
        return Program(f"cifar10.py batch {batch_size}", command, CIFAR10_SELECTION)

    return [at(4), at(512)]


@dataclasses.dataclass
class Figures:
    """What was gathered over all programs. `against_self`: ncu's second run against its first.

    `unrepeatable`: kernels for which one tool alone gives another figure from run to run, as where blocks wait for one
    another in a loop. No other tool can be asked to give the same, for any of their launches.
    """

    deviations: list = dataclasses.field(default_factory=list)
    against_self: list = dataclasses.field(default_factory=list)
    unrepeatable: set = dataclasses.field(default_factory=set)  # (kernel, metric) of EXACT figures
    missing: dict = dataclasses.field(default_factory=dict)
    joined: int = 0
    commands: list = dataclasses.field(default_factory=list)


def run(bench):
    try:
        offered = bench.ncu.offered([rule.metric for rule in RULES], bench.sample("gemm_tiled"))
    except Skipped as reason:
        bench.board.skip(PART, "against ncu", reason)
        return
    rules = [rule for rule in RULES if rule.metric in offered]
    for rule in RULES:
        if rule not in rules:
            bench.board.skip(PART, rule.metric, "this ncu does not offer it here")
    chosen = programs(bench)
    try:
        bench.require_torch()
        chosen += cifar10_programs(bench)
    except Skipped as reason:
        bench.board.skip(PART, "cifar10.py", reason)
    figures = Figures()
    for program in chosen:
        with bench.board.case(PART, f"launches of {program.name}") as row:
            row.detail = measure(bench, program, rules, figures)
    if figures.joined == 0:
        bench.board.skip(PART, "figures", "no launch was measured by both")
        return
    conclude(bench, rules, figures)


def options_for(program, metrics):
    return (
        "--replay-mode",
        "kernel",
        "--samples",
        "all",
        "--cache-control",
        "none",
        "--metrics",
        ",".join(metrics),
        "--reports=metrics",
        "--formats=csv",
        *program.selection,
    )


def measure(bench, program, rules, figures):
    """Measures a program with each tool, twice; adds what came to `figures`."""
    name = f"accuracy_{program.name}".replace(" ", "_")
    wanted = [rule.metric for rule in rules]
    first = bench.ncu.launches(name, wanted, program.selection, program.command, timeout=90)
    check(first, "ncu measured nothing")
    options = options_for(program, [rule.metric for rule in rules if rule in MEASURED])
    done = bench.dlkprof.profile(name, options, program.command, timeout=90).require_success()
    own_first = bench.dlkprof.written_launches(name)
    joined = join(first, own_first)
    figures.commands = [bench.ncu.command(wanted, program.selection), done.argv]
    figures.joined += len(joined.pairs)
    take(joined.pairs, program, rules, figures)
    second = join(first, bench.ncu.launches(name, wanted, program.selection, program.command, timeout=90))
    take_again(second.pairs, program, rules, figures)
    note_unrepeatable(second.pairs, program, rules, figures)
    if any(deviation.program == program.name and deviation.kind == EXACT and deviation.value for deviation in figures.deviations):
        bench.dlkprof.profile(name, options, program.command, timeout=90).require_success()
        again = join(own_first, bench.dlkprof.written_launches(name))
        note_unrepeatable(again.pairs, program, rules, figures)
    return account(joined)


def note_unrepeatable(pairs, program, rules, figures):
    exact = [rule for rule in rules if rule.kind == EXACT]
    for deviation in compare(exact, program.name, pairs)[0]:
        if deviation.value:
            figures.unrepeatable.add((deviation.kernel, deviation.metric))


def take(pairs, program, rules, figures):
    deviations, missing = compare(rules, program.name, pairs)
    figures.deviations += deviations
    for metric, count in missing.items():
        figures.missing[metric] = figures.missing.get(metric, 0) + count


def take_again(pairs, program, rules, figures):
    """ncu's second run against its first: its own names in both tables."""
    figures.against_self += compare([dataclasses.replace(rule, columns=()) for rule in rules], program.name, pairs)[0]


def account(joined):
    """What became of ncu's launches; CheckFailed where one is absent that should not be."""
    absent = [launch.mangled for launch in joined.only_reference if launch.mangled not in LEFT_ALONE]
    extra = [launch.mangled for launch in joined.only_other]
    total = len(joined.pairs) + len(joined.only_reference)
    words = f"{len(joined.pairs)} of ncu's {total} launches joined"
    check(joined.pairs, f"{words}: no launch in common")
    check(not absent and not extra, f"{words}; only ncu: {absent[:3]}; only dlkprof: {extra[:3]}")
    left_alone = len(joined.only_reference)
    return words + (f", {left_alone} left alone on purpose" if left_alone else "")


def conclude(bench, rules, figures):
    judged = [d for d in figures.deviations if (d.kernel, d.metric) not in figures.unrepeatable]
    findings = [judge(rule, judged, figures.missing.get(rule.metric, 0)) for rule in rules]
    own = {rule.metric: judge(rule, figures.against_self, 0) for rule in rules}
    for finding in findings:
        with bench.board.case(PART, finding.rule.metric) as row:
            words = accuracy_report.in_words(finding, own[finding.rule.metric])
            left_out = [
                d for d in figures.deviations if d.metric == finding.rule.metric and (d.kernel, d.metric) in figures.unrepeatable
            ]
            kernels = len({d.kernel for d in left_out})
            words += f"; {len(left_out)} left out, of {kernels} kernels that one tool alone does not repeat" if left_out else ""
            check(finding.passed, words)
            row.detail = words
    path = bench.out / "accuracy.md"
    path.write_text(accuracy_report.markdown(bench, figures, findings, own, SINGLE_POINT_LIMIT))
    bench.board.figure(PART, "accuracy.md", f"{figures.joined} launches, {len(figures.deviations)} figures compared: {path}")
