"""Iteration replay of cifar10.py: that it disturbs nothing, what it costs, and what it measures beside kernel replay, in runs with as
many metrics each as one pass counts, in which nothing is restored through the caches. All is run twice: what kernel replay itself
does not repeat is told from what is measured otherwise.

Each pass of a window is of another launch: means of a launch configuration are compared."""

import one_pass
from configuration_figures import complete, in_replay, in_windows, matched, metrics_in
from harness import CheckFailed, Skipped, check
from iteration_table import Table, markdown

PART = "iteration"

PROGRAM = ("--iters", "300", "--print_every", "20", "--batch_size", "512")
SHORT_PROGRAM = ("--iters", "60", *PROGRAM[2:])  # enough for the launches that kernel replay measures
RUNS = (("quick", ""), ("basic", ""), ("basic", " again"))
SAMPLES = ("--samples", "5")
# Past some six iterations, in which libraries and caches warm up. Caches are as the program leaves them, as in windows.
REPLAY_OPTIONS = ("--launch-skip-before-match", "500", "--cache-control", "none")
L2_HITS = "lts__t_sector_hit_rate.pct"
ALIKE = 5.0  # points of L2 hits, within which two ways of measuring had the same caches
LIMIT = 120


def run(bench):
    basic, kernel_replay = [], None
    try:
        bench.require_torch()
        long, short = (alone(bench, *words) for words in (("long", PROGRAM), ("short", SHORT_PROGRAM)))
    except (Skipped, CheckFailed) as reason:
        bench.board.skip(PART, "cifar10.py", reason)
        return
    for name, again in RUNS:
        with bench.board.case(PART, f"--set {name}{again}: cifar10.py prints the same, and is measured") as row:
            run_name = name + again.replace(" ", "_")
            _, database, row.detail = profile(bench, run_name, ("--set", name), "iteration", long)
            basic += [complete(in_windows(database))] if name == "basic" else []
    with bench.board.case(PART, "the same configurations under kernel replay, twice") as row:
        check(len(basic) == 2, "not measured twice under iteration replay")
        kernel_replay = KernelReplay(bench, metrics_in(basic[0]), short)
        row.detail = kernel_replay.words()
    if kernel_replay:
        beside_kernel_replay(bench, basic, kernel_replay)


def beside_kernel_replay(bench, basic, kernel_replay):
    """One run beside the first of kernel replay, the other beside its second."""
    pages = []
    all_pairs = [pair for ours, theirs in zip(basic, kernel_replay.runs) for pair in matched(ours, theirs)]

    def compare(pairs, metrics):
        keys = {theirs.key for _, theirs in pairs}
        control = Table([pair for pair in matched(*kernel_replay.runs) if pair[1].key in keys], metrics)
        table = Table(pairs, metrics, control)
        pages.append(markdown({"iteration and kernel replay": table, "kernel replay twice": control}))
        return table.verdict()

    with bench.board.case(PART, "--set basic beside kernel replay, metrics of one pass") as row:
        row.detail = compare(all_pairs, kernel_replay.one)
    with bench.board.case(PART, "--set basic beside kernel replay, metrics of several passes, caches alike") as row:
        row.detail = compare(with_caches_alike(all_pairs), kernel_replay.several)
    (bench.out / "iteration_accuracy.md").write_text("\n".join(pages))


def alone(bench, name, words):
    program = bench.cifar10(*words)
    return program, bench.commands.run(f"iteration_{name}_alone", program, timeout=LIMIT).require_success()


class KernelReplay:
    """The same configurations under kernel replay, the metrics of one pass and the others. A launch whose metrics one pass counts is
    run once, and finds caches as the program left them; the others are of a run in which memory was restored from pass to pass,
    through the caches."""

    def __init__(self, bench, metrics, program):
        groups, self.several = one_pass.groups_of(bench.dlkprof.program, metrics)
        check(
            groups and self.several,
            f"{len(groups)} groups of metrics that one pass counts, {len(self.several)} metrics that need several",
        )
        self.groups, self.one = len(groups), [metric for metrics in groups for metric in metrics]
        self.runs = [self._run(bench, name, groups, program) for name in ("first", "second")]

    def words(self):
        return (
            f"{len(self.runs[0])} and {len(self.runs[1])} configurations; {len(self.one)} metrics in {self.groups} groups that one pass "
            f"counts, {len(self.several)} that need several"
        )

    def _run(self, bench, name, groups, program):
        runs = []  # of the program
        for number, metrics in enumerate((*groups, self.several)):
            launches, database, _ = profile(
                bench, f"{name}_{number}", ("--metrics", ",".join(metrics), *REPLAY_OPTIONS), "kernel", program
            )
            passes = {launch.number("passes") for launch in launches}
            check(metrics is self.several or passes == {1}, f"passes of metrics that one is to count: {passes}")
            runs.append(in_replay(database))
        return merged(runs)


def merged(runs):
    """The configurations that all runs have, with the metrics of all."""
    common = set.intersection(*(set(figures) for figures in runs))
    return {key: {metric: mean for figures in runs for metric, mean in figures[key].items()} for key in common}


def profile(bench, name, what, mode, program):
    """The launches of a run, its database, and what it cost. `program`: its words, and how it ended alone."""
    words, alone_ended = program
    name = f"iteration_{name}_{mode}"
    options = ("--replay-mode", mode, *what, "--timeline", "off", *SAMPLES)
    done = bench.dlkprof.profile(name, options, words, timeout=LIMIT).require_success()
    check(done.stdout == alone_ended.stdout, "stdout differs")
    launches = bench.dlkprof.launches(name)
    modes = {launch.text("Replay Mode") for launch in launches}
    check(modes == {mode}, f"{len(launches)} launches, replay mode {modes}")
    costs = [launch.number("cost_ns") for launch in launches]
    check(all(costs), "launches without a cost")
    configurations = len({launch.key for launch in launches})
    return (
        launches,
        bench.dlkprof.captures / f"{name}_dldb.sqlite",
        f"{len(launches)} launches of {configurations} configurations, {launches[0].number('passes'):.0f} passes: "
        f"{sum(costs) / 1e9:.2f} s in all, {sum(costs) / len(costs) / 1e6:.3f} ms a launch; whole process "
        f"{done.seconds:.1f} s, {alone_ended.seconds:.1f} s alone",
    )


def with_caches_alike(pairs):
    return [(ours, theirs) for ours, theirs in pairs if abs((ours.number(L2_HITS) or 0) - (theirs.number(L2_HITS) or 0)) <= ALIKE]
