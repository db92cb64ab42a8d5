"""Kernels inside CUDA graphs are measured one by one, as graph launches are made node by node; the program does not notice."""

import sqlite3

from harness import check, is_asked_for
from part_coverage import WHOLE
from part_graphs import base_of, words_of

PART = "graph_counters"

LIMIT = 280
LEAST = 95.0  # per cent of the GPU time inside graphs
CASES = {
    "cifar10": ("cifar10", "--batch_size", "512", "--iters", "80", "--graph"),
    "transformer": ("transformer", "--layers", "6", "--iters", "80", "--graph"),
    "llama": ("llama.py", "80", "--reduce-overhead"),
    "generate": ("llama_generate.py", "8", "--static"),
    "vit": ("vit.py", "80"),
    # Graphs that the program updates:
    "mlp": ("mlp", "--iters", "600", "--print_every", "200"),
    "flax_cnn": ("flax_cnn.py", "200"),
    "gru_scan": ("gru_scan.py", "200"),
}
COMPILED = ("llama", "vit")
INSIDE = (
    WHOLE
    + """ SELECT SUM(a.end_ns - a.start_ns), SUM((a.end_ns - a.start_ns) * COALESCE(w.asked, 0)),
                            COUNT(DISTINCT a.config), COUNT(DISTINCT CASE WHEN w.asked THEN a.config END),
                            SUM(a.replayed)
                     FROM activity a LEFT JOIN whole w ON w.config = a.config WHERE a.in_graph AND a.config IS NOT NULL"""
)


def run(bench):
    for name, words in CASES.items():
        if is_asked_for(name):
            with bench.board.case(PART, name) as row:
                row.detail = judge(bench, name, words)


def judge(bench, name, words):
    base = base_of(f"{name}_counters")
    program = words_of(bench, words)
    if name in COMPILED:
        bench.commands.run(f"{base}.warm", program, timeout=LIMIT).require_success()  # the compiler's cache
    alone, done = bench.alone_and_profiled(base, (), program, LIMIT)
    check(done.stdout == alone.stdout, "the program printed something else")
    return verdict(
        sqlite3.connect(bench.dlkprof.captures / f"{base}_dldb.sqlite"),
        f"{alone.seconds:.1f} s alone, {done.seconds - alone.seconds:+.1f} s",
    )


def verdict(connection, times):
    total, whole, configurations, of_these, alone = connection.execute(INSIDE).fetchone()
    told = [
        f"{what}: {detail}"
        for what, detail in connection.execute("SELECT what, detail FROM notice WHERE what LIKE '%one by one%'")
    ]
    share = 100 * (whole or 0) / (total or 1)
    detail = (
        f"{share:.1f} % of the GPU time in graphs has all metrics, {of_these} of {configurations} configurations; "
        f"{alone} kernels were launched by themselves; {times}"
        f"{'; told: ' if told else ''}{'; '.join(told)}"
    )
    check(share >= LEAST and alone, detail)  # the same kernels may have been measured before they were captured
    return detail
