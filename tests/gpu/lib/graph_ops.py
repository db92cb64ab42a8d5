"""Whether kernels inside CUDA graphs were given to the right op: the one that launched the same kernel without a graph."""

import collections
import contextlib
import dataclasses
import difflib
import re
import sqlite3

from harness import check

QUERY = """SELECT long_kernel_name, iteration, op_name, op_type, direction, coalesce(gpu_ns, 0), in_graph
           FROM kernels WHERE kind = 'kernel' AND iteration BETWEEN ? AND ? ORDER BY gpu_start_ns"""
STEADY = "SELECT first_iteration, last_iteration FROM aggregation ORDER BY id DESC LIMIT 1"

FAMILY = 72  # characters: holds the functor of PyTorch's elementwise kernels, and not its types


@dataclasses.dataclass(frozen=True)
class Work:
    kernel: str
    iteration: int
    op: str  # path
    type: str
    direction: str
    gpu_ns: int
    in_graph: bool

    def place(self):
        """What does not depend on whether a graph launched it: the type, the direction, and the last part of the path."""
        return self.type, self.direction or "", re.sub(r"\(\d+\)$", "", self.op.rsplit("/", 1)[-1])

    def family(self):
        """Its name without the last types of the template, which may differ where a graph keeps its buffers elsewhere."""
        return self.kernel[:FAMILY]


def read(path):
    """The kernels of the steady iterations of a database, in the order in which the GPU ran them."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        steady = connection.execute(STEADY).fetchone()
        return [Work(*row[:6], bool(row[6])) for row in connection.execute(QUERY, steady)]


def in_graphs(works):
    return [work for work in works if work.in_graph]


def share_of(works, holds):
    """Per cent of the GPU time."""
    whole = sum(work.gpu_ns for work in works)
    return 100.0 * sum(work.gpu_ns for work in works if holds(work)) / whole if whole else 0.0


def longest_iteration(works):
    """Of the iterations with the same number of kernels as most have, the middle one."""
    counts = collections.Counter(work.iteration for work in works)
    check(counts, "no kernel ran in steady iterations")
    usual = collections.Counter(counts.values()).most_common(1)[0][0]
    iterations = sorted(iteration for iteration, count in counts.items() if count == usual)
    return [work for work in works if work.iteration == iterations[len(iterations) // 2]]


def by_order(graphed, eager):
    """Per cent of the GPU time of kernels in graphs whose place is that of the same kernel of an iteration without graphs, and the
    largest that differ, in words. The iterations are aligned, as autocast and the allocator launch some kernels on one side only;
    of those the op and the direction must be ones that launch kernels on the other side too."""
    ours, theirs = longest_iteration(graphed), longest_iteration(eager)
    ops = {work.place()[1:] for work in theirs}
    known = {work.family() for work in theirs}
    places = [{(work.type, *op) for op in ops} if work.family() in known else set() for work in ours]
    sides = [[work.family() for work in works] for works in (ours, theirs)]
    for block in difflib.SequenceMatcher(None, *sides, autojunk=False).get_matching_blocks():
        for i in range(block.size):
            places[block.a + i] = {theirs[block.b + i].place()}
    return _compare([(work, place) for work, place in zip(ours, places) if work.in_graph])


def by_kernel(graphed, eager):
    """Likewise where iterations are not alike: the place is one of those that the same kernel has without graphs."""
    elsewhere = _places(eager)
    return _compare([(work, elsewhere[work.family()]) for work in in_graphs(graphed)])


def _places(works):
    """The places that a kernel has, by its family."""
    places = collections.defaultdict(set)
    for work in works:
        places[work.family()].add(work.place())
    return places


def _compare(judged):
    wrong, whole = collections.Counter(), 0
    for work, places in judged:
        whole += work.gpu_ns
        if work.place() not in places:
            wrong[
                f"{work.kernel[:50]}: {'/'.join(work.place())}, not {' or '.join('/'.join(place) for place in sorted(places)[:2]) or 'there'}"
            ] += work.gpu_ns
    check(whole > 0, "no kernel ran in a graph")
    share = 100.0 * (whole - sum(wrong.values())) / whole
    return share, "; ".join(f"{100.0 * ns / whole:.1f} % {what}" for what, ns in wrong.most_common(3))
