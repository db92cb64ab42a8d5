"""Counts of instructions: those of dlkprof's report `source` against ncu's source page."""

import csv

from harness import check
from source_page import ADDRESS, TEXT, as_count, offset_of

# Named alike in both.
COLUMNS = (
    "Instructions Executed", "Avg. Threads Executed", "Avg. Predicated-On Threads Executed", "Divergent Branches",
    "L2 Theoretical Sectors Global", "L2 Theoretical Sectors Global Excessive", "L1 Wavefronts Shared", "L1 Wavefronts Shared Excessive",
)  # fmt: skip


def parse(text):
    """Of the one launch on the page: cells by the instruction's offset."""
    found, headings, first = {}, None, None
    for row in csv.reader(text.splitlines()):
        if ADDRESS in row and TEXT in row:
            headings = row
        elif headings and len(row) == len(headings):
            cells = dict(zip(headings, row))
            offset, first = offset_of(cells, first, found)
            found[offset] = cells
    check(found, f"ncu's source page has no table with {ADDRESS!r}: {text[:200]!r}")
    return found


def compare(rows, page):
    """`rows`: of one kernel, that was counted in one launch. Averages are shown as whole numbers by ncu."""
    theirs = parse(page)
    ours = {int(row["SASS Offset"]): row for row in rows}
    executed = {offset for offset, cells in theirs.items() if as_count(cells[COLUMNS[0]]) > 0}
    check(executed == set(ours), f"executed by one alone: {sorted(map(hex, executed ^ set(ours)))[:5]}")
    other = [f"{offset:#x} {column}: {ours[offset][column]}, ncu {cells[column]}"
             for offset, cells in theirs.items() if offset in ours
             for column in COLUMNS if column in cells and abs(float(ours[offset][column]) - as_count(cells[column])) > 0.5]  # fmt: skip
    check(not other, f"{len(other)} counts differ: {'; '.join(other[:3])}")
    return f"{len(ours)} instructions executed, all counts of them are ncu's"
