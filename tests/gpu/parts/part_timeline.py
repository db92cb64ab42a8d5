"""Ops and iterations of cifar10.py: found, named, agreeing with PyTorch's own profiler, and what finding them costs."""

import bisect
import collections
import sys

import agreement
import emission_cost
import key_nodes
import performance_report
from harness import CheckFailed, Skipped, check
from op_database import OpDatabase, tally
from tools import PROBES
from torch_trace import read_trace

PART = "timeline"

STEPS = 20  # cifar10.py --iters: all of them train; there is no warm-up and no evaluation around them
BATCH_SIZES = (128, 512, 4)
COMPARED = (512, 4)  # bound by the GPU, and by launching
LEAST_SHARE = 0.99  # of GPU time, in ops
KEY_NODE = "Optimizer.zero_grad"  # what cifar10.py calls first in each step: the type of the default key node

TIMELINE = ("--replay-mode", "none")
PYTORCH = ("--mode", "pytorch", *TIMELINE)

BACKWARD_PHASE = "dlkprof:phase: backward"
NODE = "autograd::engine::evaluate_function: "
NODES_WITHOUT_FORWARD = ("torch::autograd::AccumulateGrad", "torch::autograd::GraphRoot")  # they end and begin the graph


def run(bench):
    if not bench.has_torch(PART, "cifar10.py"):
        return
    databases = Databases(bench)
    for batch_size in BATCH_SIZES:
        databases.fill(batch_size)
    cases = [
        (f"{STEPS} steps, no option set", lambda: training_steps(databases.of(128), 128)),
        (f"{STEPS} steps without any marker", lambda: unmarked_steps(bench)),
    ]
    for size in COMPARED:
        cases += [
            (f"GPU time in ops, batch {size}", lambda size=size: time_in_ops(databases.of(size).works())),
            (f"backward kernels and their forward ops, batch {size}", lambda size=size: backward_links(databases.of(size))),
            (f"PyTorch's profiler, batch {size}", lambda size=size: against_torch(bench, databases.of(size), size)),
        ]
    for name, judge in cases:
        with bench.board.case(PART, name) as row:
            row.detail = judge()
    key_nodes.run(bench, PART, lambda: databases.of(128))
    measured = emission_cost.run(bench, PART, {"dlkprof": PYTORCH, "timeline": TIMELINE})
    if measured:
        (bench.out / "performance.md").write_text(performance_report.markdown(bench.facts, measured))


class Databases:
    """Of a run of cifar10.py for each batch size."""

    def __init__(self, bench):
        self._bench = bench
        self._by_size = {}

    def fill(self, batch_size):
        with self._bench.board.case(PART, f"cifar10.py batch {batch_size} is profiled") as row:
            database = profile(self._bench, f"timeline_{batch_size}", PYTORCH, batch_size)
            row.detail = f"{len(database.works())} kernels, copies and sets, {len(database.ops())} ops"
            self._by_size[batch_size] = database

    def of(self, batch_size):
        if batch_size not in self._by_size:
            raise Skipped(f"batch {batch_size} was not profiled")
        return self._by_size[batch_size]


def arguments(batch_size):
    return "--iters", str(STEPS), "--batch_size", str(batch_size)


def profile(bench, name, options, batch_size):
    done = bench.dlkprof.profile(name, options, bench.cifar10(*arguments(batch_size)), timeout=90).require_success()
    path = bench.dlkprof.captures / f"{name}_dldb.sqlite"
    check(path.exists(), f"no database: {' / '.join(done.stderr.splitlines()[-2:])}")
    return OpDatabase(path)


