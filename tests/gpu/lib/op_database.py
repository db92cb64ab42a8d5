"""A database of dlkprof, read through its views (docs/reference/schema.md) and the tables of ranges and kernels."""

import collections
import contextlib
import dataclasses

from harness import Skipped, check

try:
    import sqlite3
except ImportError:  # Python can be built without
    sqlite3 = None


@dataclasses.dataclass(frozen=True)
class GpuWork:
    """A run of a kernel, a copy or a set."""

    kind: str  # kernel, copy, set
    kernel: str  # the whole name in C++
    iteration: int
    op_name: str
    op_type: str
    direction: str  # fprop, bprop or empty
    gpu_ns: int  # 0: not timed
    call_ns: int  # when the CUDA call began
    messages: tuple  # of the ranges around the call, innermost first

    @property
    def is_in_an_op(self):
        return not self.op_name.startswith("unassociated_")


class OpDatabase:
    """One database file; every question opens it anew, since dlkprof adds to it meanwhile."""

    def __init__(self, path):
        if sqlite3 is None:
            raise Skipped("this Python has no sqlite3")
        check(path.exists(), f"there is no {path.name}")
        self.path = path

    def rows(self, query, *values):
        """A dictionary a row."""
        with contextlib.closing(sqlite3.connect(self.path)) as connection:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(query, values)]

    def summary(self):
        return self.rows("SELECT * FROM summary")[0]

    def ops(self):
        return self.rows("SELECT op_id, op_name, direction, op_type, calls, gpu_total_ns FROM detail")

    def fact(self, name):
        """What the framework said last of that; None where it said nothing."""
        values = self.rows("SELECT value FROM fact WHERE name = ? ORDER BY id", name)
        return values[-1]["value"] if values else None

    def whole_names(self):
        """Names of kernels in C++ by what they are called in machine code."""
        return {row["mangled"]: row["long_name"] for row in self.rows("SELECT mangled, long_name FROM kernel")}

    def spans(self, message):
        """(start, end) in ns of all ranges of that message, in order."""
        found = self.rows(
            "SELECT r.start_ns, r.end_ns FROM range r JOIN string s ON s.id = r.message "
            "WHERE s.value = ? AND r.kind != 2 ORDER BY r.start_ns",
            message,
        )
        return [(row["start_ns"], row["end_ns"]) for row in found]

    def works(self):
        """Everything that the GPUs did, in the order of the CUDA calls."""
        around = self._messages_around()
        found = self.rows(
            "SELECT kind, long_kernel_name, iteration, op_name, op_type, direction, coalesce(gpu_ns, 0) AS gpu_ns, "
            "coalesce(api_start_ns, gpu_start_ns, 0) AS call_ns, op_instance FROM kernels"
        )
        works = [
            GpuWork(
                row["kind"],
                row["long_kernel_name"],
                row["iteration"],
                row["op_name"],
                row["op_type"],
                row["direction"],
                row["gpu_ns"],
                row["call_ns"],
                around(row["op_instance"]),
            )
            for row in found
        ]
        return sorted(works, key=lambda work: work.call_ns)

    def _messages_around(self):
        """A function: the messages from a range outwards."""
        ranges = {
            row["id"]: row
            for row in self.rows("SELECT r.id, r.parent, s.value AS message FROM range r JOIN string s ON s.id = r.message")
        }

        def around(innermost):
            messages = []
            while innermost is not None:
                messages.append(ranges[innermost]["message"])
                innermost = ranges[innermost]["parent"]
            return tuple(messages)

        return around


def tally(works):
    """Words for GPU work: how much of it each op has."""
    by_op = collections.defaultdict(list)
    for work in works:
        by_op[f"{work.op_type} in {work.op_name}" if work.is_in_an_op else work.op_name].append(work.gpu_ns)
    largest = sorted(by_op.items(), key=lambda item: -sum(item[1]))
    return ", ".join(f"{op}: {len(times)} taking {sum(times) / 1e3:.1f} us" for op, times in largest) or "none"
