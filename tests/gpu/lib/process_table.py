"""Figures of launch configurations from several processes of each of two ways of measuring: how far the means of the processes are
apart, and how much of that is more than what processes of the same way differ by."""

import dataclasses
import math
import statistics

from configuration_figures import Configuration
from harness import check, markdown_table
from iteration_table import NAME_LENGTH, Table, near, words_of

LEAST_PROCESSES = 3  # that have a configuration, for their spread to say anything
STANDARD_ERRORS = 2  # of a difference of means, which chance alone exceeds in one of twenty


@dataclasses.dataclass(frozen=True)
class Mean:
    value: float
    spread: float  # standard deviation of processes
    n: int

    @property
    def variance(self):
        return self.spread**2 / self.n


def means(processes, metrics):
    """Configuration -> metric -> Mean. `processes`: configuration -> metric -> mean of a process, of each of them."""
    found = {}
    for key in set().union(*processes):
        held = [process[key] for process in processes if all(metric in process.get(key, {}) for metric in metrics)]
        if len(held) >= LEAST_PROCESSES:
            columns = {metric: [one[metric] for one in held] for metric in metrics}
            found[key] = {
                name: Mean(statistics.fmean(values), statistics.stdev(values), len(held)) for name, values in columns.items()
            }
    return found


def values_of(held):
    return {metric: mean.value for metric, mean in held.items()}


class ProcessTable:
    """`ours`, `reference`: what `means` returns. `wholes`: metrics that `ours` has besides, by which is told which configurations are
    long, and which figures near zero (see iteration_table)."""

    def __init__(self, ours, reference, metrics, wholes):
        self.by_key = {key: (ours[key], reference[key]) for key in sorted(ours.keys() & reference.keys())}
        self.table = Table([self._pair(key, wholes) for key in self.by_key], metrics)
        self.rows = {
            metric: [self._apart(*self._means(pair, metric)) for pair in large] for metric, large in self.table.large.items()
        }

    def _pair(self, key, wholes):
        ours, reference = (values_of(held) for held in self.by_key[key])
        return Configuration(key, ours), Configuration(key, {**reference, **{whole: ours[whole] for whole in wholes}})

    def _means(self, pair, metric):
        return tuple(held[metric] for held in self.by_key[pair[0].key])

    @staticmethod
    def _apart(ours, reference):
        """(apart, what of it is more than the spread of processes explains), in parts of the reference."""
        apart = abs(ours.value - reference.value)
        error = STANDARD_ERRORS * math.sqrt(ours.variance + reference.variance)
        return apart / reference.value, max(0.0, apart - error) / reference.value

    def verdict(self):
        check(self.rows, "nothing of 10 us and more was measured both ways")
        words = f"means apart in the median and at the 90th percentile: {self.words()}"
        check(all(near([more for _, more in values]) for values in self.rows.values()), words)
        return words

    def words(self):
        return "; ".join(
            f"{metric} {words_of([apart for apart, _ in values])}, "
            f"{words_of([more for _, more in values])} more than processes differ by (n = {len(values)})"
            for metric, values in self.rows.items()
        )

    def markdown(self):
        headings = (
            "metric",
            "n",
            "apart",
            "more than processes differ by",
            "standard deviation of processes here",
            "of the reference",
        )
        rows = [
            (
                f"`{metric}`",
                len(values),
                words_of([value for value, _ in values]),
                words_of([value for _, value in values]),
                *(self._spread(metric, way) for way in (0, 1)),
            )
            for metric, values in self.rows.items()
        ]
        return f"{markdown_table(headings, rows)}\n\n{self._every_configuration()}\n"

    def _spread(self, metric, way):
        found = [self._means(pair, metric)[way] for pair in self.table.large[metric]]
        return words_of([mean.spread / mean.value for mean in found if mean.value])

    def _every_configuration(self):
        """The farthest first."""
        rows = []
        for metric, large in self.table.large.items():
            for pair in sorted(large, key=lambda pair: self._apart(*self._means(pair, metric)), reverse=True):
                cells = (f"{mean.value:.5g} ± {mean.spread:.2g} ({mean.n})" for mean in self._means(pair, metric))
                rows.append((f"`{metric}`", *name_cells(pair[0].key), *cells))
        return markdown_table(("metric", "kernel", "grid and block", "here", "of the reference"), rows)


def name_cells(key):
    kernel, *shape = key
    return f"`{kernel[:NAME_LENGTH]}`", "x".join(map(str, shape))
