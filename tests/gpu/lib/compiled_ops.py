"""Which part of the GPU time of compiled code has a module and a line of Python: ops of the view `ops` (docs/reference/schema.md)."""

import dataclasses
import re

LINE = re.compile(r"\.py:\d+ in ")
CALL = "## Call CompiledFxGraph"

QUERY = """SELECT k.long_kernel_name AS kernel, k.op_name AS op, k.direction, coalesce(k.gpu_ns, 0) AS gpu_ns, k.in_graph, o.module,
                  o.stack_trace AS stack, o.made_of
           FROM kernels k JOIN ops o ON o.op_id = k.op_id
           WHERE k.kind = 'kernel' AND k.iteration BETWEEN (SELECT first_iteration FROM aggregation ORDER BY id DESC LIMIT 1)
                                                       AND (SELECT last_iteration FROM aggregation ORDER BY id DESC LIMIT 1)"""


@dataclasses.dataclass(frozen=True)
class Work:
    kernel: str
    op: str  # path
    direction: str
    gpu_ns: int
    in_graph: bool
    module: str
    stack: str
    made_of: str

    @property
    def is_compiled(self):
        """Of compiled code, whether that was recognized or not."""
        return bool(self.module or self.made_of or self.stack) or CALL in self.op or "CompiledFunction" in self.op

    @property
    def is_known(self):
        return bool(self.module) and LINE.search(self.stack) is not None


def read(database):
    """The kernels of the steady iterations."""
    return [Work(**{**row, "in_graph": bool(row["in_graph"])}) for row in database.rows(QUERY)]


def share_of(works, holds):
    """Per cent of the GPU time."""
    whole = sum(work.gpu_ns for work in works)
    return 100.0 * sum(work.gpu_ns for work in works if holds(work)) / whole if whole else 0.0


def largest(works, most=3):
    """The kernels that take most of the time, in words."""
    times = {}
    for work in works:
        place = f"{work.kernel[:40]} in {work.op[-60:]}"
        times[place] = times.get(place, 0) + work.gpu_ns
    return (
        ", ".join(f"{ns / 1e3:.0f} us of {place}" for place, ns in sorted(times.items(), key=lambda item: -item[1])[:most])
        or "none"
    )
