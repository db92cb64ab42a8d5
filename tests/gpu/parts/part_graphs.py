"""Kernels inside CUDA graphs belong to the op that captured them: the one that launches them where there is no graph."""

import dataclasses
import sys

import graph_ops
from configuration_figures import in_samples
from harness import check, is_asked_for
from part_sampling import ENOUGH, compare
from tools import PROGRAMS, median_step_ms

PART = "graphs"

LIMIT = 280
LEAST = 99.0  # per cent of the GPU time inside graphs
TIMELINE = ("--replay-mode", "none", "--timeline", "on")


@dataclasses.dataclass
class Case:
    name: str
    graphed: tuple  # the program whose kernels are in graphs
    eager: tuple  # the same without
    compare: object = graph_ops.by_order
    options: tuple = ("--mode=pytorch",)
    compiled: bool = False


CASES = (
    Case(
        "cifar10",
        ("cifar10", "--batch_size", "512", "--iters", "40", "--graph"),
        ("cifar10", "--batch_size", "512", "--iters", "40"),
    ),
    Case(
        "transformer",
        ("transformer", "--layers", "6", "--iters", "30", "--graph"),
        ("transformer", "--layers", "6", "--iters", "30"),
    ),
    Case("llama", ("llama.py", "30", "--reduce-overhead"), ("llama.py", "30", "--compile"), compiled=True),
    Case(
        "generate",
        ("llama_generate.py", "6", "--static"),
        ("llama_generate.py", "6", "--static", "--no-graphs"),
        graph_ops.by_kernel,
        compiled=True,
    ),
)
SAMPLED = ("cifar10", "--batch_size", "512", "--iters", "4000", "--print_every", "1000")
JAX_CASES = {"mlp": ("mlp", "--iters", "3000", "--print_every", "1000"), "flax_cnn": ("flax_cnn.py", "300")}


def run(bench):
    for case in (case for case in CASES if is_asked_for(case.name)):
        with bench.board.case(PART, case.name) as row:
            row.detail = judge(bench, case)
    for name, words in ((name, words) for name, words in JAX_CASES.items() if is_asked_for(name)):
        with bench.board.case(PART, name) as row:
            row.detail = judge_jax(bench, name, words)
    if is_asked_for("sampled"):
        with bench.board.case(PART, "sampled") as row:
            row.detail = judge_sampled(bench)
    if is_asked_for("alike"):
        with bench.board.case(PART, "alike") as row:
            row.detail = judge_alike(bench)


def words_of(bench, words):
    known = {"cifar10": bench.cifar10, "transformer": bench.transformer, "mlp": bench.mlp}
    if words[0] in known:
        return known[words[0]](*words[1:])
    return [sys.executable, PROGRAMS / words[0], *words[1:]]


def base_of(name):
    return "graphs_" + "".join(letter if letter.isalnum() else "_" for letter in name)


def profiled(bench, base, options, words):
    done = bench.dlkprof.profile(base, options, words, timeout=LIMIT).require_success()
    return done, bench.dlkprof.captures / f"{base}_dldb.sqlite"


def judge(bench, case):
    base = base_of(case.name)
    graphed, eager = words_of(bench, case.graphed), words_of(bench, case.eager)
    for words in (graphed, eager) if case.compiled else ():
        bench.commands.run(f"{base}.warm", words, timeout=LIMIT).require_success()  # the compiler's cache
    alone = bench.commands.run(f"{base}.alone", graphed, timeout=LIMIT).require_success()
    done, database = profiled(bench, base, (*TIMELINE, *case.options), graphed)
    check(done.stdout == alone.stdout, "the program printed something else")
    _, reference = profiled(bench, f"{base}_eager", (*TIMELINE, *case.options), eager)
    works = graph_ops.read(database)
    share, differing = case.compare(works, graph_ops.read(reference))
    detail = f"{share:.2f} % of the GPU time in graphs has the op of the run without; {size_of(works)}{steps(alone, done)}"
    check(share >= LEAST, f"{detail}; {differing}")
    return detail


def judge_jax(bench, name, words):
    base = base_of(name)
    program = words_of(bench, words)
    alone = bench.commands.run(f"{base}.alone", program, timeout=LIMIT).require_success()
    done, database = profiled(bench, base, TIMELINE, program)
    check(done.stdout == alone.stdout, "the program printed something else")
    works = graph_ops.in_graphs(graph_ops.read(database))
    check(works, "no kernel ran in a graph")
    share = graph_ops.share_of(works, lambda work: not work.type.startswith("command_buffer") and "unassociated_" not in work.op)
    left = {work.kernel[:50] for work in works if work.type.startswith("command_buffer")}
    detail = f"{share:.2f} % of the GPU time in graphs has an HLO op; {size_of(works)}; ops such as {works[0].op}"
    check(share >= LEAST, f"{detail}; not {sorted(left)[:3]}")
    return detail


def judge_sampled(bench):
    """Under sample the ops are the same as on a timeline, and have samples."""
    base = base_of("sampled")
    words = words_of(bench, (*SAMPLED, "--graph"))
    alone = bench.commands.run(f"{base}.alone", words, timeout=LIMIT).require_success()
    done, database = profiled(bench, base, ("--replay-mode", "sample", "--mode=pytorch"), words)
    check(done.stdout == alone.stdout, "the program printed something else")
    works = graph_ops.in_graphs(graph_ops.read(database))
    share = graph_ops.share_of(works, lambda work: "aten::" in work.type or "Backward" in work.type)
    kernels = bench.dlkprof.sampled_kernels(bench.dlkprof.capture(base))
    detail = f"{share:.2f} % of the GPU time in graphs has an op of PyTorch's; {len(kernels)} kernels sampled{steps(alone, done)}"
    check(share >= LEAST and kernels, detail)
    return detail


def judge_alike(bench):
    """A launch configuration keeps the GPU as busy in a graph as in the run without one. A kernel of several may not: a
    graph changes how many samples each of them has."""
    shares = {}
    for name, more in (("graphed", ("--graph",)), ("eager", ())):
        base = base_of(f"alike_{name}")
        _, database = profiled(bench, base, ("--replay-mode", "sample"), words_of(bench, (*SAMPLED, *more)))
        shares[name] = shares_of(in_samples(database, ENOUGH, least_ns=0))
    return compare(shares["graphed"], shares["eager"])


def shares_of(configurations):
    """(configuration, metric) -> share of peak in per cent."""
    return {
        (" ".join(map(str, key)), metric): value
        for key, figures in configurations.items()
        for metric, value in figures.items()
        if "pct_of_peak" in metric
    }


def size_of(works):
    inside = graph_ops.in_graphs(works)
    return f"{len(inside)} kernels of {len({work.op for work in inside})} ops in graphs, {graph_ops.share_of(works, lambda work: work.in_graph):.0f} % of all"


def steps(alone, done):
    """Words for what a step takes, of programs that tell it."""
    if "median_step_ms" not in alone.stderr or "median_step_ms" not in done.stderr:
        return ""
    return f"; step {median_step_ms(done):.3f} ms, {median_step_ms(alone):.3f} ms alone"
