#!/usr/bin/env python3
"""peak_memory.py FILE PROGRAM...: runs the program and writes to FILE how many bytes of memory it held at most (Linux)."""

import resource
import subprocess
import sys
from pathlib import Path


def main(arguments):
    code = subprocess.call(arguments[1:])
    Path(arguments[0]).write_text(str(1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
