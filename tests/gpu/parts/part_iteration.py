"""Iteration replay of cifar10.py: that it disturbs nothing, what it costs, and what it measures beside kernel replay, in runs with as
many metrics each as one pass counts, in which nothing is restored through the caches.

Each pass of a window is of another launch: means of a launch configuration are compared."""

import one_pass
from configuration_figures import complete, matched, metrics_in, of_launches
from harness import CheckFailed, Skipped, check
from iteration_table import beside, markdown, metrics_of
from launch_tables import cost_words

PART = "iteration"

PROGRAM = ("--iters", "300", "--print_every", "20", "--batch_size", "512")
SHORT_PROGRAM = ("--iters", "20", *PROGRAM[2:])  # enough for the launches that kernel replay measures
SETS = ("quick", "basic")
SAMPLES = ("--samples", "5")
# Some six iterations, in which libraries and caches warm up: at a kernel's first launch its instructions may be in none.
WARM_UP = ("--launch-skip-before-match", "500")
CACHES = ("--cache-control", "none")  # of kernel replay: as the program leaves them, as in windows
L2_HITS = "lts__t_sector_hit_rate.pct"
ALIKE = 5.0  # points of L2 hits, within which two ways of measuring had the same caches
LIMIT = 120


def run(bench):
    measured, kernel_replay = {}, None
    try:
        bench.require_torch()
        long, short = (alone(bench, *words) for words in (("long", PROGRAM), ("short", SHORT_PROGRAM)))
    except (Skipped, CheckFailed) as reason:
        bench.board.skip(PART, "cifar10.py", reason)
        return
    for name in SETS:
        with bench.board.case(PART, f"--set {name}: cifar10.py prints the same, and is measured") as row:
            measured[name], row.detail = profile(bench, name, ("--set", name), "iteration", long)
    with bench.board.case(PART, "the same configurations under kernel replay") as row:
        check("basic" in measured, "not measured under iteration replay")
        ours = complete(figures_of(measured["basic"]))
        kernel_replay = KernelReplay(bench, metrics_in(ours), short)
        row.detail = kernel_replay.words()
    if kernel_replay:
        beside_kernel_replay(bench, ours, kernel_replay)


def beside_kernel_replay(bench, ours, kernel_replay):
    pages = []

    def compare(pairs, metrics):
        tables = beside("kernel replay", pairs, kernel_replay.again, metrics)
        pages.append(markdown(tables))
        return tables["kernel replay"].verdict()

    pairs = matched(ours, kernel_replay.figures)
    with bench.board.case(PART, "--set basic beside kernel replay, metrics of one pass") as row:
        row.detail = compare(pairs, kernel_replay.one)
    with bench.board.case(PART, "--set basic beside kernel replay, metrics of several passes, caches alike") as row:
        row.detail = compare(with_caches_alike(pairs), kernel_replay.several)
    (bench.out / "iteration_accuracy.md").write_text("\n".join(pages))


def alone(bench, name, words):
    program = bench.cifar10(*words)
    return program, bench.commands.run(f"iteration_{name}_alone", program, timeout=LIMIT).require_success()


class KernelReplay:
    """The same configurations under kernel replay, the metrics of one pass and the others. A launch whose metrics one pass counts is
    run once, and finds caches as the program left them; the others are of a run in which memory was restored from pass to pass,
    through the caches."""

    def __init__(self, bench, metrics, program):
        self._bench, self._program = bench, program
        self._groups, self.several = one_pass.groups_of(bench.dlkprof.program, metrics)
        check(
            self._groups and self.several,
            f"{len(self._groups)} groups of metrics that one pass counts, {len(self.several)} metrics that need several",
        )
        self.one = [metric for group in self._groups for metric in group]
        self.figures = self._measure("first", metrics)

    def words(self):
        return (
            f"{len(self.figures)} configurations; {len(self.one)} metrics in {len(self._groups)} groups that one pass counts, "
            f"{len(self.several)} that need several"
        )

    def again(self, metrics):
        return self._measure("second", metrics)

    def _measure(self, name, metrics):
        runs = []  # of the program
        for number, group in enumerate((*self._groups, self.several)):
            if wanted := [metric for metric in group if metric in metrics]:
                runs.append(self._run(f"{name}_{number}", wanted, in_one_pass=group is not self.several))
        return merged(runs)

    def _run(self, name, metrics, in_one_pass):
        launches, _ = profile(self._bench, name, ("--metrics", ",".join(metrics), *CACHES), "kernel", self._program)
        passes = {launch.number("passes") for launch in launches}
        check(not in_one_pass or passes == {1}, f"passes of metrics that one is to count: {passes}")
        return figures_of(launches)


def merged(runs):
    """The configurations that all runs have, with the metrics of all."""
    common = set.intersection(*(set(figures) for figures in runs))
    return {key: {metric: mean for figures in runs for metric, mean in figures[key].items()} for key in common}


def figures_of(launches):
    """Without a timeline no database is written: means of what the capture has."""
    return of_launches(launches, metrics_of(launches))


def profile(bench, name, what, mode, program):
    """The launches of a run, and what it cost. `program`: its words, and how it ended alone."""
    words, alone_ended = program
    name = f"iteration_{name}_{mode}"
    options = ("--replay-mode", mode, *what, "--timeline", "off", *SAMPLES, *WARM_UP)
    done = bench.dlkprof.profile(name, options, words, timeout=LIMIT).require_success()
    check(done.stdout == alone_ended.stdout, "stdout differs")
    launches = bench.dlkprof.launches(name)
    modes = {launch.text("Replay Mode") for launch in launches}
    check(modes == {mode}, f"{len(launches)} launches, replay mode {modes}")
    return launches, cost_words(launches, done.seconds, alone_ended.seconds)


def with_caches_alike(pairs):
    return [(ours, theirs) for ours, theirs in pairs if abs((ours.number(L2_HITS) or 0) - (theirs.number(L2_HITS) or 0)) <= ALIKE]
