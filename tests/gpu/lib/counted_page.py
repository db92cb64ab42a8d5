"""Counts of instructions: those of dlkprof's report `source` against ncu's source page."""

import csv

from harness import check
from source_page import ADDRESS, TEXT, as_count, offset_of

EXECUTED = "Instructions Executed"
# Named alike in both, equal to the last digit.
COUNTS = (EXECUTED, "Divergent Branches", "L1 Wavefronts Shared", "L1 Wavefronts Shared Excessive")
# ncu shows averages without their fraction, and sums beside them.
AVERAGES = {
    "Avg. Threads Executed": "Thread Instructions Executed",
    "Avg. Predicated-On Threads Executed": "Predicated-On Thread Instructions Executed",
}
# Of asynchronous copies either tool counts some thousandths less than all, and not the same ones (Triton's product, H200).
SECTORS = ("L2 Theoretical Sectors Global", "L2 Theoretical Sectors Global Excessive")
SECTORS_APART = 0.01


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
    """`rows`: of one kernel, that was counted in one launch."""
    theirs = parse(page)
    ours = {int(row["SASS Offset"]): row for row in rows}
    executed = {offset for offset, cells in theirs.items() if as_count(cells[EXECUTED]) > 0}
    check(executed == set(ours), f"executed by one alone: {sorted(map(hex, executed ^ set(ours)))[:5]}")
    other = [
        f"{offset:#x} {column}: {ours[offset][column]}, ncu {wanted}"
        for offset in sorted(executed)
        for column, wanted, apart in wanted_of(theirs[offset])
        if abs(float(ours[offset][column]) - wanted) > apart
    ]
    check(not other, f"{len(other)} counts differ: {'; '.join(other[:3])}")
    return f"{len(ours)} instructions executed, all counts of them are ncu's"


def wanted_of(cells):
    """(Column, ncu's figure, how far ours may be from it) of an instruction that was executed."""
    for column in COUNTS:
        if column in cells:
            yield column, as_count(cells[column]), 0
    for column, of_all in AVERAGES.items():
        if of_all in cells:
            yield column, as_count(cells[of_all]) / as_count(cells[EXECUTED]), 1e-6
    for column in SECTORS:
        if column in cells:
            yield column, as_count(cells[column]), SECTORS_APART * as_count(cells[SECTORS[0]])
