#!/usr/bin/env python3
"""How long dlkprof merge and report take for jobs of simulated ranks of 300,000 launches, already folded, and how that grows.

    bench/job_scaling.py [--plot FILE.svg] BUILD_DIR SCRATCH_DIR [RANKS RUNS]...

BUILD_DIR: of the preset ci, whose bin/ holds dlkprof and job_bench. SCRATCH_DIR: a folder on a disk with room for 700 kB a rank. RANKS
RUNS: sizes, and how often each is merged. Prints a table in Markdown; times are medians, with the least and the most; the peak of memory
is the greatest. --plot draws the processor time of merging over the number of ranks, which others on the machine disturb least.
"""

import datetime
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

from timed_command import run

DEFAULT_SIZES = [(64, 3), (256, 3), (1024, 3), (4096, 2), (10_000, 1)]
CAPTURE = Path(__file__).resolve().parent.parent / "samples/captures/cifar10_b512_iteration.dlkcap"
WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 560, 280, 60, 40, 14


def main(arguments):
    plot = None
    if arguments[:1] == ["--plot"] and len(arguments) > 1:
        plot, arguments = Path(arguments[1]), arguments[2:]
    if len(arguments) < 2 or len(arguments) % 2 != 0 or not all(word.isdigit() for word in arguments[2:]):
        print(__doc__, file=sys.stderr)
        return 2
    programs, scratch = Path(arguments[0]).resolve() / "bin", Path(arguments[1]).resolve()
    numbers = [int(word) for word in arguments[2:]]
    scratch.mkdir(parents=True, exist_ok=True)
    print(
        f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n"
    )
    print("| ranks | read | runs | merged in | processor time | per rank | peak memory | written | reported in | peak memory |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    points = []
    for ranks, runs in list(zip(numbers[::2], numbers[1::2])) or DEFAULT_SIZES:
        points.append((ranks, measure(programs, scratch, ranks, runs)))
    if plot is not None:
        plot.write_text(picture(points), encoding="utf-8")
    return 0


def measure(programs, scratch, ranks, runs):
    """Prints the row of a size, and gives the median of the processor time of merging, in seconds."""
    folder, job = scratch / f"ranks{ranks}", scratch / f"job{ranks}.sqlite"
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([programs / "job_bench", "write", CAPTURE, folder, str(ranks)], check=True)
    read = sum(file.stat().st_size for file in folder.iterdir())
    merges = [run(programs / "dlkprof", "merge", "--threads", "2", "--force", "-o", job, folder) for _ in range(runs)]
    reports = [run(programs / "dlkprof", "report", job) for _ in range(runs)]
    written = job.stat().st_size
    shutil.rmtree(folder)
    job.unlink()
    middle = statistics.median(processor for _, processor, _ in merges)
    print(
        f"| {ranks:,} | {read / 1e6:,.0f} MB | {runs} | {seconds(merges)} | {middle:.1f} s | {1000 * middle / ranks:.1f} ms | {megabytes(merges)} | "
        f"{written / 1e6:,.0f} MB | {seconds(reports)} | {megabytes(reports)} |",
        flush=True,
    )
    return middle


def seconds(runs):
    values = sorted(wall for wall, _, _ in runs)
    return f"{statistics.median(values):.1f} s ({values[0]:.1f} to {values[-1]:.1f})" if len(values) > 1 else f"{values[0]:.1f} s"


def megabytes(runs):
    return f"{max(peak for _, _, peak in runs) / 1e6:,.0f} MB"


def picture(points):
    """Points, and the line through the origin and the first of them that they lie on where cost is linear."""
    most_ranks, most = points[-1][0], 1.1 * max(wall for _, wall in points)
    steepest = points[0][1] / points[0][0]
    most = max(most, steepest * most_ranks)

    def x(ranks):
        return LEFT + (WIDTH - LEFT - 20) * ranks / most_ranks

    def y(wall):
        return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * wall / most

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12" role="img">',
        f"<title>Processor time of dlkprof merge over ranks</title><rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>",
        f'<path d="M{LEFT} {TOP}V{y(0):.1f}H{WIDTH - 20}" fill="none" stroke="#555"/>',
        f'<path d="M{x(0):.1f} {y(0):.1f}L{x(most_ranks):.1f} {y(steepest * most_ranks):.1f}" stroke="#999" stroke-dasharray="4 4"/>',
        f'<text x="{LEFT + 8}" y="{TOP + 10}" fill="#555">dashed: the time of {points[0][0]:,} ranks, grown in proportion</text>',
    ]
    for tick in range(5):
        wall = most * tick / 4
        parts.append(f'<text x="{LEFT - 6}" y="{y(wall) + 4:.1f}" text-anchor="end">{wall:.0f} s</text>')
        ranks = most_ranks * tick / 4
        parts.append(f'<text x="{x(ranks):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{ranks:,.0f}</text>')
    parts.append(f'<text x="{(LEFT + WIDTH) / 2}" y="{HEIGHT - 4}" text-anchor="middle">ranks</text>')
    line = "L".join(f"{x(ranks):.1f} {y(wall):.1f}" for ranks, wall in points)
    parts.append(f'<path d="M{line}" fill="none" stroke="#0b5cad" stroke-width="2"/>')
    for ranks, wall in points:
        parts.append(
            f'<circle cx="{x(ranks):.1f}" cy="{y(wall):.1f}" r="4" fill="#0b5cad"><title>{ranks:,} ranks: {wall:.1f} s</title></circle>'
        )
    return "\n".join(parts + ["</svg>"]) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
