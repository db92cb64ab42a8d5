#!/usr/bin/env python3
"""Runs a Python program many times, each in a child of this interpreter, which has imported the slow modules before.

    warm_python.py PROGRAM MODULE... < jobs > answers

A job is a line of JSON: {"arguments": [...], "environment": {...}, "stdout": path, "stderr": path}; the answer to it is
a line with the child's exit code. So runs differ neither in where their libraries lie nor in what importing left behind,
and cost no import each. A module that starts CUDA when it is imported is left to the children: what CUDA reads from the
environment then, it must read in each child.
"""

import importlib
import json
import os
import runpy
import sys
import traceback


def become(program, job):
    """In the child: runs `program` as if it had been started so."""
    for number, stream in ((1, "stdout"), (2, "stderr")):
        file = os.open(job[stream], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(file, number)
        os.close(file)
    os.environ.update(job["environment"])
    sys.argv = [program, *job["arguments"]]
    code = 0
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # as the interpreter itself would
        traceback.print_exc()
        code = 1
    sys.exit(code)  # not os._exit: what was registered to run at the end belongs to the program


def starts_cuda(module):
    """Whether importing `module` opens a GPU; found out in a child."""
    child = os.fork()
    if child == 0:
        importlib.import_module(module)
        links = [os.path.join("/proc/self/fd", name) for name in os.listdir("/proc/self/fd")]
        os._exit(any(os.path.islink(link) and "/dev/nvidia" in os.readlink(link) for link in links))
    _, status = os.waitpid(child, 0)
    return status != 0


def main(program, modules):
    for module in modules:
        if not starts_cuda(module):
            importlib.import_module(module)
    print("ready", flush=True)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            become(program, json.loads(line))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
