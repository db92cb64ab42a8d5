"""How far apart figures of the same launches are that were measured in two ways, by metric and of all together."""

import statistics

from configuration_figures import matched
from harness import check, markdown_table

INSTRUCTIONS = "smsp__inst_executed.sum"
DURATION = "gpu__time_duration.sum"
LONG_NS = 10_000  # shorter kernels differ from launch to launch by more than a few per cent
MOST_APART = 0.01  # instructions, at the 90th percentile: passes are of other iterations, and so of other data (see part_shapes)
LIMITS = (0.05, 0.15)  # of the other metrics, apart in the median and at the 90th percentile
CONTROL_TIMES = 2  # as far apart as the reference's own may be what is laid to the kernel
LEAST_LAUNCHES = 5  # of a metric, for a 90th percentile to say anything
NAME_LENGTH = 80  # of a kernel's mangled name, in tables
FARTHEST = 3  # configurations of a metric beyond the limits, which tables name
NEAR_ZERO = 0.02  # of what a figure is a part of: below, how far two lie apart says more in points than as a ratio


def matched_by_number(ours, reference):
    """Pairs of the same launch, measured both ways."""
    by_number = {launch.text("ID"): launch for launch in reference}
    pairs = [(launch, by_number[launch.text("ID")]) for launch in ours if launch.text("ID") in by_number]
    check(all(one.key == other.key for one, other in pairs), "launches are not numbered alike")
    return pairs


def metrics_of(launches):
    return [name for name in launches[0].columns if "__" in name]


class Table:
    """How far apart the figures of launches are that were measured both ways, as pairs.

    `control`: a table of how far apart the reference's own figures of these launches are when it measures them twice. A metric is
    not judged by itself where those are beyond the limits too, and half as far apart at least: then it is the kernel that does not
    repeat. Nor is one that few launches have, nor those of `judged_elsewhere`.
    """

    def __init__(self, pairs, metrics=None, control=None, judged_elsewhere=()):
        check(pairs, "no launch was measured both ways")
        self.control = control
        self.judged_elsewhere = judged_elsewhere
        self.pairs = pairs
        self.long = [pair for pair in pairs if (pair[1].number(DURATION) or 0) >= LONG_NS]
        self.metrics = metrics or metrics_of([ours for ours, _ in pairs])
        self.large, self.near_zero = {}, {}
        for metric in self.metrics:
            small = [pair for pair in self.long if is_near_zero(metric, pair[1])]
            large = [pair for pair in self.long if pair not in small and deviations([pair], metric)]
            if large:
                self.large[metric] = large
            if values := points(small, metric):
                self.near_zero[metric] = values
        self.rows = {metric: deviations(large, metric) for metric, large in self.large.items()}

    def figures(self):
        """Of all metrics but instructions."""
        return [value for metric, values in self.rows.items() if metric != INSTRUCTIONS for value in values]

    def verdict(self):
        apart = deviations(self.pairs, INSTRUCTIONS)
        check(apart, "instructions were not measured both ways")
        equal = sum(value == 0 for value in apart)
        missing = {metric for metric in self.metrics for ours, _ in self.pairs if ours.number(metric) is None}
        check(not missing, f"not measured in some: {', '.join(sorted(missing))}")
        check(self.figures(), "nothing of 10 us and more was measured both ways")
        far = self.far()
        words = (
            f"instructions equal in {equal} of {len(apart)} comparisons, at most {100 * max(apart):.3f} % apart; of {len(self.long)} "
            f"comparisons of launches of 10 us and more, {len(self.rows)} metrics, apart in the median and at the 90th percentile: "
            f"{f'{DURATION} {words_of(self.rows[DURATION])}, ' if DURATION in self.rows else ''}figures of all metrics {words_of(self.figures())}; "
            f"beyond {100 * LIMITS[0]:.0f} and {100 * LIMITS[1]:.0f} %: {self.listed(far['judged'])}; not judged by themselves, "
            f"of fewer than {LEAST_LAUNCHES} launches: {self.listed(far['few'])}; as the reference does not repeat them: "
            f"{self.listed(far['unsteady'])}; in another part: {self.listed(far['elsewhere'])}"
        )
        check(
            statistics.median(apart) == 0 and percentile(apart, 90) <= MOST_APART and near(self.figures()) and not far["judged"],
            words,
        )
        return words

    def far(self):
        """Metrics beyond the limits, by what becomes of them."""
        far = {"judged": [], "few": [], "unsteady": [], "elsewhere": []}
        for metric, values in self.rows.items():
            if metric != INSTRUCTIONS and not near(values):
                far[self.kind_of(metric, values)].append(metric)
        return far

    def kind_of(self, metric, values):
        if metric in self.judged_elsewhere:
            return "elsewhere"
        if len(values) < LEAST_LAUNCHES:
            return "few"
        return "unsteady" if self.control and self.control.is_as_far(metric, values) else "judged"

    def is_as_far(self, metric, values):
        own = self.rows.get(metric, [0])
        return len(own) >= LEAST_LAUNCHES and not near(own) and percentile(values, 90) <= CONTROL_TIMES * percentile(own, 90)

    def listed(self, metrics):
        control = self.control.rows if self.control else {}
        return (
            ", ".join(
                f"{metric} {words_of(self.rows[metric])}{f' (by itself, twice: {words_of(control[metric])})' if metric in control else ''}"
                for metric in metrics
            )
            or "none"
        )


