"""Figures of launch configurations, (mangled kernel, grid, block) -> metric -> mean, whoever measured them."""

import dataclasses
import sqlite3
import statistics

CONFIGURATION = "k.mangled, c.grid_x, c.grid_y, c.grid_z, c.block_x, c.block_y, c.block_z"
JOINED = "JOIN config c ON c.id = m.config JOIN kernel k ON k.id = c.kernel"


@dataclasses.dataclass(frozen=True)
class Configuration:
    """As a launch is to iteration_table: `number` and `columns`."""

    key: tuple
    columns: dict

    def number(self, metric):
        return self.columns.get(metric)


def matched(ours, theirs):
    """Pairs of the same configuration, in an order that is always the same."""
    return [(Configuration(key, ours[key]), Configuration(key, theirs[key])) for key in sorted(ours.keys() & theirs.keys())]


def metrics_in(figures):
    return sorted({metric for held in figures.values() for metric in held})


def complete(figures):
    """Those that have every metric that any of them has."""
    count = len(metrics_in(figures))
    return {key: held for key, held in figures.items() if len(held) == count}


def in_windows(database):
    """Of a metric in two sets (quick comes before the set asked for) the one with more samples."""
    return gather(
        database,
        f"SELECT {CONFIGURATION}, m.config, m.metric, m.mean FROM metrics m {JOINED} "
        "WHERE m.collected_by = 'iteration replay' AND NOT m.unreliable ORDER BY m.samples",
    )


def in_samples(database, least_samples, least_ns):
    """Of samples, a launch, where there are enough and launches are that long in the mean."""
    return gather(
        database,
        f"SELECT {CONFIGURATION}, m.config, m.metric, m.mean FROM sampled_metrics m {JOINED} "
        "JOIN (SELECT config, AVG(end_ns - start_ns) AS ns FROM activity GROUP BY config) a ON a.config = m.config "
        f"WHERE m.samples >= {least_samples} AND a.ns >= {least_ns}",
    )


def gather(database, query):
    """A key that stands for two configurations (they differ in shared memory) is left out. The last of two figures counts."""
    found, configurations = {}, {}
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    for *key, config, metric, mean in connection.execute(query):
        found.setdefault(tuple(key), {})[metric] = mean
        configurations.setdefault(tuple(key), set()).add(config)
    return {key: held for key, held in found.items() if len(configurations[key]) == 1}


def of_launches(launches, metrics):
    """Of a table of launches: the mean of those of a configuration."""
    numbers = {}
    for launch in launches:
        held = numbers.setdefault((launch.mangled, *launch.grid, *launch.block), {})
        for metric in metrics:
            if (value := launch.number(metric)) is not None:
                held.setdefault(metric, []).append(value)
    return {key: {metric: statistics.fmean(values) for metric, values in held.items()} for key, held in numbers.items()}
