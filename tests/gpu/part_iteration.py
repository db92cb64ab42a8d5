"""Iteration replay of cifar10.py: that it disturbs nothing, what it costs, and what it measures beside kernel replay, in runs with as
many metrics each as one pass counts, and beside ncu's application replay, neither of which restores memory through the caches."""

import dataclasses
import statistics

import one_pass
from harness import CheckFailed, Skipped, check, markdown_table

PART = "iteration"

PROGRAM = ("--iters", "300", "--print_every", "20", "--batch_size", "512")
SETS = ("quick", "basic")
INSTRUCTIONS = "smsp__inst_executed.sum"
DURATION = "gpu__time_duration.sum"
L2_HITS = "lts__t_sector_hit_rate.pct"
LONG_NS = 10_000   # shorter kernels differ from launch to launch by more than a few per cent
ALIKE = 5.0        # points of L2 hits, within which two ways of measuring had the same caches
MOST_APART = 0.01  # instructions, at the 90th percentile: passes are of other iterations, and so of other data (see part_shapes)
LIMITS = (0.05, 0.15)  # of the other metrics, apart in the median and at the 90th percentile
LEAST_LAUNCHES = 5     # of a metric, for a 90th percentile to say anything
NEAR_ZERO = 0.02       # of what a figure is a part of: below, how far two lie apart says more in points than as a ratio
MOST_LAUNCHES = 160    # that kernel replay measures: two steps and a little
NCU_ITERATIONS = "40"  # more than the launches compared are from; ncu runs the program once a pass
NCU_LIMIT = 420


def run(bench):
    measured, tables = {}, {}
    try:
        bench.require_torch()
        program = bench.cifar10(*PROGRAM)
        alone = bench.commands.run("iteration_alone", program, timeout=90).require_success()
    except (Skipped, CheckFailed) as reason:
        bench.board.skip(PART, "cifar10.py", reason)
        return
    for name in SETS:
        with bench.board.case(PART, f"--set {name}: cifar10.py prints the same, and is measured") as row:
            measured[name], row.detail = profile(bench, name, ("--set", name), "iteration", program, alone)
    pairs = several = None
    with bench.board.case(PART, "--set basic beside kernel replay, metrics of one pass") as row:
        check("basic" in measured, "not measured")
        reference, one, several = kernel_replay(bench, measured["basic"], program, alone)
        pairs = matched_by_number(measured["basic"], reference)
        tables["kernel replay"] = Table(pairs, one)
        row.detail = tables["kernel replay"].verdict()
    with bench.board.case(PART, "--set basic beside kernel replay, metrics of several passes, caches alike") as row:
        check(several, "not measured")
        tables["kernel replay, several passes"] = Table(pairs, several)
        tables["kernel replay, several passes, caches alike"] = Table(with_caches_alike(pairs), several)
        row.detail = tables["kernel replay, several passes, caches alike"].verdict()
    with bench.board.case(PART, "--set basic beside ncu's application replay") as row:
        check("basic" in measured, "not measured")
        tables["ncu, application replay"] = Table(matched_with_ncu(bench, measured["basic"]))
        row.detail = tables["ncu, application replay"].verdict()
    (bench.out / "iteration_accuracy.md").write_text(markdown(tables))


def same_launches(ours):
    """Options that have kernel replay measure the very launches, and leave the caches as they are."""
    numbers = sorted(int(launch.text("ID")) for launch in ours)
    count = min(numbers[-1] - numbers[0] + 1, MOST_LAUNCHES)
    return "--launch-skip-before-match", str(numbers[0]), "-c", str(count), "--samples", "all", "--cache-control", "none"