def beside(name, pairs, measure_again, metrics=None, judged_elsewhere=()):
    """Tables by name: of configurations beside a reference, and of what is beyond the limits how far the reference is from itself,
    which `measure_again(metrics)`, configuration -> metric -> mean, has measure once more."""
    table = Table(pairs, metrics, judged_elsewhere=judged_elsewhere)
    if not (far := table.far()["judged"]):
        return {name: table}
    first = {theirs.key: theirs.columns for _, theirs in pairs}
    second = measure_again(far)
    second = {key: {**first[key], **second[key]} for key in first.keys() & second.keys()}
    control = Table(matched(second, first), far)
    return {name: Table(pairs, metrics, control, judged_elsewhere), f"{name} twice": control}


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
    return [
        100 * abs(ours.number(metric) - theirs.number(metric)) / whole_of(metric, theirs)
        for ours, theirs in pairs
        if ours.number(metric) is not None
    ]


def markdown(tables):
    """Tables by name, as `beside` returns them; of the first also what is farthest apart."""
    first = next(iter(tables.values()))
    return "\n".join(filter(None, (markdown_by_metric(tables), markdown_of_farthest(first))))


def markdown_by_metric(tables):
    """A row a metric: deviations of long launches from each of the references."""
    metrics = sorted({metric for table in tables.values() for metric in (*table.rows, *table.near_zero)})
    headings = ("metric", *(f"{name}: {part}" for name in tables for part in ("n", "median, 90th percentile", "near zero")))
    rows = [(f"`{metric}`", *(cell for table in tables.values() for cell in cells(table, metric))) for metric in metrics]
    return markdown_table(headings, rows) + "\n"


def markdown_of_farthest(table):
    """Of what is beyond the limits the configurations that are farthest apart, to see what they have in common. Empty where nothing is."""
    again = {theirs.key: second for second, theirs in table.control.pairs} if table.control else {}
    rows = []
    for metric in sorted(metric for metrics in table.far().values() for metric in metrics):
        by_distance = sorted(table.large[metric], key=lambda pair: deviations([pair], metric), reverse=True)
        for ours, theirs in by_distance[:FARTHEST]:
            shape = "x".join(str(length) for length in theirs.key[1:])
            second = again[theirs.key].number(metric) if theirs.key in again else None
            numbers = (theirs.number(DURATION), ours.number(metric), theirs.number(metric), second)
            kernel = f"`{theirs.key[0][:NAME_LENGTH]}`, {shape}"
            rows.append((f"`{metric}`", kernel, *("" if number is None else f"{number:.5g}" for number in numbers)))
    headings = ("farthest apart", "kernel, grid and block", "duration (ns)", "here", "reference", "reference again")
    return markdown_table(headings, rows) + "\n" if rows else ""


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
