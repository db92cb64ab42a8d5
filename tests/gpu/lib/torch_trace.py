"""What PyTorch's profiler says of each kernel, from the trace that it exports."""

import bisect
import collections
import dataclasses
import json

KINDS = {"kernel": "kernel", "gpu_memcpy": "copy", "gpu_memset": "set"}
CALLS = ("cuda_runtime", "cuda_driver")


@dataclasses.dataclass(frozen=True)
class TracedWork:
    kind: str  # kernel, copy, set
    kernel: str  # as the trace has it: in C++, or as in machine code where that is long
    gpu_ns: int
    op: str  # innermost aten op around the CUDA call; empty: none


@dataclasses.dataclass
class _Op:
    start: float
    end: float
    aten: str  # its own name, or that of the innermost aten op around it
    outer: "_Op"  # None: outermost on its thread


def read_trace(path):
    """GPU work in the order of the CUDA calls that caused it."""
    with open(path, encoding="utf-8") as file:
        return traced_works(json.load(file)["traceEvents"])


def traced_works(events):
    complete = [event for event in events if event.get("ph") == "X"]
    ops = _Ops(event for event in complete if event.get("cat") == "cpu_op")
    calls = {
        event["args"]["correlation"]: event
        for event in complete
        if event.get("cat") in CALLS and "correlation" in event.get("args", {})
    }
    found = []
    for event in complete:
        if event.get("cat") in KINDS:
            call = calls.get(event["args"].get("correlation"), event)
            work = TracedWork(KINDS[event["cat"]], event["name"], round(1e3 * event["dur"]), ops.around(event, call))
            found.append((call["ts"], work))
    return [work for _, work in sorted(found, key=lambda pair: pair[0])]


class _Ops:
    """Finds the aten op that a CUDA call was made in."""

    def __init__(self, events):
        self._by_thread = collections.defaultdict(list)
        self._by_id = {}  # the profiler's own number, which is told of ops and of GPU work alike
        for event in sorted(events, key=lambda event: (event["ts"], -event["dur"])):
            self._add(event)

    def _add(self, event):
        thread = self._by_thread[event["pid"], event["tid"]]
        outer = _enclosing(thread[-1] if thread else None, event["ts"])
        aten = event["name"] if event["name"].startswith("aten::") else outer.aten if outer else ""
        op = _Op(event["ts"], event["ts"] + event["dur"], aten, outer)
        thread.append(op)
        number = event.get("args", {}).get("External id")
        if number is not None:
            self._by_id[number] = op

    def around(self, work, call):
        """By the profiler's number; where it gave none, by thread and time of the call."""
        op = self._by_id.get(work["args"].get("External id"))
        if op is None:
            thread = self._by_thread.get((call["pid"], call["tid"]), [])
            at = bisect.bisect_right(thread, call["ts"], key=lambda op: op.start)
            op = _enclosing(thread[at - 1] if at else None, call["ts"])
        return op.aten if op else ""


def _enclosing(op, time):
    """The innermost of `op` and those around it that lasts until after `time`."""
    while op is not None and op.end <= time:
        op = op.outer
    return op
