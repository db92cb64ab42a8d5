#!/usr/bin/env python3
"""How long dlkprof merge takes to fold captures on two threads, and on Dask Distributed with two workers on this machine.

    bench/job_engines.py BUILD_DIR SCRATCH_DIR [RANKS LAUNCHES PAIRS]...

BUILD_DIR: of the preset ci, whose bin/ holds dlkprof and job_bench. SCRATCH_DIR: a folder with room for 35 bytes a launch. RANKS, LAUNCHES:
sizes of jobs of made-up ranks, and how many launches each has; PAIRS: how often both engines run, one after the other, the first by
turns. Prints a table in Markdown, with medians, the least and the most, and whether the results are the same bytes; processor time is
that of all processes, which others on the machine disturb least. The first job is small: what Dask takes to start and to end.
"""

import datetime
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

from timed_command import run

ENGINES = {"local": ["--threads", "2"], "dask": ["--engine", "dask", "--python", "/usr/bin/python3"]}
DEFAULT_SIZES = [(2, 1000, 5), (48, 100_000, 5), (256, 100_000, 5)]


def main(arguments):
    if len(arguments) < 2 or (len(arguments) - 2) % 3 != 0 or not all(word.isdigit() for word in arguments[2:]):
        print(__doc__, file=sys.stderr)
        return 2
    programs, scratch = Path(arguments[0]).resolve() / "bin", Path(arguments[1]).resolve()
    numbers = [int(word) for word in arguments[2:]]
    print(f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC; {os.cpu_count()} cores\n")
    print("| ranks | launches of each | pairs | local | dask | dask / local, pair by pair | processor time, local | dask | dask / local | "
          "same bytes | load |")  # fmt: skip
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    same = [measure(programs, scratch, *size) for size in list(zip(numbers[::3], numbers[1::3], numbers[2::3])) or DEFAULT_SIZES]
    return 0 if all(same) else 1


def measure(programs, scratch, ranks, launches, pairs):
    """Prints the row of a size, and says whether both engines gave the same."""
    folder = scratch / "captures"
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([programs / "job_bench", "captures", folder, str(ranks), str(launches)], check=True)
    walls, processors = {engine: [] for engine in ENGINES}, {engine: [] for engine in ENGINES}
    loads = []
    for pair in range(pairs):
        loads.append(os.getloadavg()[0])
        for engine in list(ENGINES)[:: 1 if pair % 2 == 0 else -1]:
            wall, processor, _ = run(
                programs / "dlkprof", "merge", "--force", "-o", scratch / f"{engine}.sqlite", *ENGINES[engine], folder
            )
            walls[engine].append(wall)
            processors[engine].append(processor)
    same = (scratch / "local.sqlite").read_bytes() == (scratch / "dask.sqlite").read_bytes()
    shutil.rmtree(folder)
    cells = [
        f"{spread(of[engine])} s" if engine else spread(shares(of), 2)
        for of in (walls, processors)
        for engine in ("local", "dask", "")
    ]
    print(f"| {ranks} | {launches:,} | {pairs} | {' | '.join(cells)} | {'yes' if same else 'NO'} | {min(loads):.1f} to {max(loads):.1f} |",
          flush=True)  # fmt: skip
    return same


def shares(of):
    return [dask / local for local, dask in zip(of["local"], of["dask"])]


def spread(values, digits=1):
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
