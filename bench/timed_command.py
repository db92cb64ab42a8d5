"""Runs a command to its end and says what it took. For the scripts beside it."""

import os
import subprocess
import sys
import time


def run(*words):
    """Seconds of wall and of processor time, and bytes of memory at the most."""
    begin = time.monotonic()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{words[0]} failed: {said.strip()}")
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024
