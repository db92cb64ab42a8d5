"""Iteration replay of cifar10.py: that it disturbs nothing, what it costs, and what it measures beside kernel replay, in runs with as
many metrics each as one pass counts, in which nothing is restored through the caches. All is run twice: what kernel replay itself
does not repeat is told from what is measured otherwise."""

import dataclasses

import one_pass
from harness import CheckFailed, Skipped, check
from iteration_table import Table, markdown, matched_by_number, metrics_of

PART = "iteration"

PROGRAM = ("--iters", "300", "--print_every", "20", "--batch_size", "512")
REPLAYED = ("--iters", "60", *PROGRAM[2:])  # the launches that are compared are of its first 40 iterations
RUNS = (("quick", ""), ("basic", ""), ("basic", " again"))
L2_HITS = "lts__t_sector_hit_rate.pct"
ALIKE = 5.0  # points of L2 hits, within which two ways of measuring had the same caches
MOST_LAUNCHES = 160  # that kernel replay measures: two steps and a little
LIMIT = 120


def run(bench):
    basic, replayed = [], None
    try:
        bench.require_torch()
        long, short = (alone(bench, *words) for words in (("long", PROGRAM), ("short", REPLAYED)))
    except (Skipped, CheckFailed) as reason:
        bench.board.skip(PART, "cifar10.py", reason)
        return
    for name, again in RUNS:
        with bench.board.case(PART, f"--set {name}{again}: cifar10.py prints the same, and is measured") as row:
            launches, row.detail = profile(bench, name + again.replace(" ", "_"), ("--set", name), "iteration", long)
            basic += [launches] if name == "basic" else []
    with bench.board.case(PART, "the same launches under kernel replay, twice") as row:
        check(len(basic) == 2, "not measured twice under iteration replay")
        replayed = Replayed(bench, basic[0], short)
        row.detail = replayed.words()
    if replayed:
        beside_kernel_replay(bench, basic, replayed)


def beside_kernel_replay(bench, basic, replayed):
    """One run beside the first of kernel replay, the other beside its second."""
    pages = []
    all_pairs = [pair for ours, theirs in zip(basic, replayed.runs) for pair in matched_by_number(ours, theirs)]

    def compare(pairs, metrics):
        numbers = {theirs.text("ID") for _, theirs in pairs}
        control = Table([pair for pair in matched_by_number(*replayed.runs) if pair[1].text("ID") in numbers], metrics)
        table = Table(pairs, metrics, control)
        pages.append(markdown({"iteration and kernel replay": table, "kernel replay twice": control}))
        return table.verdict()

    with bench.board.case(PART, "--set basic beside kernel replay, metrics of one pass") as row:
        row.detail = compare(all_pairs, replayed.one)
    with bench.board.case(PART, "--set basic beside kernel replay, metrics of several passes, caches alike") as row:
        row.detail = compare(with_caches_alike(all_pairs), replayed.several)
    (bench.out / "iteration_accuracy.md").write_text("\n".join(pages))


def alone(bench, name, words):
    program = bench.cifar10(*words)
    return program, bench.commands.run(f"iteration_{name}_alone", program, timeout=LIMIT).require_success()


class Replayed:
    """The same launches under kernel replay, the metrics of one pass and the others. A launch whose metrics one pass counts is run
    once, and finds caches as the program left them; the others are of a run in which memory was restored from pass to pass, through
    the caches."""

    def __init__(self, bench, ours, program):
        groups, self.several = one_pass.groups_of(bench.dlkprof.program, metrics_of(ours))
        check(
            groups and self.several,
            f"{len(groups)} groups of metrics that one pass counts, {len(self.several)} metrics that need several",
        )
        self.groups, self.one = len(groups), [metric for metrics in groups for metric in metrics]
        self.runs = [self._run(bench, name, groups, same_launches(ours), program) for name in ("first", "second")]

    def words(self):
        return (
            f"{len(self.runs[0])} and {len(self.runs[1])} launches; {len(self.one)} metrics in {self.groups} groups that one pass counts, "
            f"{len(self.several)} that need several"
        )

    def _run(self, bench, name, groups, launches, program):
        runs = []  # of the program
        for number, metrics in enumerate((*groups, self.several)):
            measured, _ = profile(bench, f"{name}_{number}", ("--metrics", ",".join(metrics)), "kernel", program, *launches)
            passes = {launch.number("passes") for launch in measured}
            check(metrics is self.several or passes == {1}, f"passes of metrics that one is to count: {passes}")
            runs.append(measured)
        return merged(runs)


def same_launches(ours):
    """Options that have kernel replay measure the very launches, and leave the caches as they are."""
    numbers = sorted(int(launch.text("ID")) for launch in ours)
    count = min(numbers[-1] - numbers[0] + 1, MOST_LAUNCHES)
    return "--launch-skip-before-match", str(numbers[0]), "-c", str(count), "--samples", "all", "--cache-control", "none"


def merged(runs):
    """The launches that all runs have, with the columns of all."""
    by_number = [{launch.text("ID"): launch for launch in launches} for launches in runs]
    launches = []
    for number, first in by_number[0].items():
        same = [numbered[number] for numbered in by_number if number in numbered]
        check(all(launch.key == first.key for launch in same), "launches are not numbered alike from run to run")
        if len(same) == len(runs):
            columns = {name: text for launch in same for name, text in launch.columns.items()}
            launches.append(dataclasses.replace(first, columns=columns))
    return launches


def profile(bench, name, what, mode, program, *more):
    """The launches of a run, and what it cost, from the capture. `program`: its words, and how it ended alone."""
    words, alone_ended = program
    name = f"iteration_{name}_{mode}"
    options = ("--replay-mode", mode, *what, "--timeline", "off", *(more or ("--samples", "1")))
    done = bench.dlkprof.profile(name, options, words, timeout=LIMIT).require_success()
    check(done.stdout == alone_ended.stdout, "stdout differs")
    launches = bench.dlkprof.launches(name)
    modes = {launch.text("Replay Mode") for launch in launches}
    check(modes == {mode}, f"{len(launches)} launches, replay mode {modes}")
    costs = [launch.number("cost_ns") for launch in launches]
    check(all(costs), "launches without a cost")
    configurations = len({launch.key for launch in launches})
    return launches, (
        f"{len(launches)} launches of {configurations} configurations, {launches[0].number('passes'):.0f} passes: "
        f"{sum(costs) / 1e9:.2f} s in all, {sum(costs) / len(costs) / 1e6:.3f} ms a launch; whole process "
        f"{done.seconds:.1f} s, {alone_ended.seconds:.1f} s alone"
    )


def with_caches_alike(pairs):
    return [(ours, theirs) for ours, theirs in pairs if abs((ours.number(L2_HITS) or 0) - (theirs.number(L2_HITS) or 0)) <= ALIKE]
