#!/usr/bin/env python3
"""How long dlkprof merge takes to fold captures on two threads, and on Dask Distributed with two workers on this machine.

    bench/job_engines.py BUILD_DIR SCRATCH_DIR [RANKS LAUNCHES PAIRS]...

BUILD_DIR: of the preset ci, whose bin/ holds dlkprof and job_bench. SCRATCH_DIR: a folder with room for 35 bytes a launch. RANKS, LAUNCHES:
sizes of jobs of made-up ranks, and how many launches each has; PAIRS: how often both engines run, one after the other, the first by
turns. Prints a table in Markdown, with medians, the least and the most, and whether the results are the same bytes. The first job
is small: what Dask takes to start and to end.
"""

import datetime
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

ENGINES = {"local": ["--threads", "2"], "dask": ["--engine", "dask", "--python", "/usr/bin/python3"]}
DEFAULT_SIZES = [(2, 1000, 5), (48, 100_000, 5), (256, 100_000, 5)]


def main(arguments):
    if len(arguments) < 2 or (len(arguments) - 2) % 3 != 0 or not all(word.isdigit() for word in arguments[2:]):
        print(__doc__, file=sys.stderr)
        return 2
    programs, scratch = Path(arguments[0]).resolve() / "bin", Path(arguments[1]).resolve()
    numbers = [int(word) for word in arguments[2:]]
    print(f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC; {os.cpu_count()} cores\n")
    print("| ranks | launches of each | pairs | local | dask | dask / local, pair by pair | same bytes | load |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    same = [measure(programs, scratch, *size) for size in list(zip(numbers[::3], numbers[1::3], numbers[2::3])) or DEFAULT_SIZES]
    return 0 if all(same) else 1


def measure(programs, scratch, ranks, launches, pairs):
    """Prints the row of a size, and says whether both engines gave the same."""
    folder = scratch / "captures"
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([programs / "job_bench", "captures", folder, str(ranks), str(launches)], check=True)
    times = {engine: [] for engine in ENGINES}
    loads = []
    for pair in range(pairs):
        loads.append(os.getloadavg()[0])
        for engine in list(ENGINES)[:: 1 if pair % 2 == 0 else -1]:
            begin = time.monotonic()
            words = [programs / "dlkprof", "merge", "--force", "-o", scratch / f"{engine}.sqlite", *ENGINES[engine], folder]
            done = subprocess.run(words, check=False, capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"job_engines.py: dlkprof failed: {done.stderr.strip()}")
            times[engine].append(time.monotonic() - begin)
    shares = [dask / local for local, dask in zip(times["local"], times["dask"])]
    same = (scratch / "local.sqlite").read_bytes() == (scratch / "dask.sqlite").read_bytes()
    shutil.rmtree(folder)
    print(f"| {ranks} | {launches:,} | {pairs} | {spread(times['local'])} s | {spread(times['dask'])} s | {spread(shares, 2)} | "
          f"{'yes' if same else 'NO'} | {min(loads):.1f} to {max(loads):.1f} |", flush=True)  # fmt: skip
    return same


def spread(values, digits=1):
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
