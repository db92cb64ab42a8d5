"""Figures of launch configurations, (mangled kernel, grid, block) -> metric -> mean, whoever measured them."""

import sqlite3
import statistics

CONFIGURATION = "k.mangled, c.grid_x, c.grid_y, c.grid_z, c.block_x, c.block_y, c.block_z"
JOINED = "JOIN config c ON c.id = m.config JOIN kernel k ON k.id = c.kernel"


def in_windows(database):
    """Of what windows measured."""
    return gather(database, f"SELECT {CONFIGURATION}, m.metric, m.mean FROM metrics m {JOINED} "
                            "WHERE m.collected_by = 'iteration replay' AND NOT m.unreliable")


def in_samples(database, least_samples, least_ns):
    """Of samples, a launch, where there are enough and launches are that long in the mean."""
    return gather(database, f"SELECT {CONFIGURATION}, m.metric, m.mean FROM sampled_metrics m {JOINED} "
                            "JOIN (SELECT config, AVG(end_ns - start_ns) AS ns FROM activity GROUP BY config) a ON a.config = m.config "
                            f"WHERE m.samples >= {least_samples} AND a.ns >= {least_ns}")


def gather(database, query):
    """A key that stands for two configurations (they differ in shared memory) is left out."""
    found, twice = {}, set()
    for *key, metric, mean in sqlite3.connect(database).execute(query):
        held = found.setdefault(tuple(key), {})
        if metric in held:
            twice.add(tuple(key))
        held[metric] = mean
    return {key: held for key, held in found.items() if key not in twice}


def of_launches(launches, metrics):
    """Of a table of launches: the mean of those of a configuration."""
    numbers = {}
    for launch in launches:
        held = numbers.setdefault((launch.mangled, *launch.grid, *launch.block), {})
        for metric in metrics:
            if (value := launch.number(metric)) is not None:
                held.setdefault(metric, []).append(value)
    return {key: {metric: statistics.fmean(values) for metric, values in held.items()} for key, held in numbers.items()}
