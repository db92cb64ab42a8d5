#!/usr/bin/env python3
"""Runs a Python program in turns, again and again in one process: turns.py [--emit_nvtx] PROGRAM

Each line of JSON on stdin is answered by one on stdout:

  ["--batch_size", "4"]  starts the program with these arguments; it runs up to where it first prints a line
  3                      lets it run on to where it has printed so many more
  "end"                  ends it there

The answer is {"seconds": how long that took, "first_seconds": up to the first of these lines, "faults": minor page faults,
"switches": context switches, "user_us": CPU time of all threads outside the kernel meanwhile}, or, once the program has ended,
{"code": its exit code, "stderr": text, "free_chunks": of the C heap}.
Several such processes, all of them warm, can so be compared within less than a second. With --emit_nvtx the program runs
within PyTorch's own emit_nvtx.
"""

import contextlib
import ctypes
import importlib
import io
import json
import resource
import runpy
import sys
import time
import traceback
from pathlib import Path


class Stops(io.TextIOBase):
    """The program's stdout: stops it at the end of each line until it may go on."""

    def __init__(self, commands, answers):
        super().__init__()
        self._commands = commands
        self._answers = answers
        self._start(1)

    def _start(self, lines):
        self._lines = lines
        self._before = usage()
        self._times = [time.perf_counter()]

    def writable(self):
        return True

    def write(self, text):
        if "\n" in text:
            self._times.append(time.perf_counter())
            if len(self._times) > self._lines:
                self._stop()
        return len(text)

    def _stop(self):
        begin, first, end = self._times[0], self._times[1], self._times[-1]
        used = {name: now - before for (name, now), before in zip(usage().items(), self._before.values())}
        tell(self._answers, {"seconds": end - begin, "first_seconds": first - begin, **used})
        command = json.loads(self._commands.readline() or '"end"')
        if command == "end":
            raise SystemExit(0)
        self._start(command)


def tell(answers, what):
    print(json.dumps(what), file=answers, flush=True)


def usage():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {"faults": used.ru_minflt, "switches": used.ru_nvcsw + used.ru_nivcsw, "user_us": 1e6 * used.ru_utime}


class HeapFacts(ctypes.Structure):
    """struct mallinfo2 of malloc.h."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")
    ]


def free_chunks():
    """What malloc has to choose from, in all its arenas: None before glibc 2.33."""
    ask = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if not ask:
        return None
    ask.restype = HeapFacts
    return ask().ordblks


def emission():
    import torch

    return torch.autograd.profiler.emit_nvtx(record_shapes=True)


def import_early(module):
    """Takes seconds: processes that are made together do it together, and only then start their programs one after another."""
    with contextlib.suppress(ImportError):
        importlib.import_module(module)


def run(program, arguments, around, stdout):
    sys.argv = [program, *arguments]
    sys.path[0] = str(Path(program).resolve().parent)  # as where Python runs it
    code, stderr = 0, io.StringIO()
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr), around():
        try:
            runpy.run_path(program, run_name="__main__")
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        except Exception:
            traceback.print_exc()
            code = 1
    return {"code": code, "stderr": stderr.getvalue(), "free_chunks": free_chunks()}


def main(words):
    import_early("torch")
    around = emission if words[0] == "--emit_nvtx" else contextlib.nullcontext
    for line in iter(sys.stdin.readline, ""):
        tell(sys.stdout, run(words[-1], json.loads(line), around, Stops(sys.stdin, sys.stdout)))


if __name__ == "__main__":
    main(sys.argv[1:])
