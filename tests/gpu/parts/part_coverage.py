"""How much of programs as users write them the default options measure, what is added to their time, and what is said of the rest.

The GPU time is that of kernels in steady iterations and outside graphs, or of all configurations that are launched often."""

import collections
import dataclasses
import sqlite3
import statistics
import sys

from harness import check, is_asked_for, spread
from tools import PROGRAMS

PART = "coverage"

LIMIT = 200
PAIRS = 3  # of runs alone and profiled, in turns, where the time is judged: imports alone take a second more or less
OFTEN = 20  # launches of a configuration that must be measured, where the same ones do not come in every step


@dataclasses.dataclass
class Case:
    name: str
    words: tuple
    share: float = 99.0  # per cent of the GPU time that is to be measured: of all, or of configurations launched often
    often: bool = False
    most_added: float | None = None  # seconds
    options: tuple = ()


CASES = (
    Case("cifar10_b512", ("cifar10", "--batch_size", "512", "--iters", "40"), most_added=3),
    Case("flax_cnn", ("flax_cnn.py", "400"), share=95),
    Case("threads", ("threads.py", "200"), often=True),
    Case("cupy_blur", ("cupy_blur.py", "60"), often=True),
    Case("spawned", ("spawned.py", "300"), often=True),
    Case("resnet50", ("resnet50.py", "60"), most_added=8),
    Case("resnet50_benchmark", ("resnet50.py", "60", "--benchmark")),
    Case("llama", ("llama.py", "60"), most_added=8),
    Case("llama_compiled", ("llama.py", "60", "--compile")),
    Case("generate", ("llama_generate.py", "8"), often=True),
    Case("llama_lengths", ("llama.py", "60", "--lengths"), often=True),
)


def run(bench):
    for case in (case for case in CASES if is_asked_for(case.name)):
        with bench.board.case(PART, case.name) as row:
            row.detail = judge(bench, case)


def words_of(bench, case):
    if case.words[0] == "cifar10":
        return bench.cifar10(*case.words[1:])
    return [sys.executable, PROGRAMS / case.words[0], *case.words[1:]]


def judge(bench, case):
    words = words_of(bench, case)
    if "--compile" in words:
        bench.commands.run(f"{PART}_{case.name}.warm", words, timeout=LIMIT).require_success()  # the compiler's cache
    pairs = [measure(bench, case, words, pair) for pair in range(1 if case.most_added is None else PAIRS)]
    quick, asked, missing = min((share for share, _, _ in pairs), key=lambda share: share[1])
    added = [profiled - alone for _, alone, profiled in pairs]
    detail = (
        f"{asked:.1f} % measured ({quick:.1f} % at least quick){', launched often' if case.often else ''}, {missing} configurations "
        f"not whole; {spread([alone for _, alone, _ in pairs], '.1f')} s alone, {spread(added, '+.1f')} s, n {len(pairs)}"
    )
    check(asked >= case.share, detail)
    check(case.most_added is None or statistics.median(added) <= case.most_added, f"{detail}; limit {case.most_added} s")
    return detail


def measure(bench, case, words, pair):
    """(The share measured in the process that lacks most, seconds of a run alone, seconds of one under dlkprof)."""
    base = f"{PART}_{case.name}_{pair}"
    alone, done = bench.alone_and_profiled(base, case.options, words, LIMIT)
    check(done.stdout.splitlines()[-1:] == alone.stdout.splitlines()[-1:], "the program printed something else")
    shares = coverage(bench.dlkprof.captures / f"{base}_dldb.sqlite", case.often)
    return min(shares, key=lambda share: share[1]), alone.seconds, done.seconds


WHOLE = """WITH whole AS (SELECT m.config, MAX(s.passes > 1) AS asked FROM measured_launch m JOIN metric_set s ON s.id = m.metric_set
                          WHERE m.passes >= s.passes GROUP BY m.config)"""
# Of all launches of a configuration; and of those of the steady iterations that are of no collective.
OFTEN_TIMES = (
    WHOLE
    + """, times AS (SELECT config, SUM(timed_gpu_ns) AS ns, SUM(launches) AS launches, SUM(timed) AS timed FROM launch_count
                                    WHERE config IS NOT NULL GROUP BY config HAVING SUM(launches) >= ?)
    SELECT c.process, t.ns * 1.0 / MAX(t.timed, 1) * t.launches, w.config IS NOT NULL, COALESCE(w.asked, 0)
    FROM times t JOIN config c ON c.id = t.config LEFT JOIN whole w ON w.config = t.config"""
)
STEADY_TIMES = (
    WHOLE
    + """, times AS (SELECT a.config, SUM(a.end_ns - a.start_ns) AS ns
                                     FROM activity a JOIN placement p ON p.activity = a.id JOIN aggregation g ON g.id = p.aggregation
                                     WHERE (? OR NOT a.in_graph) AND g.id = (SELECT MAX(id) FROM aggregation)
                                           AND p.iteration BETWEEN g.first_iteration AND g.last_iteration GROUP BY a.config)
    SELECT c.process, t.ns, w.config IS NOT NULL, COALESCE(w.asked, 0)
    FROM times t JOIN config c ON c.id = t.config JOIN kernel k ON k.id = c.kernel LEFT JOIN whole w ON w.config = t.config
    WHERE k.mangled NOT GLOB '*nccl*'"""
)


def coverage(database, often, graphs=False):
    """For each process, of the GPU time: what has any counters, what has all that were asked for; and how many configurations have
    not all. With graphs: also of kernels in CUDA graphs."""
    connection = sqlite3.connect(database)
    rows = connection.execute(OFTEN_TIMES, (OFTEN,)) if often else connection.execute(STEADY_TIMES, (graphs,))
    by_process = collections.defaultdict(list)
    for process, ns, quick, asked in rows:
        by_process[process].append((ns or 0, quick, asked))
    check(by_process, "no kernel is in the database's steady iterations, or was launched often")
    return [share_of(times) for times in by_process.values()]


def share_of(times):
    total = sum(ns for ns, _, _ in times) or 1.0
    quick, asked = (100 * sum(time[0] for time in times if time[column]) / total for column in (1, 2))
    return quick, asked, sum(1 for time in times if not time[2])
