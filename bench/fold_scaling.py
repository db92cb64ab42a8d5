#!/usr/bin/env python3
"""How long dlkprof takes from a capture to its database and all reports, or to the file of another tool, and how that grows with the
run.

    bench/fold_scaling.py [--export FORMAT] BUILD_DIR SCRATCH_DIR [LAUNCHES RUNS]...

BUILD_DIR: of the preset ci, whose bin/ holds dlkprof and made_up_run. SCRATCH_DIR: an empty or new folder on a disk with room for
2 kB a launch. FORMAT: of dlkprof export. LAUNCHES RUNS: sizes in launches, and how often each is folded; a million three times and ten million twice where
none is given. Prints a table in Markdown; ratios are of medians, to the first size.
"""

import datetime
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

DEFAULT_SIZES = [(1_000_000, 3), (10_000_000, 2)]


def main(arguments):
    export = None
    if arguments[:1] == ["--export"] and len(arguments) > 1:
        export, arguments = arguments[1], arguments[2:]
    if len(arguments) < 2 or len(arguments) % 2 != 0 or not all(word.isdigit() for word in arguments[2:]):
        print(__doc__, file=sys.stderr)
        return 2
    programs, scratch = Path(arguments[0]).resolve() / "bin", Path(arguments[1]).resolve()
    numbers = [int(word) for word in arguments[2:]]
    sizes = list(zip(numbers[::2], numbers[1::2])) or DEFAULT_SIZES
    scratch.mkdir(parents=True, exist_ok=True)
    print(f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC; {os.cpu_count()} cores, {processor()}\n")
    print("| launches | ranges | runs | wall time | to the first | user | system | peak memory | written |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    first = None
    for launches, runs in sizes:
        capture = Path(output_of(programs / "made_up_run", scratch / str(launches), launches))
        folds = [fold(programs / "dlkprof", capture, scratch / "out", export) for _ in range(runs)]
        wall = statistics.median(one["wall"] for one in folds)
        first = first or wall
        print(
            f"| {launches:,} | {5 * launches:,} | {runs} | {seconds(folds, 'wall')} | {wall / first:.1f} | {seconds(folds, 'user')} | "
            f"{seconds(folds, 'system')} | {max(one['peak'] for one in folds) / 1e6:,.0f} MB | {folds[0]['written'] / 1e6:,.0f} MB |",
            flush=True,
        )
        shutil.rmtree(capture.parent)
    return 0


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "unknown processor")


def output_of(program, folder, launches):
    folder.mkdir(exist_ok=True)
    return subprocess.run([program, folder, str(launches)], check=True, capture_output=True, text=True).stdout.strip()


def fold(dlkprof, capture, folder, export):
    """As at the end of a program: cp stands for it, and leaves the capture where dlkprof looks for it. Or exports it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    words = [
        dlkprof,
        "--base_name",
        "run",
        "--output_path",
        folder,
        "--reports=all",
        "--formats=csv,json",
        "cp",
        capture,
        folder / "run.dlkcap",
    ]
    if export is not None:
        words = [dlkprof, "export", capture, "--format", export, "-o", folder / "exported"]
    begin = time.monotonic()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - begin
    if status != 0:
        sys.exit(f"fold_scaling.py: dlkprof failed: {said.strip()}")
    written = sum(file.stat().st_size for file in folder.iterdir() if file.suffix != ".dlkcap")
    shutil.rmtree(folder)
    return {"wall": wall, "user": usage.ru_utime, "system": usage.ru_stime, "peak": usage.ru_maxrss * 1024, "written": written}


def seconds(folds, what):
    values = sorted(one[what] for one in folds)
    return f"{statistics.median(values):.1f} s ({values[0]:.1f} to {values[-1]:.1f})" if len(values) > 1 else f"{values[0]:.1f} s"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