def training_steps(database, batch_size):
    """zero_grad begins each step, so that what stands before it is iteration 0, and iterations 1 to 20 are the steps."""
    summary = database.summary()
    words = (
        f"key node {summary['key_node']} ({summary['key_node_source']}) found {summary['key_nodes_found']} times, "
        f"{summary['total_iterations']} iterations"
    )
    backward = [works_of_step(database.works(), "bprop", step) for step in range(STEPS + 1)]
    words += f", backward kernels in each {', '.join(map(str, sorted(set(backward[1:]))))}, in iteration 0 {backward[0]}"
    words += f", batch size told as {database.fact('batch_size')}"
    check(summary["key_node"].startswith(KEY_NODE) and summary["key_node_source"] == "framework", words)
    check(summary["key_nodes_found"] == STEPS and summary["total_iterations"] == STEPS + 1, words)
    check(backward[0] == 0 and len(set(backward[1:])) == 1 and backward[1] > 0, words)
    check(database.fact("batch_size") == str(batch_size), words)
    return words


def works_of_step(works, direction, step):
    return sum(work.kind == "kernel" and work.direction == direction and work.iteration == step for work in works)


def unmarked_steps(bench):
    summary = profile(bench, "timeline_unmarked", TIMELINE, 128).summary()
    words = (
        f"{summary['key_nodes_found']} repetitions, by {summary['key_node_source']}, each from {summary['key_node']}, "
        f"{summary['mean_iteration_ns'] / 1e6:.2f} ms an iteration"
    )
    check(summary["key_node_source"] == "repetition" and summary["key_nodes_found"] == STEPS, words)
    return words


def time_in_ops(works):
    total = sum(work.gpu_ns for work in works)
    check(total > 0, f"{len(works)} kernels, copies and sets, none timed")
    share = sum(work.gpu_ns for work in works if work.is_in_an_op) / total
    words = f"{share:.3%} of {total / 1e6:.3f} ms; outside: {tally(work for work in works if not work.is_in_an_op)}"
    check(share >= LEAST_SHARE, f"{words}; limit {LEAST_SHARE:.0%}")
    return words


def backward_links(database):
    """Work whose CUDA call was made while backward() ran, on whatever thread: that of autograd's nodes has a forward op."""
    forward_names = {op["op_name"] for op in database.ops() if op["direction"] == "fprop"}
    works = called_within(database.works(), database.spans(BACKWARD_PHASE))
    linked = [work for work in works if work.direction == "bprop" and work.op_name in forward_names]
    others = [work for work in works if work.direction != "bprop" or work.op_name not in forward_names]
    lost = [work for work in others if has_forward_op(work)]
    total = sum(work.gpu_ns for work in works)
    words = (
        f"{len(linked)} of {len(works)} linked, {sum(work.gpu_ns for work in linked) / max(1, total):.2%} of "
        f"{total / 1e6:.3f} ms; no forward op exists for {tally(work for work in others if not has_forward_op(work))}"
    )
    check(len(linked) >= STEPS and not lost, f"{words}; not linked: {tally(lost)}")
    return words


def called_within(works, spans):
    """Spans neither overlap nor come out of order: those of one phase on one thread."""
    starts = [start for start, _ in spans]

    def is_within(time):
        at = bisect.bisect_right(starts, time)
        return at > 0 and time <= spans[at - 1][1]

    return [work for work in works if is_within(work.call_ns)]


def has_forward_op(work):
    nodes = [message[len(NODE) :].split(", ", 1)[0] for message in work.messages if message.startswith(NODE)]
    return any(node not in NODES_WITHOUT_FORWARD for node in nodes)


def against_torch(bench, database, batch_size):
    trace = bench.out / f"torch_{batch_size}.json"
    program = bench.cifar10(*arguments(batch_size))
    name = f"torch_profile_{batch_size}"
    bench.commands.run(name, [sys.executable, PROBES / "torch_profile.py", trace, *program[1:]], timeout=90).require_success()
    try:
        theirs = read_trace(trace)
    except (OSError, ValueError, KeyError) as error:
        raise CheckFailed(f"{trace.name}: {type(error).__name__}: {error}") from error
    works = database.works()
    words = agreement.compare(agreement.seen_by_torch(theirs, database.whole_names()), agreement.seen_by_dlkprof(works))
    trace.unlink()  # megabytes, of use only where they disagree
    return f"{words}; copies and sets {others_in_words(works)}, PyTorch {others_in_words(theirs)}"


def others_in_words(works):
    counts = collections.Counter(work.kind for work in works)
    return f"{counts['copy']} and {counts['set']}"
