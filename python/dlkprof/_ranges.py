"""Ranges that a program adds of its own accord."""

import contextlib
import sys


class _Range(contextlib.ContextDecorator):
    """As a context manager, or around a function; entered anew each time, on any thread."""

    def __init__(self, message):
        self._message = message
        self._nvtx = []  # of each entry that is open: where it was pushed, or None

    def __enter__(self):
        pytorch = sys.modules.get(f"{__package__}._pytorch")
        nvtx = None if pytorch is None or pytorch.is_compiling() else pytorch.nvtx()
        if nvtx is not None:
            nvtx.range_push(self._message)
        self._nvtx.append(nvtx)
        return self

    def __exit__(self, *_):
        nvtx = self._nvtx.pop()
        if nvtx is not None:
            nvtx.range_pop()
        return False

    def _recreate_cm(self):  # for each call of a decorated function
        return type(self)(self._message)


def scope(name):
    """What is launched inside is part of `name`: `with scope("loss"):`, or `@scope("loss")` on a function."""
    return _Range(f"dlkprof:function: {name}")


def step():
    """One training step or request: `with step():`. The default key node where there is one."""
    return _Range("dlkprof:step")


def dataloader(batches):
    """Iterates over `batches`; the time that each takes to come is a range. torch's own DataLoader needs none."""
    iterator = iter(batches)
    missing = object()
    while True:
        with _Range("dlkprof:dataloader"):
            batch = next(iterator, missing)
        if batch is missing:
            return
        yield batch