def kernel_replay(bench, ours, program, alone):
    """The same launches, the metrics of one pass and the others. A launch whose metrics one pass counts is run once, and finds caches
    as the program left them; the others are of a run in which memory was restored from pass to pass, through the caches."""
    groups, several = one_pass.groups_of(bench.dlkprof.program, metrics_of(ours))
    check(groups and several, f"{len(groups)} groups of metrics that one pass counts, {len(several)} metrics that need several")
    runs = []
    for number, metrics in enumerate((*groups, several)):
        launches, _ = profile(bench, f"group_{number}", ("--metrics", ",".join(metrics)), "kernel", program, alone, *same_launches(ours))
        passes = {launch.number("passes") for launch in launches}
        check(metrics is several or passes == {1}, f"passes of metrics that one is to count: {passes}")
        runs.append(launches)
    return merged(runs), [metric for metrics in groups for metric in metrics], several


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


def profile(bench, name, what, mode, program, alone, *more):
    """The launches of a run, and what it cost, from the capture."""
    name = f"iteration_{name}_{mode}"
    options = ("--replay-mode", mode, *what, "--timeline", "off", *(more or ("--samples", "1")))
    done = bench.dlkprof.profile(name, options, program, timeout=120).require_success()
    check(done.stdout == alone.stdout, "stdout differs")
    launches = bench.dlkprof.launches(name)
    modes = {launch.text("Replay Mode") for launch in launches}
    check(modes == {mode}, f"{len(launches)} launches, replay mode {modes}")
    costs = [launch.number("cost_ns") for launch in launches]
    check(all(costs), "launches without a cost")
    configurations = len({launch.key for launch in launches})
    return launches, (f"{len(launches)} launches of {configurations} configurations, {launches[0].number('passes'):.0f} passes: "
                      f"{sum(costs) / 1e9:.2f} s in all, {sum(costs) / len(costs) / 1e6:.3f} ms a launch; whole process "
                      f"{done.seconds:.1f} s, {alone.seconds:.1f} s alone")


def matched_by_number(ours, reference):
    """Pairs of the same launch, measured both ways."""
    by_number = {launch.text("ID"): launch for launch in reference}
    pairs = [(launch, by_number[launch.text("ID")]) for launch in ours if launch.text("ID") in by_number]
    check(all(one.key == other.key for one, other in pairs), "launches are not numbered alike")
    return pairs


def matched_with_ncu(bench, ours):
    """The same with ncu, of the first launches that follow each other without a gap: it counts from the first it measures."""
    ours = sorted(ours, key=lambda launch: int(launch.text("ID")))
    first = int(ours[0].text("ID"))
    block = [launch for number, launch in enumerate(ours) if int(launch.text("ID")) == first + number]
    selection = ("--replay-mode", "application", "-s", str(first), "-c", str(len(block)))
    program = bench.cifar10("--iters", NCU_ITERATIONS, *PROGRAM[2:])
    theirs = bench.ncu.launches("iteration_application", metrics_of(block), selection, program, timeout=NCU_LIMIT)
    check([launch.key for launch in theirs] == [launch.key for launch in block], f"ncu measured {len(theirs)} launches, others than ours")
    return list(zip(block, theirs))


def metrics_of(launches):
    return [name for name in launches[0].columns if "__" in name]


