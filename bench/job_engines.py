#!/usr/bin/env python3
"""How long dlkprof merge takes to fold captures on two threads, and on Dask Distributed with two workers on this machine.

    bench/job_engines.py BUILD_DIR SCRATCH_DIR [COPIES] [RUNS]

BUILD_DIR: of the preset ci. SCRATCH_DIR: a folder on a disk with room for 3 MB a copy. Folds COPIES (40) of each capture that ships,
RUNS (3) times on each engine, in turn. Prints a table in Markdown and whether the results are the same; starting Dask is part of its time.
"""

import datetime
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

CAPTURES = Path(__file__).resolve().parent.parent / "samples/captures"
ENGINES = {"local": ["--threads", "2"], "dask": ["--engine", "dask", "--python", "/usr/bin/python3"]}


def main(arguments):
    if len(arguments) < 2 or not all(word.isdigit() for word in arguments[2:]):
        print(__doc__, file=sys.stderr)
        return 2
    dlkprof, scratch = Path(arguments[0]).resolve() / "bin/dlkprof", Path(arguments[1]).resolve()
    copies, runs = (int(word) for word in (arguments[2:] + ["40", "3"][len(arguments) - 2 :]))
    folder = scratch / "captures"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for capture in CAPTURES.glob("*.dlkcap"):
        for copy in range(copies):
            shutil.copy(capture, folder / f"{capture.stem}_{copy}.dlkcap")
    files = len(list(folder.iterdir()))
    times = {engine: [] for engine in ENGINES}
    print(f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    for _ in range(runs):
        for engine, words in ENGINES.items():
            begin = time.monotonic()
            done = subprocess.run([dlkprof, "merge", "--force", "-o", scratch / f"{engine}.sqlite", *words, folder], check=False,
                                  capture_output=True, text=True)  # fmt: skip
            if done.returncode != 0:
                sys.exit(f"job_engines.py: dlkprof failed: {done.stderr.strip()}")
            times[engine].append(time.monotonic() - begin)
    print("| engine | captures | runs | median | least to most |\n| --- | --- | --- | --- | --- |")
    for engine, walls in times.items():
        print(f"| {engine} | {files} | {runs} | {statistics.median(walls):.1f} s | {min(walls):.1f} to {max(walls):.1f} s |")
    share = statistics.median(times["dask"]) / statistics.median(times["local"])
    same = (scratch / "local.sqlite").read_bytes() == (scratch / "dask.sqlite").read_bytes()
    print(f"\nDask takes {share:.2f} times as long; the results are {'the same bytes' if same else 'DIFFERENT'}.")
    shutil.rmtree(folder)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
