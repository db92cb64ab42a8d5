"""Cores for the threads of processes that are compared: the same for all of them.

A process that trains has two threads that take turns, the main one and that of PyTorch's backward pass. Left to itself the
scheduler leaves them for seconds where they happened to begin, and processes of one variant then differ by more than what
is to be measured. All other threads, a profiler's among them, have cores of their own, as they have where there are many.
"""

import contextlib
import os
from pathlib import Path

MAIN, BACKWARD, OTHERS = {2}, {3}, {4, 5}
BACKWARD_NAME = "pt_autograd"  # what PyTorch calls it, and its number (torch/csrc/autograd/engine.cpp)


def are_kept():
    return os.sched_getaffinity(0) >= MAIN | BACKWARD | OTHERS


def words():
    """Where threads of compared processes are, for who reads of their times."""
    if not are_kept():
        return "threads free to move"
    return (
        f"main thread on core {_listed(MAIN)}, that of the backward pass on {_listed(BACKWARD)}, all others on {_listed(OTHERS)}"
    )


def _listed(cores):
    return " and ".join(map(str, sorted(cores)))


def threads_of(pid):
    """{thread: cores} of those that there are now."""
    found = {}
    for thread in Path(f"/proc/{pid}/task").glob("[0-9]*"):
        try:
            is_backward = (thread / "comm").read_text().startswith(BACKWARD_NAME)
        except OSError:  # it has ended
            continue
        found[int(thread.name)] = MAIN if int(thread.name) == pid else BACKWARD if is_backward else OTHERS
    return found


def that_take_turns(pid):
    return [thread for thread, cores in threads_of(pid).items() if cores != OTHERS]


class Places:
    """Of one process. Without these cores nothing is moved."""

    def __init__(self, pid):
        self._pid = pid
        self._placed = set()

    def keep(self):
        """Threads that are new since the last call go to their place."""
        if not are_kept():
            return
        for thread, cores in threads_of(self._pid).items():
            if thread not in self._placed:
                with contextlib.suppress(OSError):  # it has ended
                    os.sched_setaffinity(thread, cores)
                    self._placed.add(thread)
