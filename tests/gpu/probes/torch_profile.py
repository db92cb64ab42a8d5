#!/usr/bin/env python3
"""Runs a Python program under PyTorch's own profiler: torch_profile.py TRACE PROGRAM [argument...]

TRACE receives what torch.profiler saw, in Chrome's trace format. stdout, stderr and the exit code are the program's.
"""

import runpy
import sys
from pathlib import Path


def main(trace, program, arguments):
    from torch.profiler import ProfilerActivity, profile

    sys.argv = [program, *arguments]
    sys.path[0] = str(Path(program).resolve().parent)  # as where Python runs it
    code = 0
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=False) as profiler:
        try:
            runpy.run_path(program, run_name="__main__")
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    profiler.export_chrome_trace(trace)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
