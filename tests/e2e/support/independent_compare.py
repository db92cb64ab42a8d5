"""The figures of `dlkprof compare` once more, from the tables of databases: SQL and plain sums, sharing no code with it.

Theoretical occupancy is computed from the limits of compute capability 9.0 as NVIDIA's tuning guide gives them, which is
what the captures that ship were recorded on.
"""

import collections
import functools
import math
import sqlite3
import statistics

from independent import union
from independent_steady import steady_range

OCCUPANCY = "sm__warps_active.avg.pct_of_peak_sustained_active"
TENSOR_PIPE = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"
DRAM_RATE = "dram__bytes.sum.per_second"
DRAM_THROUGHPUT = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"

WORKS = """
SELECT iteration, op_name, direction, op_type, kind, kernel_name, long_kernel_name, k.device, gpu_start_ns, gpu_ns, uses_tc,
       k.grid_x * k.grid_y * k.grid_z, config, in_graph, api_start_ns
FROM kernels k
"""
Work = collections.namedtuple(
    "Work", "iteration name direction type kind kernel long_kernel device start gpu_ns uses_tc blocks config in_graph call"
)


def quartiles(values):
    """Lower, median, upper, interpolated between order statistics (numpy's default)."""
    if len(values) == 1:
        return values * 3
    return statistics.quantiles(values, n=4, method="inclusive")


def rounded_up(value, step):
    return -(-value // step) * step


def blocks_an_sm(threads, registers, shared, reserved):
    """Compute capability 9.0: 64 warps, 32 blocks, 64 K registers in four parts that are given out by 256, shared memory of
    228 KB of which 1 KB a block is reserved, given out by 128 bytes."""
    warps = rounded_up(threads, 32) // 32
    warps_by_registers = 4 * (16384 // rounded_up(max(registers, 16) * 32, 256))
    return min(32, 64 // warps, warps_by_registers // warps, 233472 // rounded_up(shared + reserved, 128))


class Run:
    def __init__(self, path):
        self.database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        starts = [row[0] for row in self.database.execute("SELECT start_ns FROM iterations ORDER BY iteration")]
        self.first, self.last = steady_range(starts[1:])
        self.bounds = starts[self.first : self.last + 2]
        self.count = len(self.bounds) - 1
        works = [Work(*row) for row in self.database.execute(WORKS)]
        self.works = [work for work in works if self.first <= work.iteration <= self.last]
        self.all_works = works
        self.kernels = [work for work in self.works if work.kind == "kernel"]
        batch = self.database.execute("SELECT value FROM fact WHERE name = 'batch_size'").fetchone()
        self.batch_size = int(batch[0]) if batch else None
        self.sms, self.reserved = self.database.execute("SELECT sm_count, shared_reserved_per_block FROM device").fetchone()
        self.waves = self._waves()

    def close(self):
        self.database.close()

    def _waves(self):
        rows = self.database.execute(
            "SELECT c.id, grid_x * grid_y * grid_z, block_x * block_y * block_z, registers_per_thread, static_shared_bytes"
            " + dynamic_shared_bytes FROM config c JOIN function f ON f.process = c.process AND f.number = c.function"
        )
        return {
            config: blocks / (self.sms * blocks_an_sm(threads, registers, shared, self.reserved))
            for config, blocks, threads, registers, shared in rows
        }

    def iteration_ns(self):
        return [end - start for start, end in zip(self.bounds, self.bounds[1:])]

    def by_iteration(self, works, value):
        sums = [0] * self.count
        for work in works:
            sums[work.iteration - self.first] += value(work)
        return sums

    def gpu_ns(self, works=None):
        return self.by_iteration(self.works if works is None else works, lambda work: work.gpu_ns or 0)

    def launches(self):
        single = self.by_iteration(self.kernels, lambda work: not work.in_graph)
        of_graphs = {}
        for work in sorted((work for work in self.works if work.in_graph and work.call), key=lambda work: work.start or 0):
            of_graphs.setdefault(work.call, work.iteration)
        for iteration in of_graphs.values():
            single[iteration - self.first] += 1
        return single

    def utilization(self):
        shares = []
        for start, end in zip(self.bounds, self.bounds[1:]):
            spans = ((max(w.start, start), min(w.start + w.gpu_ns, end)) for w in self.all_works if w.start is not None)
            shares.append(100 * union(span for span in spans if span[0] < span[1]) / (end - start))
        return shares

    def tensor_core_share(self):
        """Of all GPU time, copies and sets included."""
        return 100 * sum(w.gpu_ns or 0 for w in self.kernels if w.uses_tc) / sum(w.gpu_ns or 0 for w in self.works)

    def weighted(self, works, value):
        """A mean by GPU time, over works that it is known of; None where there are none."""
        pairs = [(value(work), work.gpu_ns or 0) for work in works]
        pairs = [(found, weight) for found, weight in pairs if found is not None]
        total = sum(weight for _, weight in pairs)
        return sum(found * weight for found, weight in pairs) / total if total else None

    def idle_sms(self, works):
        return self.weighted([w for w in works if w.config is not None], lambda w: 100 * max(1 - w.blocks / self.sms, 0))

    def mean_waves(self, works):
        return self.weighted(works, lambda work: self.waves.get(work.config))

    def below_one_wave(self, works):
        return self.weighted(works, lambda w: 100 * (self.waves[w.config] < 1) if w.config in self.waves else None)

    @functools.cached_property
    def measured(self):
        """By metric and configuration the mean over the launches measured."""
        rows = self.database.execute(
            "SELECT name, config, avg(value) FROM measured JOIN metric ON metric.id = metric GROUP BY metric, config"
        )
        found = collections.defaultdict(dict)
        for metric, config, value in rows:
            found[metric][config] = value
        return found

    def counter(self, works, metric):
        return self.weighted(works, lambda work: self.measured[metric].get(work.config))

    def measured_share(self, works):
        """Of the GPU time of kernels."""
        known = {config for means in self.measured.values() for config in means}
        covered = sum(work.gpu_ns or 0 for work in works if work.config in known)
        return 100 * covered / sum(work.gpu_ns or 0 for work in works if work.kind == "kernel") if covered else None

    def by_op(self):
        found = collections.defaultdict(list)
        for work in self.works:
            found[work.name, work.direction, work.type].append(work)
        return dict(found)

    def is_regular(self, works):
        return 2 * len({work.iteration for work in works}) >= self.count


def mann_whitney(a, b):
    """Two-sided p by counting pairs."""
    if min(len(a), len(b)) < 8:
        return None
    u = sum((x > y) + (x == y) / 2 for x in a for y in b)
    n, m = len(a), len(b)
    ties = sum(t**3 - t for t in collections.Counter([*a, *b]).values())
    variance = n * m / 12 * (n + m + 1 - ties / ((n + m) * (n + m - 1)))
    if variance <= 0:
        return 1.0
    return math.erfc(max(abs(u - n * m / 2) - 0.5, 0) / math.sqrt(2 * variance))


def corrected(ps):
    """Holm's: by key the p's, each as large as is due where so many are looked at."""
    found, largest = {}, 0
    for position, (key, p) in enumerate(sorted(ps.items(), key=lambda item: item[1])):
        largest = max(largest, p * (len(ps) - position))
        found[key] = min(largest, 1.0)
    return found
