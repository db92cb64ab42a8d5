#!/usr/bin/env python3
"""Runs a Python program again and again in one process, each time it is told to: turns.py [--emit_nvtx] PROGRAM

A line of JSON on stdin is the list of the program's arguments; the answer on stdout is a line of JSON, {"code": its exit
code, "stderr": text}. With --emit_nvtx each turn is within PyTorch's own emit_nvtx. Several such processes can be started at
once and take turns, so that all of them are warm and any two are compared within a second.
"""

import contextlib
import io
import json
import runpy
import sys
import traceback


def emission():
    import torch

    return torch.autograd.profiler.emit_nvtx(record_shapes=True)


def take_turn(program, arguments, around):
    sys.argv = [program, *arguments]
    code, stderr = 0, io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(stderr), around():
        try:
            runpy.run_path(program, run_name="__main__")
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        except Exception:
            traceback.print_exc()
            code = 1
    return {"code": code, "stderr": stderr.getvalue()}


def main(words):
    around = emission if words[0] == "--emit_nvtx" else contextlib.nullcontext
    for line in sys.stdin:
        print(json.dumps(take_turn(words[-1], json.loads(line), around)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