class Table:
    """How far apart the figures of launches are that were measured both ways, as pairs."""

    def __init__(self, pairs, metrics=None):
        check(pairs, "no launch was measured both ways")
        self.pairs = pairs
        self.long = [pair for pair in pairs if (pair[1].number(DURATION) or 0) >= LONG_NS]
        self.metrics = metrics or metrics_of([ours for ours, _ in pairs])
        self.rows, self.near_zero = {}, {}
        for metric in self.metrics:
            small = [pair for pair in self.long if is_near_zero(metric, pair[1])]
            if values := deviations([pair for pair in self.long if pair not in small], metric):
                self.rows[metric] = values
            if values := points(small, metric):
                self.near_zero[metric] = values

    def figures(self):
        """Of all metrics but instructions."""
        return [value for metric, values in self.rows.items() if metric != INSTRUCTIONS for value in values] or [0]

    def verdict(self):
        apart = deviations(self.pairs, INSTRUCTIONS)
        check(apart, "instructions were not measured both ways")
        equal = sum(value == 0 for value in apart)
        missing = {metric for metric in self.metrics for ours, _ in self.pairs if ours.number(metric) is None}
        check(not missing, f"not measured in some: {', '.join(sorted(missing))}")
        far, few = self.far()
        words = (f"instructions equal in {equal} of {len(apart)} launches, at most {100 * max(apart):.3f} % apart; of {len(self.long)} "
                 f"launches of 10 us and more, {len(self.rows)} metrics, apart in the median and at the 90th percentile: "
                 f"{DURATION} {words_of(self.rows.get(DURATION, [0]))}, figures of all metrics {words_of(self.figures())}; beyond {100 * LIMITS[0]:.0f} and {100 * LIMITS[1]:.0f} %: "
                 f"{', '.join(far) or 'none'}; of fewer than {LEAST_LAUNCHES} launches, and so not judged: {', '.join(few) or 'none'}")
        check(statistics.median(apart) == 0 and percentile(apart, 90) <= MOST_APART and near(self.figures()) and not far, words)
        return words

    def far(self):
        """Metrics beyond the limits, in words; and those beyond that too few launches have to be judged by themselves."""
        far = {metric: values for metric, values in self.rows.items() if not near(values) and metric != INSTRUCTIONS}
        few = [metric for metric, values in far.items() if len(values) < LEAST_LAUNCHES]
        return [f"{metric} {words_of(values)}" for metric, values in far.items() if metric not in few], few


def with_caches_alike(pairs):
    return [(ours, theirs) for ours, theirs in pairs if abs((ours.number(L2_HITS) or 0) - (theirs.number(L2_HITS) or 0)) <= ALIKE]


def whole_of(metric, launch):
    """What a metric is a part of, where there is such a thing."""
    if ".pct" in metric:
        return 100.0
    if "_stalled_" in metric:
        return launch.number("smsp__average_warp_latency_per_inst_issued.ratio")
    if metric.startswith("dram__bytes"):
        return launch.number("lts__t_bytes.sum.per_second" if metric.endswith("per_second") else "lts__t_bytes.sum")
    if metric.startswith("l1tex__data_bank_conflicts"):
        return launch.number("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum")
    return None


def is_near_zero(metric, launch):
    whole, value = whole_of(metric, launch), launch.number(metric)
    return bool(whole) and value is not None and value < NEAR_ZERO * whole


def points(pairs, metric):
    """|a - b| in per cent of what they are parts of, where both were measured."""
    return [100 * abs(ours.number(metric) - theirs.number(metric)) / whole_of(metric, theirs) for ours, theirs in pairs
            if ours.number(metric) is not None]


def markdown(tables):
    """A row a metric: deviations of long launches from each of the references."""
    metrics = sorted({metric for table in tables.values() for metric in (*table.rows, *table.near_zero)})
    headings = ("metric", *(f"{name}: {part}" for name in tables for part in ("n", "median, 90th percentile", "near zero")))
    rows = [(f"`{metric}`", *(cell for table in tables.values() for cell in cells(table, metric))) for metric in metrics]
    return markdown_table(headings, rows) + "\n"


def cells(table, metric):
    values, small = table.rows.get(metric, []), table.near_zero.get(metric, [])
    apart = f"{words_of(values)}{'' if near(values) or metric == INSTRUCTIONS else ' (far)'}" if values else ""
    return len(values), apart, f"{len(small)}, at most {max(small):.2f} points" if small else ""


def near(values):
    return statistics.median(values) <= LIMITS[0] and percentile(values, 90) <= LIMITS[1]


def words_of(values):
    return f"{100 * statistics.median(values):.2f} % and {100 * percentile(values, 90):.2f} %"


def deviations(pairs, metric):
    """|a - b| / |b|, where both were measured and b is not 0."""
    numbers = [(ours.number(metric), theirs.number(metric)) for ours, theirs in pairs]
    return [abs(a - b) / abs(b) for a, b in numbers if a is not None and b]


def percentile(values, share):
    """Nearest rank."""
    ordered = sorted(values)
    return ordered[max(0, -(-share * len(ordered) // 100) - 1)]
